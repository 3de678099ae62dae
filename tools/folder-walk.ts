/** Walks a folder and all below it, in order. One folder's names are held at a time for each level, never the tree. */
import type { Dirent } from "node:fs";
import { opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "../src/tool.js";
import { isAnswer, ToolFailure } from "./failure.js";
import { GlobSet, type GlobSetState } from "./glob-set.js";
import { IgnoreRules, isIgnoreFile } from "./ignore-rules.js";
import { relativePath, type Located, type OpenResource } from "./paths.js";
import { namesWith } from "./raw-path.js";

/** Names read at once. */
const BATCH = 64;
const UNREADABLE_LISTED = 100;
/** What stands in a name for bytes that are not UTF-8, and may also be a character of it. */
const REPLACED = "\ufffd";

/** What a walk gives. */
export interface WalkOptions {
  /** Globs on paths relative to the walked folder; what none matches is passed over. */
  readonly include: readonly string[];
  /** Globs on the same paths; what one matches is left out, a folder with all below it. */
  readonly exclude: readonly string[];
  readonly includeHidden: boolean;
  /** Names of folders that are not entered. */
  readonly skipFolders: readonly string[];
  readonly useIgnoreFiles: boolean;
}

/** How a walk and its user work together. */
export interface WalkHooks {
  /** How many more entries can matter to the user; asked anew for each folder. */
  room?(): number;
  /** Called with each name that is read, and the folder it lies in. */
  saw?(folder: string): void;
}

/** A file, folder or symlink that a walk has come to. */
export interface WalkEntry {
  /** Path relative to the resource's root, as the caller reached it. */
  readonly path: string;
  /** Absolute path without links. */
  readonly real: string;
  readonly type: "file" | "directory" | "symlink";
}

interface Found {
  readonly name: string;
  readonly type: WalkEntry["type"];
  /** Whether the entry itself is given. */
  readonly listed: boolean;
  /** How far the globs have come after the name and a slash; absent where nothing below can matter. */
  readonly below?: Globbed;
}

interface Globbed {
  readonly include: GlobSetState;
  readonly exclude: GlobSetState;
}

interface Frame {
  readonly real: string;
  /** The folder's path as given, with a slash at its end. */
  readonly prefix: string;
  readonly found: readonly Found[];
  readonly rules: IgnoreRules;
  /** The folder's real path from the resource's root, with a slash at its end. */
  readonly way: string;
  next: number;
}

/** A walk below one folder of a resource. Symlinks are given and not followed. */
export class FolderWalk {
  /** Paths that could not be looked at, the first 100. */
  readonly unreadable: string[] = [];
  readonly #context: ToolContext;
  readonly #options: WalkOptions;
  readonly #hooks: WalkHooks;
  readonly #include: GlobSet;
  readonly #exclude: GlobSet;
  readonly #skipped: ReadonlySet<string>;

  constructor(options: WalkOptions, context: ToolContext, hooks: WalkHooks = {}) {
    this.#context = context;
    this.#options = options;
    this.#hooks = hooks;
    this.#include = new GlobSet(options.include);
    this.#exclude = new GlobSet(options.exclude);
    this.#skipped = new Set(options.skipFolders);
  }

  /**
   * The entries below a folder, sorted name by name; a folder comes right before what it holds.
   * @throws ToolFailure and the system's errors where the folder itself cannot be read
   */
  async *entries(resource: OpenResource, folder: Located): AsyncGenerator<WalkEntry> {
    const way = slashed(relativePath(resource.root, folder.real));
    const rules = await this.#rulesAbove(resource.root, way);
    const state = { include: this.#include.start, exclude: this.#exclude.start };
    const stack = [await this.#open(folder.real, slashed(folder.path), way, state, rules)];
    for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
      const found = frame.found[frame.next++];
      if (!found) {
        stack.pop();
        continue;
      }
      const path = frame.prefix + found.name;
      const real = join(frame.real, found.name);
      if (found.listed) yield { path, real, type: found.type };
      if (!found.below) continue;
      const below = await this.#enter(real, `${path}/`, `${frame.way}${found.name}/`, found.below, frame.rules);
      if (below) stack.push(below);
    }
  }

  /** Notes that a path could not be looked at. */
  miss(path: string): void {
    if (this.unreadable.length < UNREADABLE_LISTED) this.unreadable.push(path);
  }

  /** The rules of the ignore files between the resource's root and a folder, the folder's own left out. */
  async #rulesAbove(root: string, way: string): Promise<IgnoreRules> {
    let rules = new IgnoreRules();
    if (!this.#options.useIgnoreFiles) return rules;
    let done = "";
    for (const name of way.split("/").slice(0, -1)) {
      rules = await this.#rulesIn(join(root, done), done, rules);
      done += `${name}/`;
      rules = rules.entered(done);
    }
    return rules;
  }

  #rulesIn(real: string, way: string, above: IgnoreRules): Promise<IgnoreRules> {
    return above.with(real, way, this.#context, (path) => this.miss(path));
  }

  async #enter(
    real: string,
    prefix: string,
    way: string,
    state: Globbed,
    rules: IgnoreRules,
  ): Promise<Frame | undefined> {
    try {
      // A folder that was exchanged for a link since it was read is not entered.
      if ((await realpath(real)) !== real) throw new ToolFailure("OUTSIDE_RESOURCE", "");
      return await this.#open(real, prefix, way, state, rules.entered(way));
    } catch (error) {
      if (!isAnswer(error)) throw error;
      this.miss(prefix.slice(0, -1));
      return undefined;
    }
  }

  /** The entries of one folder that matter, sorted. */
  async #open(real: string, prefix: string, way: string, state: Globbed, above: IgnoreRules): Promise<Frame> {
    const { includeHidden, useIgnoreFiles } = this.#options;
    const room = this.#hooks.room?.() ?? Infinity;
    const folders: Found[] = [];
    let leaves: Found[] = [];
    let rules = useIgnoreFiles ? undefined : above;
    let hasIgnoreFile = false;
    let named: Set<string> | undefined;
    const keep = (found: Found[], by: IgnoreRules): Found[] =>
      useIgnoreFiles ? found.filter((each) => !by.ignores(way + nameOf(each))) : found;
    for await (const entry of await opendir(real, { bufferSize: BATCH })) {
      this.#context.cancellationToken.check();
      this.#hooks.saw?.(prefix || ".");
      hasIgnoreFile ||= isIgnoreFile(entry.name);
      if (!includeHidden && entry.name.startsWith(".")) continue;
      const found = this.#sift(entry, state);
      if (!found) continue;
      if (entry.name.includes(REPLACED) && !(named ??= await namesWith(REPLACED, real)).delete(entry.name)) {
        this.miss(prefix + entry.name);
        continue;
      }
      if (found.below) folders.push(found);
      else leaves.push(found);
      // Each leaf that is kept is given, so of any number of them only the first few can matter.
      if (leaves.length < 2 * room + BATCH) continue;
      rules ??= await this.#rulesIn(real, way, above);
      leaves = keep(leaves, rules).sort(byName).slice(0, room);
    }
    rules ??= hasIgnoreFile ? await this.#rulesIn(real, way, above) : above;
    const found = keep(leaves.concat(folders), rules).sort(byName);
    return { real, prefix, found, rules, way, next: 0 };
  }

  #sift(entry: Dirent, state: Globbed): Found | undefined {
    const { name } = entry;
    const type = typeOf(entry);
    if (!type || (type === "directory" && this.#skipped.has(name))) return undefined;
    const exclude = this.#exclude.advance(state.exclude, name);
    if (this.#exclude.matches(exclude)) return undefined;
    const include = this.#include.advance(state.include, name);
    const listed = this.#include.matches(include);
    if (type !== "directory") return listed ? { name, type, listed } : undefined;
    const below = { include: this.#include.advance(include, "/"), exclude: this.#exclude.advance(exclude, "/") };
    if (this.#include.canGoOn(below.include)) return { name, type, listed, below };
    return listed ? { name, type, listed } : undefined;
  }
}

function nameOf({ name, type }: Found): string {
  return type === "directory" ? `${name}/` : name;
}

/** A path as the start of those below it. */
function slashed(path: string): string {
  return path === "." ? "" : `${path}/`;
}

function typeOf(entry: Dirent): WalkEntry["type"] | undefined {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : undefined;
}

function byName(one: Found, other: Found): number {
  return one.name < other.name ? -1 : 1;
}
