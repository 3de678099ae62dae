/** `builtin/list-files`: lists a folder and all below it, in order and in bounded memory. */
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { MAX_ENTRIES, SKIPPED_FOLDERS } from "./defaults.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { FolderWalk, type WalkEntry } from "./folder-walk.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/list-files.js";

type Entry = Output["files"][number];

/** Names that are looked at together; the file system has four threads unless the host says otherwise. */
const BATCH = 64;
const ENTRIES_PER_PROGRESS = 1_000;

/** Lists a folder of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path = "." } = input;
  return answering(path, async () => {
    const resource = await openResource(context, "repo");
    const folder = await locate(resource, path);
    const info = await lstat(folder.real);
    if (resource.isFile) {
      const entry: Entry = { path: basename(resource.given), size: info.size, type: "file" };
      return toolResult({ output: { files: [entry], truncated: false, unreadable: [] } });
    }
    if (!info.isDirectory()) {
      throw new ToolFailure("NOT_A_FOLDER", `${shown(path)} is a file; list the folder that holds it.`);
    }
    const list = new List(input, context);
    for await (const entry of list.walk.entries(resource, folder)) if (!(await list.take(entry))) break;
    return toolResult({ output: await list.finish() });
  });
}

/** Gathers entries with their sizes. */
class List {
  readonly walk: FolderWalk;
  readonly #files: Entry[] = [];
  readonly #maxEntries: number;
  #waiting: WalkEntry[] = [];
  #seen = 0;

  constructor(
    {
      glob = "**",
      maxEntries = MAX_ENTRIES,
      includeHidden = false,
      skipFolders = [...SKIPPED_FOLDERS],
      useIgnoreFiles = true,
    }: Input,
    context: ToolContext,
  ) {
    this.#maxEntries = maxEntries;
    const options = { include: [glob], exclude: [], includeHidden, skipFolders, useIgnoreFiles };
    this.walk = new FolderWalk(options, context, {
      room: () => maxEntries - this.#files.length + 1,
      saw: (folder) => {
        if (++this.#seen % ENTRIES_PER_PROGRESS === 0) context.progress(this.#seen, undefined, folder);
      },
    });
  }

  /** Takes the next entry. @returns whether more of them can matter */
  async take(entry: WalkEntry): Promise<boolean> {
    this.#waiting.push(entry);
    const enough = this.#files.length + this.#waiting.length > this.#maxEntries;
    if (enough || this.#waiting.length === BATCH) await this.#flush();
    return this.#files.length <= this.#maxEntries;
  }

  async finish(): Promise<Output> {
    await this.#flush();
    const truncated = this.#files.length > this.#maxEntries;
    return {
      files: truncated ? this.#files.slice(0, this.#maxEntries) : this.#files,
      truncated,
      unreadable: this.walk.unreadable,
    };
  }

  async #flush(): Promise<void> {
    const entries = this.#waiting;
    this.#waiting = [];
    const sizes = await Promise.all(entries.map(sizeOf));
    for (const [at, { path, type }] of entries.entries()) {
      const size = sizes[at];
      if (size === undefined) this.walk.miss(path);
      else this.#files.push({ path, size, type });
    }
  }
}

async function sizeOf({ real, type }: WalkEntry): Promise<number | undefined> {
  if (type !== "file") return 0;
  try {
    return (await lstat(real)).size;
  } catch {
    return undefined;
  }
}
