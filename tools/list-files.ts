/** `builtin/list-files`: lists a folder and all below it, in order and in bounded memory. */
import type { Dirent } from "node:fs";
import { lstat, opendir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { MAX_ENTRIES, SKIPPED_FOLDERS } from "./defaults.js";
import { answering, isAnswer, shown, ToolFailure } from "./failure.js";
import { Glob, type GlobState } from "./glob.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/list-files.js";

type Entry = Output["files"][number];

/** Names that are looked at together; the file system has four threads unless the host says otherwise. */
const BATCH = 64;
const UNREADABLE_LISTED = 100;
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
    const walk = new Walk(input, context);
    await walk.list(folder.real, folder.path === "." ? "" : `${folder.path}/`);
    return toolResult({ output: walk.output });
  });
}

interface Found {
  readonly name: string;
  readonly type: Entry["type"];
  /** Whether the entry itself belongs into the list. */
  readonly listed: boolean;
  /** How far the glob has come after the name and a slash; absent where nothing below can match. */
  readonly below?: GlobState;
}

class Walk {
  readonly output: Output = { files: [], truncated: false, unreadable: [] };
  readonly #context: ToolContext;
  readonly #glob: Glob;
  readonly #maxEntries: number;
  readonly #includeHidden: boolean;
  readonly #skipped: ReadonlySet<string>;
  #seen = 0;

  constructor(
    { glob = "**", maxEntries = MAX_ENTRIES, includeHidden = false, skipFolders = [...SKIPPED_FOLDERS] }: Input,
    context: ToolContext,
  ) {
    this.#context = context;
    this.#glob = new Glob(glob);
    this.#maxEntries = maxEntries;
    this.#includeHidden = includeHidden;
    this.#skipped = new Set(skipFolders);
  }

  /**
   * Lists one folder and what lies below.
   * @param prefix the folder's path as listed, with a slash at its end
   */
  async list(folder: string, prefix: string, state: GlobState = this.#glob.start): Promise<void> {
    const found = await this.#read(folder, prefix, state);
    for (let from = 0; from < found.length; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      const sizes = await Promise.all(batch.map((each) => this.#size(folder, each)));
      for (const [at, { name, type, listed, below }] of batch.entries()) {
        const size = sizes[at];
        if (size === undefined) {
          this.#unreadable(prefix + name);
          continue;
        }
        if (listed) {
          if (this.output.files.length === this.#maxEntries) this.output.truncated = true;
          else this.output.files.push({ path: prefix + name, size, type });
        }
        if (below && !this.output.truncated) await this.#enter(join(folder, name), `${prefix}${name}/`, below);
        if (this.output.truncated) return;
      }
    }
  }

  async #enter(folder: string, prefix: string, state: GlobState): Promise<void> {
    try {
      // A folder that was exchanged for a link since it was read is not entered.
      if ((await realpath(folder)) !== folder) throw new ToolFailure("OUTSIDE_RESOURCE", "");
      await this.list(folder, prefix, state);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      this.#unreadable(prefix.slice(0, -1));
    }
  }

  /** The entries of one folder that matter, sorted. */
  async #read(folder: string, prefix: string, state: GlobState): Promise<Found[]> {
    let leaves: Found[] = [];
    const folders: Found[] = [];
    // Each leaf that is kept is listed, so of any number of them only the first few can matter.
    const room = this.#maxEntries - this.output.files.length + 1;
    for await (const entry of await opendir(folder, { bufferSize: BATCH })) {
      this.#context.cancellationToken.check();
      if (++this.#seen % ENTRIES_PER_PROGRESS === 0) {
        this.#context.progress(this.#seen, undefined, prefix || ".");
      }
      const found = this.#sift(entry, state);
      if (!found) continue;
      if (found.below) folders.push(found);
      else leaves.push(found);
      if (leaves.length >= 2 * room + BATCH) leaves = leaves.sort(byName).slice(0, room);
    }
    return leaves.concat(folders).sort(byName);
  }

  #sift(entry: Dirent, state: GlobState): Found | undefined {
    const { name } = entry;
    if (!this.#includeHidden && name.startsWith(".")) return undefined;
    const type = typeOf(entry);
    if (!type || (type === "directory" && this.#skipped.has(name))) return undefined;
    const after = this.#glob.advance(state, name);
    const listed = this.#glob.matches(after);
    const below = type === "directory" ? this.#glob.advance(after, "/") : [];
    if (below.length > 0) return { name, type, listed, below };
    return listed ? { name, type, listed } : undefined;
  }

  async #size(folder: string, { name, type }: Found): Promise<number | undefined> {
    if (type !== "file") return 0;
    try {
      return (await lstat(join(folder, name))).size;
    } catch {
      return undefined;
    }
  }

  #unreadable(path: string): void {
    if (this.output.unreadable.length < UNREADABLE_LISTED) this.output.unreadable.push(path);
  }
}

function typeOf(entry: Dirent): Entry["type"] | undefined {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : undefined;
}

function byName(one: Found, other: Found): number {
  return one.name < other.name ? -1 : 1;
}
