import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { spec as listFiles } from "../../tools/specs/list-files.js";
import { spec as readFileSpec } from "../../tools/specs/read-file.js";
import { spec as wordFrequency } from "../../tools/specs/word-frequency.js";
import { spec as writeFileSpec } from "../../tools/specs/write-file.js";
import { execute as executeList } from "../../tools/list-files.js";
import { execute as executeRead } from "../../tools/read-file.js";
import { execute as executeWords } from "../../tools/word-frequency.js";
import { execute as executeWrite } from "../../tools/write-file.js";
import { fakeCall, outputOf, temporaryFolder } from "./fake-context.js";

const specs = [listFiles, readFileSpec, writeFileSpec, wordFrequency];

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
      [wordFrequency, outputOf(await executeWords({ path: "a.txt" }, context))],
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
