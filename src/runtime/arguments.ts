/** Checks what callers hand in; what types forbid can still arrive from plain JavaScript. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { ToolExecutionContext } from "./execution-context.js";

/** @throws ToolRuntimeError `INVALID_ARGUMENT` */
export function assertContext(context: unknown): asserts context is ToolExecutionContext {
  if (context instanceof ToolExecutionContext) return;
  invalid("The context must be a ToolExecutionContext; runtime.plan({ planId }) makes one.");
}

/**
 * Options may be left out; what is given must be an object.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function assertOptions(options: unknown, what: string): void {
  if (options !== undefined && !isObject(options)) invalid(`The options of ${what} must be an object.`);
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
