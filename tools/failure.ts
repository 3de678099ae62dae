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
  ["EMFILE", ["BUSY", (path) => `Too many files are open to open ${path} too; try again later.`]],
  ["ENFILE", ["BUSY", (path) => `Too many files are open to open ${path} too; try again later.`]],
  ["EIO", ["IO_ERROR", (path) => `The device fails where ${path} lies; try again or read elsewhere.`]],
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

/**
 * The failure that an error is to the caller, in words of ours; undefined for what is none, a cancellation above all.
 * @param path the path that the caller knows
 */
export function failureOf(error: unknown, path: string): ToolFailure | undefined {
  if (error instanceof ToolFailure) return error;
  const errno = errnoOf(error);
  const reading = errno === undefined ? undefined : READINGS.get(errno);
  return reading && new ToolFailure(reading[0], reading[1](shown(path)), { errno });
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
    const failure = failureOf(error, path ?? ".");
    if (!failure) throw error;
    const named = path === undefined ? {} : { path };
    return toolError({ code: failure.code, message: failure.message, details: { ...named, ...failure.details } });
  }
}
