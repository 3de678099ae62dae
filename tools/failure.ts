/** Failures that are answers: thrown from the depth of a tool, turned into `toolError` at its door. */
import { toolError, type ToolAnswer } from "../src/tool.js";

/** A failure that the caller can do something about. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

type Reading = readonly [code: string, message: (path: string) => string];

/**
 * What the file system's own codes mean to a caller. Node's messages carry the host's absolute
 * paths, so none of them is passed on.
 */
const READINGS: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ["ENOENT", ["NOT_FOUND", (path) => `${path} does not exist; list the folder to see what does.`]],
  ["ENOTDIR", ["NOT_A_FOLDER", (path) => `A part of ${path} is a file, so nothing can lie below it; check the path.`]],
  ["EISDIR", ["NOT_A_FILE", (path) => `${path} is a folder; name a file in it.`]],
  ["ENXIO", ["NOT_A_FILE", (path) => `${path} is a socket or a device; name a regular file.`]],
  ["EACCES", ["ACCESS_DENIED", (path) => `The file system refuses access to ${path}; ask for its permissions.`]],
  ["EPERM", ["ACCESS_DENIED", (path) => `The file system refuses this operation on ${path}; ask for its permissions.`]],
  [
    "ERR_ACCESS_DENIED",
    ["ACCESS_DENIED", (path) => `The grant of this call does not cover ${path}; bind its resource.`],
  ],
  ["EROFS", ["READ_ONLY", (path) => `${path} is on a read-only file system; write elsewhere.`]],
  ["EEXIST", ["ALREADY_EXISTS", (path) => `${path} exists already; choose another path.`]],
  ["ENOTEMPTY", ["NOT_A_FILE", (path) => `${path} is a folder; name a file in it.`]],
  [
    "ELOOP",
    ["SYMLINK_LOOP", (path) => `${path} is a symlink that leads nowhere or was put there just now; name its target.`],
  ],
  ["ENAMETOOLONG", ["INVALID_PATH", (path) => `${path} is longer than the file system allows; shorten it.`]],
  ["ENOSPC", ["NO_SPACE", (path) => `There is no space left for ${path}; free some and try again.`]],
  ["EDQUOT", ["NO_SPACE", (path) => `The disk quota leaves no space for ${path}; free some and try again.`]],
  ["EBUSY", ["BUSY", (path) => `${path} is in use; try again later.`]],
]);

/** The code of a system error, or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether an error is a failure that the caller can do something about. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ToolFailure || READINGS.has(errnoOf(error) ?? "");
}

/** A path as messages show it: quoted, with control characters escaped and cut to a readable length. */
export function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

/**
 * Runs the work of a tool and turns a failure that is an answer into one. Everything else, a
 * cancellation above all, is thrown on.
 * @param path the path that the caller gave, if any
 */
export async function answering<Output>(
  path: string | undefined,
  work: () => Promise<ToolAnswer<Output>>,
): Promise<ToolAnswer<Output>> {
  try {
    return await work();
  } catch (error) {
    const named = path === undefined ? {} : { path };
    if (error instanceof ToolFailure) {
      return toolError({ code: error.code, message: error.message, details: { ...named, ...error.details } });
    }
    const errno = errnoOf(error);
    const reading = errno === undefined ? undefined : READINGS.get(errno);
    if (reading === undefined) throw error;
    return toolError({ code: reading[0], message: reading[1](shown(path ?? ".")), details: { ...named, errno } });
  }
}
