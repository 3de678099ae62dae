/** Files that are there whole or not at all, also where the process or the host dies. */
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "./failure.js";

/** A name that nobody else uses. */
export function uniqueName(): string {
  return randomBytes(12).toString("hex");
}

/**
 * Writes a file that appears whole.
 * @param drafts a folder of the same file system
 */
export async function writeWhole(path: string, drafts: string, text: string): Promise<void> {
  const draft = join(drafts, uniqueName());
  try {
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Makes sure that the names in a folder outlive the host. Where folders cannot be synced, the system sees to it. */
export async function syncFolder(path: string | Buffer): Promise<void> {
  try {
    await using folder = await open(path, "r");
    await folder.sync();
  } catch (error) {
    if (!["EACCES", "EISDIR", "EINVAL", "EPERM", "ENOTSUP"].includes(errnoOf(error) ?? "")) throw error;
  }
}
