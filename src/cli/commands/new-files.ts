/** Files that come into being together, or not at all. */
import { chmod, lstat, mkdir, realpath, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Takes back what it made, unless told to `keep` it. */
export class NewFiles implements AsyncDisposable {
  /** What undoes each step. */
  #undo: (() => Promise<unknown>)[] = [];

  /** Makes a folder, with those above it that are missing. */
  async folder(path: string): Promise<void> {
    const missing: string[] = [];
    for (let at = path; !(await isThere(at)); at = dirname(at)) missing.unshift(at);
    // What stands where a folder is wanted is for mkdir to complain about.
    if (missing.length === 0 && !(await stat(path)).isDirectory()) missing.push(path);
    for (const each of missing) {
      await mkdir(each);
      this.#undo.push(() => rmdir(each));
    }
  }

  /** Makes a file where there is none. */
  async file(path: string, text: string): Promise<void> {
    // First: a file that could not be filled is there all the same.
    if (!(await isThere(path))) this.#undo.push(() => rm(path, { force: true }));
    await writeFile(path, text, { flag: "wx" });
  }

  /** Writes a file that may be there: whatever happens, it holds what it held or all of the text. */
  async replace(path: string, text: string): Promise<void> {
    const before = await stat(path).catch(() => undefined);
    const target = before ? await realpath(path) : path;
    const next = `${target}.new`;
    await this.file(next, text);
    if (before) await chmod(next, before.mode);
    await rename(next, target);
  }

  keep(): void {
    this.#undo = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.reverse()) await undo().catch(() => undefined);
  }
}

/** Whether there is something of that name, be it a link that leads nowhere. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
