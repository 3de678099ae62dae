/** Opens the files that `paths.ts` has located. */
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { shown, ToolFailure } from "./failure.js";
import type { Located } from "./paths.js";

/**
 * Opens a located file without following a link in its last component.
 * @throws ToolFailure `NOT_A_FILE`, and the system's errors
 */
export async function openFile(located: Located, flags: number): Promise<{ handle: FileHandle; size: number }> {
  refuseFolderName(located);
  // Without O_NONBLOCK a named pipe would hold one of the process's few file system threads until
  // somebody writes to it. A flag that a platform lacks is undefined there, and counts as 0.
  const handle = await open(located.real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const info = await handle.stat();
    if (!info.isFile()) {
      const kind = info.isDirectory() ? "a folder; name a file in it" : "not a regular file; name one";
      throw new ToolFailure("NOT_A_FILE", `${shown(located.path)} is ${kind}.`);
    }
    return { handle, size: info.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Refuses a path with a slash at its end where a file is meant.
 * @throws ToolFailure `NOT_A_FILE`
 */
export function refuseFolderName({ path, meansFolder }: Located): void {
  if (!meansFolder) return;
  throw new ToolFailure("NOT_A_FILE", `${shown(`${path}/`)} means a folder; name a file, without a slash at its end.`);
}
