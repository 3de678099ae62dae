import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { spec as deleteFile } from "../../tools/specs/delete-file.js";
import { spec as diffText } from "../../tools/specs/diff-text.js";
import { spec as editFile } from "../../tools/specs/edit-file.js";
import { spec as hashFiles } from "../../tools/specs/hash-files.js";
import { spec as listFiles } from "../../tools/specs/list-files.js";
import { spec as makeFolder } from "../../tools/specs/make-folder.js";
import { spec as moveFile } from "../../tools/specs/move-file.js";
import { spec as queryJson } from "../../tools/specs/query-json.js";
import { spec as readFileSpec } from "../../tools/specs/read-file.js";
import { spec as searchFiles } from "../../tools/specs/search-files.js";
import { spec as wordFrequency } from "../../tools/specs/word-frequency.js";
import { spec as writeFileSpec } from "../../tools/specs/write-file.js";
import { execute as executeDelete } from "../../tools/delete-file.js";
import { execute as executeDiff } from "../../tools/diff-text.js";
import { execute as executeEdit } from "../../tools/edit-file.js";
import { execute as executeHash } from "../../tools/hash-files.js";
import { execute as executeList } from "../../tools/list-files.js";
import { execute as executeMake } from "../../tools/make-folder.js";
import { execute as executeMove } from "../../tools/move-file.js";
import { execute as executeQuery } from "../../tools/query-json.js";
import { execute as executeRead } from "../../tools/read-file.js";
import { execute as executeSearch } from "../../tools/search-files.js";
import { execute as executeWords } from "../../tools/word-frequency.js";
import { execute as executeWrite } from "../../tools/write-file.js";
import { fakeCall, outputOf, temporaryFolder } from "./fake-context.js";

const specs = [
  ...[deleteFile, diffText, editFile, hashFiles, listFiles, makeFolder, moveFile, queryJson],
  ...[readFileSpec, searchFiles, writeFileSpec, wordFrequency],
];

describe("tools/specs", () => {
  it("spec describes every field and refuses unknown ones", () => {
    const check = (schema: unknown, at: string): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { properties, items } = schema as { properties?: Record<string, unknown>; items?: unknown };
      if (properties) {
        expect(schema, at).to.have.property("additionalProperties", false);
        for (const [name, field] of Object.entries(properties)) {
          expect(field, `${at}.${name}`).to.have.property("description");
          check(field, `${at}.${name}`);
        }
      }
      check(items, `${at}[]`);
    };
    for (const { name, inputSchema, outputSchema } of specs) {
      check(inputSchema, `${name} input`);
      check(outputSchema, `${name} output`);
    }
  });

  it("spec is what the tool answers, by its schema", async () => {
    const { folder, remove } = await temporaryFolder();
    const { context } = fakeCall({ path: folder });
    const ajv = new Ajv2020({ strict: false });
    const outputs = [
      [writeFileSpec, outputOf(await executeWrite({ path: "a.txt", content: "one two" }, context))],
      [listFiles, outputOf(await executeList({}, context))],
      [readFileSpec, outputOf(await executeRead({ path: "a.txt", length: 4 }, context))],
      [readFileSpec, outputOf(await executeRead({ path: "a.txt", lineCount: 1 }, context))],
      [searchFiles, outputOf(await executeSearch({ pattern: "two", before: 1, maxMatches: 1 }, context))],
      [hashFiles, outputOf(await executeHash({ paths: ["a.txt", "none"] }, context))],
      [wordFrequency, outputOf(await executeWords({ path: "a.txt" }, context))],
      [editFile, outputOf(await executeEdit({ path: "a.txt", edits: [{ oldText: "one", newText: "1" }] }, context))],
      [diffText, outputOf(await executeDiff({ left: { path: "a.txt" }, right: { text: "x" } }, context))],
      [queryJson, outputOf(await executeQuery({ value: [1, 2, 3], expression: "$", maxResults: 1 }, context))],
      [makeFolder, outputOf(await executeMake({ path: "x/y", createFolders: true }, context))],
      [moveFile, outputOf(await executeMove({ from: "a.txt", to: "x/y/a.txt" }, context))],
      [deleteFile, outputOf(await executeDelete({ path: "x", recursive: true }, context))],
    ] as const;
    for (const [{ name, outputSchema }, output] of outputs) {
      expect(ajv.validate(outputSchema, output), `${name}: ${ajv.errorsText()}`).to.equal(true);
    }
    await remove();
  });

  it("spec is imported by a tool as a type only, so that a cell loads no schema library", async () => {
    for (const { name } of specs) {
      const file = new URL(`../../tools/${name.replace("builtin/", "")}.js`, import.meta.url);
      expect(await readFile(file, "utf8")).to.not.match(/import[^;]*(specs|typebox)/);
    }
  });
});
