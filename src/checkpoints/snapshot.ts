/** Takes down what is under a path: every entry, and the content of every file that is not known yet. */
import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { below, bytePath, onDisk, shown, type BytePath } from "./byte-path.js";
import { errnoOf, failure, orNothing, told } from "./failure.js";
import { piecesOf, type Draft, type ObjectStore } from "./object-store.js";
import { isSame, isUnchanged, lineOf, modeOf, seenOf, type FileEntry, type TreeEntry } from "./tree.js";

/** Files whose content is stored, by their path. */
export type Known = Map<BytePath, FileEntry>;

/** What is left of what one checkpoint may hold. */
export interface Allowance {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** A tree that was taken down. */
export interface TakenTree {
  /** The object that holds it. */
  readonly tree: string;
  /** Entries of all kinds. */
  readonly files: number;
  /** Bytes of the files. */
  readonly bytes: number;
  readonly known: Known;
}

/** How often a tree is looked at that changes meanwhile. */
const ATTEMPTS = 3;
const LOOKS_AT_ONCE = 64;
const LINES_BYTES = 64 * 1024;

/** What was looked at has changed meanwhile. */
class Changed extends Error {}

/**
 * Takes down a tree. Links are kept as links and never followed.
 * @param path absolute and real
 * @param known files whose content is stored; those that are as they were are not read
 * @throws ToolRuntimeError `CHECKPOINT_FAILED`
 */
export async function takeTree(
  objects: ObjectStore,
  path: string,
  known: Known,
  allowance: Allowance,
  signal: AbortSignal,
): Promise<TakenTree> {
  // What one attempt has read and is settled, the next one need not read again.
  const found: Known = new Map();
  for (let attempt = 1; ; attempt++) {
    const snapshot = new Snapshot(objects, path, [found, known], allowance, signal);
    try {
      return await snapshot.take();
    } catch (error) {
      if (!(error instanceof Changed)) throw told(error, `"${path}" cannot be saved`);
      if (attempt === ATTEMPTS) {
        throw failure(`"${path}" cannot be saved: ${error.message} changes while it is read.`, { path }, error);
      }
    }
  }
}

class Snapshot {
  readonly #objects: ObjectStore;
  readonly #root: string;
  readonly #known: readonly [Known, Known];
  readonly #allowance: Allowance;
  readonly #signal: AbortSignal;
  readonly #next: Known = new Map();
  #draft: Draft | undefined;
  #lines: string[] = [];
  #linesBytes = 0;
  #files = 0;
  #bytes = 0;

  constructor(
    objects: ObjectStore,
    root: string,
    known: readonly [Known, Known],
    allowance: Allowance,
    signal: AbortSignal,
  ) {
    this.#objects = objects;
    this.#root = root;
    this.#known = known;
    this.#allowance = allowance;
    this.#signal = signal;
  }

