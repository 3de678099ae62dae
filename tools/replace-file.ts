/** Puts content in the place of a file, so that nobody ever sees half of it. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, chmod, link, lstat, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CancellationView } from "../src/tool.js";
import { errnoOf, shown, ToolFailure } from "./failure.js";
import { openFile } from "./open-file.js";
import type { Located } from "./paths.js";

/** Bytes written between two looks at the cancellation token. */
const STEP_BYTES = 8 * 1024 * 1024;
const NEW_FILE_MODE = 0o666;
const PERMISSION_BITS = 0o777;
/** File systems without hard links answer with one of these. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** How a file is replaced. */
export interface Replacement {
  /** Permission bits; those of a new file where it is left out. */
  readonly mode?: number | undefined;
  /** Fails with `EEXIST` where the name is taken. */
  readonly exclusive?: boolean;
  /** Runs when all is written, before the new file takes the name; may throw. */
  readonly ready?: () => Promise<void>;
}

/**
 * The permission bits of a file that is to be replaced.
 * @throws ToolFailure `NOT_A_FILE`, and the system's errors where the file is closed to writing
 */
export async function modeOfReplaceable({ real, path }: Pick<Located, "real" | "path">): Promise<number> {
  const info = await lstat(real);
  if (!info.isFile()) {
    throw new ToolFailure("NOT_A_FILE", `${shown(path)} is not a regular file and cannot be replaced; name one.`);
  }
  // A rename asks for no permission on what it replaces, so a file that is closed to writing is asked about here.
  await access(real, constants.W_OK);
  return info.mode & PERMISSION_BITS;
}

/**
 * Writes beside the target, then lets the new file take the target's name.
 * @param content bytes, or what writes them
 */
export async function replaceFile(
  target: string,
  content: Buffer | ((handle: FileHandle) => Promise<void>),
  { mode, exclusive = false, ready }: Replacement,
  token: CancellationView,
): Promise<void> {
  const temporary = join(dirname(target), `.toolcell-${randomBytes(8).toString("hex")}.tmp`);
  // O_DSYNC has the data on the disk before the name changes. A call of fsync would do the same, but
  // Node 26 refuses it in a cell.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_DSYNC;
  const handle = await open(temporary, flags, mode ?? NEW_FILE_MODE);
  try {
    try {
      if (typeof content === "function") await content(handle);
      else await writeAll(handle, content, token);
      if (mode !== undefined) await setMode(handle, temporary, mode);
    } finally {
      await handle.close();
    }
    token.check();
    await ready?.();
    if (exclusive) await takeFreeName(temporary, target);
    else await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/**
 * Gives a file a name that nobody holds; a rename alone would take it from whoever came first.
 * @throws the system's `EEXIST`
 */
export async function takeFreeName(file: string, name: string): Promise<void> {
  try {
    await link(file, name);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error) ?? "")) throw error;
    await rename(file, name);
    return;
  }
  await unlink(file);
}

/** Once begun this is not cancelled, since the old content is lost by then. */
export async function overwriteInPlace(located: Located, bytes: Buffer): Promise<void> {
  const { handle } = await openFile(located, constants.O_WRONLY | constants.O_DSYNC);
  try {
    await writeAll(handle, bytes);
    // Shortened last: until then a reader finds no empty file.
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

/** Sets what the process's umask took away. */
async function setMode(handle: FileHandle, path: string, mode: number): Promise<void> {
  if (((await handle.stat()).mode & PERMISSION_BITS) === mode) return;
  // A cell may not use fchmod, only chmod by path.
  await handle.chmod(mode).catch((error: unknown) => {
    if (errnoOf(error) !== "ERR_ACCESS_DENIED") throw error;
    return chmod(path, mode);
  });
}

/** Writes from the start of the file. */
async function writeAll(handle: FileHandle, bytes: Buffer, token?: CancellationView): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    token?.check();
    const { bytesWritten } = await handle.write(bytes, at, Math.min(STEP_BYTES, bytes.length - at), at);
    at += bytesWritten;
  }
}
