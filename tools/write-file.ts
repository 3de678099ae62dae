/** `builtin/write-file`: writes a whole file, so that nobody ever sees half of it. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, chmod, link, lstat, mkdir, open, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toolResult, type CancellationView, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { answering, errnoOf, shown, ToolFailure } from "./failure.js";
import { openFile, refuseFolderName } from "./open-file.js";
import { locate, openResource, relativePath, type Located, type OpenResource } from "./paths.js";
import type { Input, Output } from "./specs/write-file.js";

/** Bytes written between two looks at the cancellation token. */
const STEP_BYTES = 8 * 1024 * 1024;
const NEW_FILE_MODE = 0o666;
const PERMISSION_BITS = 0o777;
/** File systems without hard links answer with one of these. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Writes a file of the resource in slot `repo`.
 *
 * In a folder the new content is written beside the old file and takes its place at once; the
 * permission bits stay, owner, hard links and extended attributes do not. A resource that is a
 * single file has no folder of its own to write in, so there the file itself is overwritten, and a
 * call that is killed meanwhile can leave a part of it.
 */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, content, encoding = "utf8", createFolders = false, overwrite = true } = input;
  return answering(path, async () => {
    const resource = await openResource(context, "repo");
    const { access: granted, resourceId } = resource.bound;
    if (granted !== "read_write") {
      throw new ToolFailure("READ_ONLY", 'The resource is bound read-only; bind it with access "read_write" to write.');
    }
    const bytes = bytesOf(content, encoding);
    const located = await locate(resource, path);
    refuseFolderName(located);
    const mode = located.exists ? await modeOfExisting(located, overwrite) : undefined;
    context.cancellationToken.check();
    if (resource.isFile) {
      await overwriteInPlace(located, bytes);
    } else {
      await readyFolder(resource, located, createFolders, context);
      await replace(located.real, bytes, { mode, exclusive: !overwrite }, context.cancellationToken);
    }
    return toolResult({
      output: { path: located.path, bytes: bytes.length, created: mode === undefined },
      changes: [{ operation: mode === undefined ? "create" : "modify", resourceId, path: located.realPath }],
    });
  });
}

/** The bytes that a content stands for, exactly: one that would be changed on its way to the disk is refused. */
function bytesOf(content: string, encoding: "utf8" | "base64"): Buffer {
  if (encoding === "utf8") {
    if (/\p{Cs}/u.test(content)) {
      throw new ToolFailure(
        "INVALID_CONTENT",
        "The content holds half a surrogate pair, which UTF-8 cannot; remove it.",
      );
    }
    return Buffer.from(content, "utf8");
  }
  const bytes = Buffer.from(content, "base64");
  if (bytes.toString("base64") !== content) {
    throw new ToolFailure(
      "INVALID_CONTENT",
      "The content is not base64; use A–Z a–z 0–9 + / and = padding, no blanks.",
    );
  }
  return bytes;
}

/** The permission bits of the file that is to be replaced. */
async function modeOfExisting({ real, path }: Located, overwrite: boolean): Promise<number> {
  const info = await lstat(real);
  if (!info.isFile()) {
    throw new ToolFailure("NOT_A_FILE", `${shown(path)} is not a regular file and cannot be replaced; name one.`);
  }
  if (!overwrite) {
    throw new ToolFailure("ALREADY_EXISTS", `${shown(path)} exists; set overwrite to true or choose another path.`);
  }
  // A rename asks for no permission on what it replaces, so a file that is closed to writing is asked about here.
  await access(real, constants.W_OK);
  return info.mode & PERMISSION_BITS;
}

/** Makes sure that the file's folder is there and is still the one that was resolved. */
async function readyFolder(
  resource: OpenResource,
  { real, path }: Located,
  createFolders: boolean,
  context: ToolContext,
): Promise<void> {
  const folder = dirname(real);
  if (createFolders) {
    const first = await mkdir(folder, { recursive: true });
    const made: string[] = [];
    for (let each = folder; first !== undefined && each.length >= first.length; each = dirname(each))
      made.unshift(each);
    // Recorded here, not with the answer: they are there even if the file cannot be written.
    for (const each of made) {
      const { resourceId } = resource.bound;
      context.recordChange({ operation: "create", resourceId, path: relativePath(resource.root, each) });
    }
  }
  const now = await realpath(folder).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new ToolFailure("NOT_FOUND", `The folder of ${shown(path)} does not exist; set createFolders to true.`);
  });
  if (now !== folder) {
    throw new ToolFailure("OUTSIDE_RESOURCE", `The folder of ${shown(path)} became a link just now; try again.`);
  }
}

/** Writes beside the target, then lets the new file take the target's name. */
async function replace(
  target: string,
  bytes: Buffer,
  { mode, exclusive }: { mode: number | undefined; exclusive: boolean },
  token: CancellationView,
): Promise<void> {
  const temporary = join(dirname(target), `.toolcell-${randomBytes(8).toString("hex")}.tmp`);
  // O_DSYNC has the data on the disk before the name changes. A call of fsync would do the same, but
  // Node 26 refuses it in a cell.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_DSYNC;
  const handle = await open(temporary, flags, mode ?? NEW_FILE_MODE);
  try {
    try {
      await writeAll(handle, bytes, token);
      if (mode !== undefined) await setMode(handle, temporary, mode);
    } finally {
      await handle.close();
    }
    token.check();
    if (exclusive) await takeFreeName(temporary, target);
    else await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Gives a file a name that nobody holds; a rename alone would take it from whoever came first. */
async function takeFreeName(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error) ?? "")) throw error;
    await rename(temporary, target);
    return;
  }
  await unlink(temporary);
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

/** Once begun this is not cancelled, since the old content is lost by then. */
async function overwriteInPlace(located: Located, bytes: Buffer): Promise<void> {
  const { handle } = await openFile(located, constants.O_WRONLY | constants.O_DSYNC);
  try {
    await writeAll(handle, bytes);
    // Shortened last: until then a reader finds no empty file.
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, token?: CancellationView): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    token?.check();
    const { bytesWritten } = await handle.write(bytes, at, Math.min(STEP_BYTES, bytes.length - at), at);
    at += bytesWritten;
  }
}
