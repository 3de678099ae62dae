/** `builtin/delete-file`: deletes a file, a link or a folder. */
import { constants } from "node:fs";
import { access, readdir, rmdir, unlink } from "node:fs/promises";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { kindOf, locateEntry, type Entry } from "./entry.js";
import { answering, errnoOf, failureOf, shown, ToolFailure } from "./failure.js";
import { relativePath, type OpenResource } from "./paths.js";
import { isReal, joinRaw, type RawPath } from "./raw-path.js";
import type { Input, Output } from "./specs/delete-file.js";
import { checkFolder, openWritable } from "./writable.js";

const ENTRIES_PER_PROGRESS = 100;

/** Deletes what the resource in slot `repo` holds. A link is deleted itself, what it leads to stays. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, recursive = false } = input;
  return answering(path, async () => {
    const resource = await openWritable(context, "repo");
    const entry = await locateEntry(resource, path);
    const { info } = entry;
    if (!info) throw new ToolFailure("NOT_FOUND", `${shown(path)} does not exist; list the folder to see what does.`);
    // The folder is asked for permission, not the file, so a file that is closed to writing is asked about here.
    if (info.isFile()) await access(entry.real, constants.W_OK);
    context.cancellationToken.check();
    await checkFolder(entry.folder, path);
    const deleted = await new Deletion(resource, context).delete(entry, info.isDirectory(), recursive);
    return toolResult({ output: { path: entry.path, type: kindOf(info), deleted } });
  });
}

class Deletion {
  readonly #resource: OpenResource;
  readonly #context: ToolContext;
  #deleted = 0;

  constructor(resource: OpenResource, context: ToolContext) {
    this.#resource = resource;
    this.#context = context;
  }

  /** @returns how many entries are gone */
  async delete({ real }: Entry, isFolder: boolean, recursive: boolean): Promise<number> {
    if (!isFolder) await this.#remove(real, unlink);
    else if (recursive) await this.#tree(real);
    else await this.#emptyFolder(real, "set recursive to true to delete all in it");
    return this.#deleted;
  }

  /** @param advice what to do where it is not empty */
  async #emptyFolder(real: RawPath, advice: string): Promise<void> {
    try {
      await this.#remove(real, rmdir);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== "ENOTEMPTY" && errno !== "EEXIST") throw error;
      throw new ToolFailure("NOT_EMPTY", `${shown(this.#pathOf(real))} is not empty; ${advice}.`);
    }
  }

  /** Deletes all in a folder, then the folder. Links are deleted, never entered. */
  async #tree(folder: RawPath): Promise<void> {
    try {
      if (!(await isReal(folder))) {
        throw new ToolFailure("OUTSIDE_RESOURCE", `${shown(this.#pathOf(folder))} became a link just now; try again.`);
      }
      for (const entry of await readdir(folder, { withFileTypes: true, encoding: "buffer" })) {
        this.#context.cancellationToken.check();
        const real = joinRaw(folder, entry.name);
        if (entry.isDirectory()) await this.#tree(real);
        else await this.#remove(real, unlink);
      }
      await this.#emptyFolder(folder, "somebody put something there meanwhile, so try again");
    } catch (error) {
      throw this.#told(error, folder);
    }
  }

  async #remove(real: RawPath, how: (path: RawPath) => Promise<void>): Promise<void> {
    await how(real);
    const { resourceId } = this.#resource.bound;
    // Recorded one by one, not with the answer: they are gone even if the next one stays.
    this.#context.recordChange({ operation: "delete", resourceId, path: this.#pathOf(real) });
    if (++this.#deleted % ENTRIES_PER_PROGRESS === 0) this.#context.progress(this.#deleted);
  }

  /** A failure within a folder says where it happened and how much is gone already. */
  #told(error: unknown, folder: RawPath): unknown {
    const failure = failureOf(error, this.#pathOf(folder));
    if (!failure || "deleted" in failure.details) return failure ?? error;
    const message = `${failure.message} Entries deleted before that: ${this.#deleted}.`;
    return new ToolFailure(failure.code, message, { ...failure.details, deleted: this.#deleted });
  }

  #pathOf(real: RawPath): string {
    return relativePath(this.#resource.root, String(real));
  }
}