  async take(): Promise<TakenTree> {
    this.#draft = await this.#objects.begin();
    try {
      const info = await orNothing(lstat(this.#root, { bigint: true }));
      if (info?.isSymbolicLink()) throw failure(`"${this.#root}" cannot be saved: it is a link.`, { path: this.#root });
      if (info) await this.#entry("", info);
      else await this.#write({ kind: "absent", path: "" });
      await this.#flush();
    } catch (error) {
      await this.#draft.discard();
      throw error;
    }
    return { tree: await this.#draft.commit(), files: this.#files, bytes: this.#bytes, known: this.#next };
  }

  async #entry(path: BytePath, info: BigIntStats): Promise<void> {
    this.#signal.throwIfAborted();
    if (info.isFile()) await this.#file(path, info);
    else if (info.isDirectory()) await this.#folder(path, info);
    else if (info.isSymbolicLink()) await this.#link(path, info);
    else throw this.#refused(path, `is ${specialKind(info)}, which cannot be saved`);
  }

  async #folder(path: BytePath, info: BigIntStats): Promise<void> {
    await this.#write({ kind: "folder", path, mode: modeOf(info), mtimeNs: info.mtimeNs });
    const names = await this.#looked(path, readdir(this.#onDisk(path), { encoding: "latin1" }));
    names.sort();
    for (let at = 0; at < names.length; at += LOOKS_AT_ONCE) {
      const paths = names.slice(at, at + LOOKS_AT_ONCE).map((name) => below(path, name));
      const infos = await Promise.all(paths.map((each) => this.#look(each)));
      for (const [index, each] of paths.entries()) await this.#entry(each, infos[index] as BigIntStats);
    }
    if (!isSame(info, await this.#look(path))) throw new Changed(shown(path));
  }

  async #link(path: BytePath, { mtimeNs }: BigIntStats): Promise<void> {
    const target = await this.#looked(path, readlink(this.#onDisk(path), { encoding: "latin1" }));
    await this.#write({ kind: "link", path, target, mtimeNs });
  }

  async #file(path: BytePath, info: BigIntStats): Promise<void> {
    const size = Number(info.size);
    this.#bytes += size;
    if (this.#bytes > this.#allowance.maxBytes) throw this.#tooMuch(`${this.#allowance.maxBytes} bytes`, "maxBytes");
    const stored = await this.#stored(path, info);
    const entry = stored ? { ...stored, mode: modeOf(info) } : await this.#store(path, info, size);
    if (entry.seen !== undefined) this.#next.set(path, entry);
    await this.#write(entry);
  }

  /** The file as it is known, where it is unchanged and its content is there. */
  async #stored(path: BytePath, info: BigIntStats): Promise<FileEntry | undefined> {
    for (const known of this.#known) {
      const entry = known.get(path);
      if (entry && isUnchanged(entry, info) && (await this.#objects.has(entry.digest, entry.size))) return entry;
    }
    return undefined;
  }

  async #store(path: BytePath, info: BigIntStats, size: number): Promise<FileEntry> {
    const lookedAt = BigInt(Date.now()) * 1_000_000n;
    // What has become a link is not followed, and what has become a pipe is not waited for.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await this.#looked(path, open(this.#onDisk(path), flags));
    if (!isSame(info, await file.stat({ bigint: true }))) throw new Changed(shown(path));
    const draft = await this.#objects.begin();
    try {
      for await (const piece of piecesOf(file)) {
        this.#signal.throwIfAborted();
        await draft.write(piece);
        if (draft.size > size) break;
      }
      if (draft.size !== size || !isSame(info, await file.stat({ bigint: true }))) throw new Changed(shown(path));
    } catch (error) {
      await draft.discard();
      throw error;
    }
    const digest = await draft.commit();
    const { mtimeNs } = info;
    const entry: FileEntry = {
      kind: "file",
      path,
      mode: modeOf(info),
      mtimeNs,
      size,
      digest,
      seen: seenOf(info, lookedAt),
    };
    if (entry.seen !== undefined) this.#known[0].set(path, entry);
    return entry;
  }

  #look(path: BytePath): Promise<BigIntStats> {
    return this.#looked(path, lstat(this.#onDisk(path), { bigint: true }));
  }

  /** What is gone, or has become something else, since it was seen. */
  async #looked<T>(path: BytePath, look: Promise<T>): Promise<T> {
    try {
      return await look;
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "ELOOP", "EINVAL", "ENXIO"].includes(errnoOf(error) ?? "")) {
        throw new Changed(shown(path), { cause: error });
      }
      throw error;
    }
  }

  async #write(entry: TreeEntry): Promise<void> {
    if (++this.#files > this.#allowance.maxFiles)
      throw this.#tooMuch(`${this.#allowance.maxFiles} entries`, "maxFiles");
    const line = lineOf(entry);
    this.#lines.push(line);
    this.#linesBytes += line.length;
    if (this.#linesBytes >= LINES_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#draft?.write(Buffer.from(this.#lines.join(""), "utf8"));
    this.#lines = [];
    this.#linesBytes = 0;
  }

  #onDisk(path: BytePath): Buffer {
    return onDisk(below(bytePath(this.#root), path));
  }

  #tooMuch(what: string, option: string): Error {
    return failure(
      `"${this.#root}" cannot be saved: a checkpoint may hold ${what} and this is more. Bind a smaller folder, or raise ${option}.`,
      { path: this.#root, option },
    );
  }

  #refused(path: BytePath, why: string): Error {
    return failure(`"${this.#root}" cannot be saved: ${path === "" ? "it" : shown(path)} ${why}.`, {
      path: this.#root,
    });
  }
}

function specialKind(info: BigIntStats): string {
  if (info.isFIFO()) return "a pipe";
  if (info.isSocket()) return "a socket";
  return "a device";
}
