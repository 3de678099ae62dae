/** What goes wrong with the files of checkpoints. */
import { ToolRuntimeError } from "../protocol/errors.js";

/** An error that says what cannot be saved or brought back. */
export function failure(message: string, details: Record<string, unknown> = {}, cause?: unknown): ToolRuntimeError {
  return new ToolRuntimeError(message, {
    code: "CHECKPOINT_FAILED",
    details,
    ...(cause !== undefined && { cause }),
  });
}

/** The system's code of an error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** What the system refused, as one of our errors; any other error as it is. */
export function told(error: unknown, what: string): unknown {
  if (errnoOf(error) === undefined) return error;
  return failure(`${what}: ${(error as Error).message}.`, { errno: errnoOf(error) }, error);
}

/** What there is, or nothing where nothing is. */
export async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
    throw error;
  }
}
