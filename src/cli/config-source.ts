/** A config file as it was written: found, read or imported, and where in it each value stands. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PlanSource } from "../plan/index.js";
import { UsageError } from "./usage-error.js";

const NAMES = ["json", "yaml", "yml", "js", "mjs"].map((ending) => `toolcell.config.${ending}`);

/** Milliseconds that a config which is a program may take. */
const IMPORT_MS = 10_000;

/** What a config file says. */
export interface ConfigSource {
  readonly value: unknown;
  /** The error for what is wrong with the value that keys lead to. */
  fault(keys: readonly string[], message: string): UsageError;
}

/** The nearest config file upwards. */
export async function findConfig(folder: string): Promise<string | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    for (const name of NAMES) if (await isFile(join(at, name))) return join(at, name);
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Reads a config file.
 * @param importMs milliseconds that one which is a program may take
 * @throws UsageError
 */
export async function readConfig(file: string, importMs = IMPORT_MS): Promise<ConfigSource> {
  if (/\.m?js$/.test(file)) {
    const value = await importConfig(file, importMs);
    return { value, fault: (_keys, message) => new UsageError(`${file} the config ${message}`) };
  }
  const source = new PlanSource(await textOf(file));
  const fault = (line: number, column: number, message: string): UsageError =>
    new UsageError(`${file}:${line}:${column} ${message}`);
  const [problem] = source.problems;
  if (problem) throw fault(problem.line, problem.column, problem.message);
  return {
    value: source.value,
    fault(keys, message) {
      const { line, column } = source.positionOf(keys);
      return fault(line, column, `the config ${message}`);
    },
  };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`The config ${file} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }
}

async function importConfig(file: string, importMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, importMs, new Error(`it has not come to its end within ${importMs / 1_000} s`));
  });
  try {
    const { default: value } = (await Promise.race([import(pathToFileURL(file).href), late])) as { default?: unknown };
    return copied(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The config ${file} cannot be loaded: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

/** A copy whose fields are values: a getter is asked once, here, where what it throws is known to be the config's. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each)]));
}
