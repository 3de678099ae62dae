/** The input of `toolcell call`: JSON, a file, stdin, or options named like its fields. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { ToolSpec } from "../index.js";
import { readFields } from "./input-fields.js";
import { parseJson } from "./json-text.js";
import type { CommandHost } from "./terminal.js";
import { UsageError } from "./usage-error.js";

const ADVICE = ` Text is written with its quotes, as '"text"'; fields go as --field value.`;

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
  return { ...base, ...readFields(spec, words.slice(flag)) };
}

async function wholeInput(word: string, { stdin, cwd }: Pick<CommandHost, "stdin" | "cwd">): Promise<unknown> {
  if (word === "-") return parseJson(await text(stdin), "stdin", ADVICE);
  if (!word.startsWith("@")) return parseJson(word, "the input", ADVICE);
  const file = word.slice(1);
  try {
    return parseJson(await readFile(resolve(cwd, file), "utf8"), file, ADVICE);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The input file ${file} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }
}
