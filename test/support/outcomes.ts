/** What came of something, as a value that a test can look at. */
import { ToolCancelledError, ToolRuntimeError, ToolSchemaValidationError } from "../../src/protocol/errors.js";

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${typeof value}`);
}

/** What a function throws. */
export function thrownBy(run: () => unknown): unknown {
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    return error;
  }
  throw new Error(`expected an exception, got ${typeof value}`);
}

/** Whether a value is one of the errors that toolcell throws. */
export function isToolcellError(value: unknown): boolean {
  return (
    value instanceof ToolRuntimeError ||
    value instanceof ToolCancelledError ||
    value instanceof ToolSchemaValidationError
  );
}

/** `code` of an error, whatever it is. */
export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}

/** A promise that is settled from outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** Makes a promise that is settled from outside. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** Lets everything run that is ready to run. */
export async function afterReadyWork(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
