/** Checks what callers hand in; what types forbid can still arrive from plain JavaScript. */
import { nearest } from "../nearest.js";
import { ToolRuntimeError } from "../protocol/errors.js";

/**
 * Options may be left out; what is given must be an object of known fields. A misspelt `readOnly`
 * that is passed over would give a plan that writes.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function assertOptions(options: unknown, what: string, known: readonly string[]): void {
  if (options === undefined) return;
  if (!isObject(options)) invalid(`The options of ${what} must be an object.`);
  const problem = unknownField(options, known);
  if (problem !== undefined) invalid(`Options of ${what}: ${problem}.`);
}

/** Names the first field that is not known, and the known one that was probably meant. */
export function unknownField(fields: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const meant = nearest(unknown, known);
  return `there is no option \`${unknown.slice(0, 100)}\`; ${meant ? `did you mean \`${meant}\`?` : `known are ${known.join(", ")}`}`;
}

/** @throws ToolRuntimeError `INVALID_ARGUMENT` */
export function assertListener(listener: unknown): void {
  if (typeof listener !== "function") invalid("A listener must be a function.");
}

/** @throws ToolRuntimeError `INVALID_ARGUMENT` */
export function assertMilliseconds(value: unknown, name: string): void {
  if (value === undefined) return;
  if (typeof value === "number" && value >= 0 && value < 2 ** 31) return;
  invalid(`\`${name}\` must be a number of milliseconds from 0 to 2,147,483,647.`);
}

/** Whether a value is an object with named fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(problem: string): never {
  throw new ToolRuntimeError(problem, { code: "INVALID_ARGUMENT" });
}
