/** The input of `toolcell call`: JSON, a file, stdin, or options named like its fields. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { ToolSpec } from "../index.js";
import { nearest } from "../nearest.js";
import { PlanSource } from "../plan/index.js";
import type { CommandHost } from "./terminal.js";
import { UsageError } from "./usage-error.js";

interface FieldSchema {
  readonly type?: unknown;
  readonly items?: FieldSchema;
}

/**
 * Reads an input.
 * @param words what follows the tool's name: JSON, `@file`, `-` for stdin, and `--field value`
 * @throws UsageError
 */
export async function readInput(
  spec: ToolSpec,
  words: readonly string[],
  host: Pick<CommandHost, "stdin" | "cwd">,
): Promise<unknown> {
  const flag = words.findIndex((word) => word.startsWith("--"));
  const [whole, ...extra] = flag < 0 ? words : words.slice(0, flag);
  if (extra.length > 0)
    throw new UsageError(`The input is one JSON value; "${extra[0]}" is one too many. Quote it as a whole.`);
  const base = whole === undefined ? {} : await wholeInput(whole, host);
  if (flag < 0) return base;
  if (typeof base !== "object" || base === null || Array.isArray(base)) {
    throw new UsageError("--field options go with an input that is an object.");
  }
  return { ...base, ...fieldsOf(spec, words.slice(flag)) };
}

async function wholeInput(word: string, { stdin, cwd }: Pick<CommandHost, "stdin" | "cwd">): Promise<unknown> {
  if (word === "-") return parse(await text(stdin), "stdin");
  if (!word.startsWith("@")) return parse(word, "the input");
  const file = word.slice(1);
  try {
    return parse(await readFile(resolve(cwd, file), "utf8"), file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The input file ${file} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }
}

function parse(json: string, where: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    // JSON.parse does not say where; the reader of plans does.
    const [problem] = new PlanSource(json).problems;
    const place = problem ? ` at line ${problem.line}, column ${problem.column}` : "";
    throw new UsageError(
      `${where} is no JSON${place}. Text is written with its quotes, as '"text"'; fields go as --field value.`,
    );
  }
}

function fieldsOf(spec: ToolSpec, words: readonly string[]): Record<string, unknown> {
  const { properties = {} } = (spec.inputSchema === true ? {} : spec.inputSchema) as {
    properties?: Record<string, FieldSchema>;
  };
  const names = Object.keys(properties);
  const fields: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!word.startsWith("--")) throw new UsageError(`"${word}" belongs to no option; write --field value.`);
    const [, written = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    // A schema that names no field leaves them to the tool.
    const name = names.length === 0 ? camelCase(written) : fieldName(written, names);
    if (name === undefined) {
      const meant = nearest(written, names);
      throw new UsageError(
        `The input of ${spec.name} has no field "${written}"; ${meant === undefined ? `it has ${names.join(", ") || "none"}` : `did you mean --${meant}?`}. ` +
          "Options of toolcell itself stand before the tool's name.",
      );
    }
    const schema = properties[name] ?? {};
    const next = words[at + 1];
    const isSwitch = schema.type === "boolean" && inline === undefined && (next === undefined || next.startsWith("--"));
    if (isSwitch) {
      fields[name] = true;
      continue;
    }
    if (inline === undefined) {
      if (next === undefined || next.startsWith("--")) {
        throw new UsageError(`--${written} wants a value; one that begins with -- goes as --${written}=VALUE.`);
      }
      at++;
    }
    const value = valueOf(inline ?? next ?? "", schema, written);
    const before = fields[name];
    // A list may be given by its members.
    if (schema.type === "array" && !Array.isArray(value))
      fields[name] = [...(Array.isArray(before) ? (before as unknown[]) : []), value];
    else fields[name] = value;
  }
  return fields;
}

/** `--skip-folders` is `skipFolders`. */
function fieldName(written: string, names: readonly string[]): string | undefined {
  if (names.includes(written)) return written;
  const camel = camelCase(written);
  return names.includes(camel) ? camel : undefined;
}

function camelCase(written: string): string {
  return written.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

function valueOf(word: string, schema: FieldSchema, name: string): unknown {
  switch (schema.type) {
    case "string":
      return word;
    case "integer":
    case "number": {
      const number = Number(word);
      if (word.trim() === "" || Number.isNaN(number)) throw new UsageError(`--${name} wants a number, not "${word}".`);
      return number;
    }
    case "boolean":
      if (word === "true" || word === "false") return word === "true";
      throw new UsageError(`--${name} is true or false, not "${word}".`);
    case "array":
      if (!word.startsWith("[")) return valueOf(word, schema.items ?? {}, name);
  }
  try {
    return JSON.parse(word) as unknown;
  } catch {
    return word;
  }
}
