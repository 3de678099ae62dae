/** Moves a file to a name that shows the same file already: a second hard link, or the very same entry seen twice. */
import { randomBytes } from "node:crypto";
import { lstat, rename, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ToolContext } from "../src/tool.js";
import { exists, type Entry } from "./entry.js";
import { errnoOf } from "./failure.js";
import { moveAcross } from "./move-across.js";
import { takeFreeName } from "./replace-file.js";

/** Whether two names show one file. On a file system that ignores case, or through a mount, they may be one name. */
export function isTwin({ info: one }: Entry, { info: other }: Entry): boolean {
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

/** Whether two paths lead to one name of one folder, as they do where the folder is mounted twice. */
export async function isSameEntry(source: Entry, target: Entry): Promise<boolean> {
  if (basename(source.real) !== basename(target.real)) return false;
  const [one, other] = await Promise.all([lstat(source.folder), lstat(target.folder)]);
  return one.ino === other.ino && one.dev === other.dev;
}

/** Whether two names of one file may be one entry. A file with several hard links is not moved aside to find out. */
export function canBeOneEntry(source: Entry, target: Entry): boolean {
  const folded = ({ real }: Entry): string => real.normalize("NFC").toLowerCase();
  return source.info?.nlink === 1 || folded(source) === folded(target);
}

/**
 * Gives the source a name of its own first: if the target is gone then too, both were one entry, and to delete either
 * would delete the file. A call that is killed in between leaves the file under that name, beside where it was.
 * @returns whether the target was an entry of its own
 * @throws the system's errors, `EEXIST` where the target is an entry of its own that may not be overwritten
 */
export async function moveTwin(
  source: Entry,
  target: Entry,
  overwrite: boolean,
  context: ToolContext,
): Promise<boolean> {
  const aside = join(source.folder, `.toolcell-${randomBytes(8).toString("hex")}.tmp`);
  await rename(source.real, aside);
  try {
    const other = await exists(target.real);
    if (other && (!overwrite || !source.info?.isFile())) throw Object.assign(new Error(), { code: "EEXIST" });
    await take({ ...source, real: aside }, other ? target : { ...target, info: undefined }, context);
    return other;
  } catch (error) {
    await (source.info?.isDirectory() ? rename : takeFreeName)(aside, source.real).catch(() => undefined);
    throw error;
  }
}

async function take(aside: Entry, target: Entry, context: ToolContext): Promise<void> {
  try {
    if (!target.info && aside.info?.isFile()) {
      await takeFreeName(aside.real, target.real);
      return;
    }
    await rename(aside.real, target.real);
  } catch (error) {
    if (errnoOf(error) !== "EXDEV") throw error;
    await moveAcross(aside, target, context);
    return;
  }
  // A rename of one hard link to another leaves both; a name that is held by a mount has refused it by now.
  if (await exists(aside.real)) await unlink(aside.real);
}
