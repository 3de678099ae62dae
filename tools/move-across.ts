/** Moves a file to another file system, where no rename reaches. */
import { constants } from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import type { ToolContext } from "../src/tool.js";
import type { Entry } from "./entry.js";
import { errnoOf, shown, ToolFailure } from "./failure.js";
import { replaceFile } from "./replace-file.js";

const STEP_BYTES = 1024 * 1024;
const PERMISSION_BITS = 0o777;

/**
 * Copies a file beside its new place, lets the copy take the name, then deletes the file. A call that is killed in between
 * can leave both, never neither.
 * @throws ToolFailure `OTHER_FILE_SYSTEM` for what is no file
 */
export async function moveAcross(source: Entry, target: Entry, context: ToolContext): Promise<void> {
  const { info } = source;
  if (!info?.isFile()) {
    throw new ToolFailure(
      "OTHER_FILE_SYSTEM",
      `${shown(target.path)} is on another file system, where only files can be moved to; move them one by one.`,
    );
  }
  const input = await open(source.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const replacement = { mode: info.mode & PERMISSION_BITS, exclusive: !target.info };
    const copy = (output: FileHandle): Promise<void> => pump(input, output, info.size, context);
    await replaceFile(target.real, copy, replacement, context.cancellationToken);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    throw new ToolFailure("ALREADY_EXISTS", `${shown(target.path)} came to exist meanwhile; choose another name.`);
  } finally {
    await input.close();
  }
  await unlink(source.real);
}

async function pump(input: FileHandle, output: FileHandle, size: number, context: ToolContext): Promise<void> {
  const buffer = Buffer.allocUnsafe(STEP_BYTES);
  for (let at = 0; ;) {
    context.cancellationToken.check();
    const { bytesRead } = await input.read(buffer, 0, STEP_BYTES, at);
    if (bytesRead === 0) return;
    for (let from = 0; from < bytesRead;) {
      from += (await output.write(buffer, from, bytesRead - from, at + from)).bytesWritten;
    }
    at += bytesRead;
    context.progress(at, Math.max(size, at));
  }
}
