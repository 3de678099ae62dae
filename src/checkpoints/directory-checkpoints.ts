/** Checkpoints in a folder: each a record of trees, whose contents are stored once. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import pLimit from "p-limit";
import { ToolRuntimeError } from "../protocol/errors.js";
import { isObject, unknownField } from "../runtime/arguments.js";
import type { CheckpointProvider, CheckpointRequest } from "../runtime/checkpoint.js";
import { realPath } from "../runtime/grant.js";
import { syncFolder } from "./durable.js";
import { failure, told } from "./failure.js";
import { ObjectStore } from "./object-store.js";
import type { DirectoryCheckpoint, RecordedTree } from "./record.js";
import { RecordFolder } from "./record-folder.js";
import { Restoration } from "./restoration.js";
import { takeTree, type Known } from "./snapshot.js";
import { readTree } from "./stored-tree.js";

/** What {@link DirectoryCheckpoints} takes. */
export interface DirectoryCheckpointsOptions {
  /** Where they are kept: made where it is not there, outside of everything that is saved. One process at a time uses it. */
  readonly folder: string;
  /** Files, folders and links that one checkpoint may hold. At least 1. Default 100,000. */
  readonly maxFiles?: number;
  /** Bytes of the files that one checkpoint may hold. At least 0. Default 4,294,967,296, which is 4 GiB. */
  readonly maxBytes?: number;
}

/** What was removed from a store. */
export interface PruneReport {
  /** Checkpoints. */
  readonly checkpoints: number;
  /** Contents that no other checkpoint needs. */
  readonly objects: number;
  /** Their bytes. */
  readonly bytes: number;
}

/** Which checkpoints stay. */
export interface PruneOptions {
  /** How many of the newest stay. At least 0. */
  readonly keep: number;
  /** Only those of this plan are looked at. Default: all. */
  readonly planId?: string;
}

const OPTIONS = ["folder", "maxFiles", "maxBytes"] as const satisfies readonly (keyof DirectoryCheckpointsOptions)[];
const RECORDS = "checkpoints";
const OBJECTS = "objects";
/** Paths whose files are remembered, so that the last tree of each is not read again. */
const PATHS_REMEMBERED = 4;

/**
 * Saves files and folders into a folder, by content: what is unchanged is neither read nor stored again. A checkpoint is
 * there whole or not at all, whenever the host dies. Contents, permission bits, links, empty folders and times of change
 * (to the microsecond) come back; owners, hard links and extended attributes do not.
 *
 * @example
 * ```ts
 * import { mkdtemp, readFile, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { DirectoryCheckpoints } from "toolcell";
 *
 * const path = await mkdtemp(join(tmpdir(), "notes-"));
 * const checkpoints = new DirectoryCheckpoints({ folder: await mkdtemp(join(tmpdir(), "store-")) });
 * await writeFile(join(path, "a.txt"), "before");
 * const { checkpointId } = await checkpoints.take({
 *   planId: "p",
 *   callId: "1",
 *   toolName: "acme/write",
 *   resources: [{ slotName: "repo", resourceId: "r", path }],
 * });
 * await writeFile(join(path, "a.txt"), "after");
 * await checkpoints.restore(checkpointId);
 * console.log(await readFile(join(path, "a.txt"), "utf8")); // → before
 * ```
 */
export class DirectoryCheckpoints implements CheckpointProvider {
  readonly #folder: string;
  readonly #records: RecordFolder;
  readonly #drafts: string;
  readonly #maxFiles: number;
  readonly #maxBytes: number;
  readonly #objects: ObjectStore;
  readonly #known = new Map<string, Known>();
  /** What one checkpoint stores another one needs, and a sweep takes away: one work at a time. */
  readonly #alone = pLimit(1);
  #isPrepared = false;

  /** @throws ToolRuntimeError `INVALID_ARGUMENT` */
  constructor(options: DirectoryCheckpointsOptions) {
    if (!isObject(options)) invalid("the options must be an object with a folder");
    const unknown = unknownField(options, OPTIONS);
    if (unknown !== undefined) invalid(unknown);
    const { folder, maxFiles = 100_000, maxBytes = 2 ** 32 } = options;
    if (typeof folder !== "string" || folder === "") invalid("`folder` must be a path");
    this.#maxFiles = whole(maxFiles, "maxFiles", 1);
    this.#maxBytes = whole(maxBytes, "maxBytes", 0);
    this.#folder = resolve(folder);
    this.#drafts = join(this.#folder, "drafts");
    this.#records = new RecordFolder(join(this.#folder, RECORDS), this.#drafts);
    this.#objects = new ObjectStore(join(this.#folder, OBJECTS), this.#drafts);
  }

  /**
   * Saves what is under the paths of a request.
   * @param signal gives it up
   * @throws ToolRuntimeError `CHECKPOINT_FAILED` where something cannot be saved: a special file, one that changes while
   *   it is read or may not be read, more than is allowed, a resource without a path, a path in which the store lies
   */
  take(request: CheckpointRequest, signal: AbortSignal = new AbortController().signal): Promise<DirectoryCheckpoint> {
    return this.#alone(() => this.#take(request, signal));
  }

  /**
   * Brings back what was under the paths of a checkpoint: nothing is touched before all of it is found whole. One that
   * was cut short is completed by restoring again.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where there is no such checkpoint, `CHECKPOINT_FAILED` where a content is
   *   missing or damaged, or a path leads elsewhere now
   */
  restore(checkpointId: string): Promise<void> {
    return this.#alone(() => this.#restore(checkpointId));
  }

  /**
   * The checkpoints, of one plan or of all, oldest first.
   * @throws ToolRuntimeError `CHECKPOINT_FAILED` where a record is damaged
   */
  async list(planId?: string): Promise<DirectoryCheckpoint[]> {
    const found: DirectoryCheckpoint[] = [];
    for await (const { checkpoint } of this.#records.all()) {
      if (planId === undefined || checkpoint.planId === planId) found.push(checkpoint);
    }
    return found;
  }

  /**
   * Removes a checkpoint, and the contents that no other one needs.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where there is no such checkpoint
   */
  remove(checkpointId: string): Promise<PruneReport> {
    return this.#alone(async () => {
      if (!(await this.#records.ids()).includes(checkpointId)) throw missing(checkpointId);
      return await this.#remove([checkpointId]);
    });
  }

  /**
   * Removes all but the newest checkpoints, and the contents that nobody needs.
   * @throws ToolRuntimeError `INVALID_ARGUMENT`
   */
  async prune(options: PruneOptions): Promise<PruneReport> {
    if (!isObject(options)) invalid("prune takes `{ keep }`");
    const { keep, planId } = options;
    whole(keep, "keep", 0);
    return await this.#alone(async () => {
      const ids = (await this.list(planId)).map(({ checkpointId }) => checkpointId);
      return await this.#remove(ids.slice(0, Math.max(0, ids.length - keep)));
    });
  }

  async #take(request: CheckpointRequest, signal: AbortSignal): Promise<DirectoryCheckpoint> {
    signal.throwIfAborted();
    const paths = this.#pathsOf(request);
    await this.#prepare();
    const trees: RecordedTree[] = [];
    let files = 0;
    let bytes = 0;
    for (const path of paths) {
      const allowance = { maxFiles: this.#maxFiles - files, maxBytes: this.#maxBytes - bytes };
      const taken = await takeTree(this.#objects, path, await this.#knownIn(path), allowance, signal);
      this.#remember(path, taken.known);
      trees.push({ path, tree: taken.tree });
      files += taken.files;
      bytes += taken.bytes;
    }
    await this.#objects.sync();
    signal.throwIfAborted();
    const checkpointId = await this.#records.nextId();
    const { planId, callId, parentCallId, toolName, resources } = request;
    const checkpoint = Object.freeze({
      checkpointId,
      planId,
      callId,
      ...(parentCallId !== undefined && { parentCallId }),
      toolName,
      resources,
      createdAt: new Date().toISOString(),
      files,
      bytes,
    });
    await this.#records.add({ checkpoint, trees });
    return checkpoint;
  }

  /** The paths to save; one that lies in another is saved with it. */
  #pathsOf({ resources }: CheckpointRequest): string[] {
    const store = realPath(this.#folder);
    const paths = new Set<string>();
    for (const { slotName, path: given } of resources) {
      if (given === undefined) {
        throw failure(`Slot "${slotName}" cannot be saved: it has no path, and only files and folders can.`, {
          slotName,
        });
      }
      const path = realPath(resolve(given));
      if (isWithin(store, path) || isWithin(path, store)) {
        throw failure(`"${path}" cannot be saved: the store "${store}" and what it saves must not lie in each other.`, {
          path,
          store,
        });
      }
      paths.add(path);
    }
    return [...paths].filter((path) => ![...paths].some((other) => other !== path && isWithin(path, other)));
  }

  /** Makes the folders; what was begun by a process that is gone is taken away. */
  async #prepare(): Promise<void> {
    if (this.#isPrepared) return;
    try {
      for (const folder of [join(this.#folder, RECORDS), join(this.#folder, OBJECTS), this.#drafts]) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
      }
      for (const draft of await readdir(this.#drafts)) await rm(join(this.#drafts, draft), { force: true });
      for (const folder of [this.#folder, dirname(this.#folder)]) await syncFolder(folder);
    } catch (error) {
      throw told(error, `The store "${this.#folder}" cannot be used`);
    }
    this.#isPrepared = true;
  }

  async #restore(checkpointId: string): Promise<void> {
    const record = await this.#records.find(checkpointId);
    if (!record) throw missing(checkpointId);
    const what = `Checkpoint "${checkpointId}" cannot be restored`;
    try {
      const restorations: Restoration[] = [];
      for (const { path, tree } of record.trees) {
        if (realPath(dirname(path)) !== dirname(path)) {
          throw failure(`${what}: "${dirname(path)}" is or holds a link now and leads elsewhere.`, {
            checkpointId,
            path,
          });
        }
        const entries = await readTree(this.#objects, tree);
        const digests = new Set(entries.flatMap((entry) => (entry.kind === "file" ? [entry.digest] : [])));
        for (const digest of digests) await this.#objects.verify(digest);
        restorations.push(new Restoration(this.#objects, path, entries));
      }
      for (const restoration of restorations) await restoration.run();
    } catch (error) {
      throw told(error, what);
    }
  }

  async #remove(ids: readonly string[]): Promise<PruneReport> {
    await this.#records.remove(ids);
    const needed = new Set<string>();
    for await (const { trees } of this.#records.all()) {
      for (const { tree } of trees) {
        if (needed.has(tree)) continue;
        needed.add(tree);
        for (const entry of await readTree(this.#objects, tree)) if (entry.kind === "file") needed.add(entry.digest);
      }
    }
    this.#known.clear();
    return { checkpoints: ids.length, ...(await this.#objects.sweep(needed)) };
  }

  /** The files under a path whose contents are stored, as the newest checkpoint of that path has them. */
  async #knownIn(path: string): Promise<Known> {
    const remembered = this.#known.get(path);
    if (remembered) return remembered;
    for await (const { trees } of this.#records.all("newest first")) {
      const tree = trees.find((each) => each.path === path)?.tree;
      if (tree === undefined) continue;
      // Where it is damaged, that checkpoint is lost, and this one reads everything.
      const entries = await readTree(this.#objects, tree).catch(() => []);
      return new Map(entries.flatMap((entry) => (entry.kind === "file" ? [[entry.path, entry] as const] : [])));
    }
    return new Map();
  }

  #remember(path: string, known: Known): void {
    this.#known.delete(path);
    this.#known.set(path, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > PATHS_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function missing(checkpointId: unknown): ToolRuntimeError {
  return new ToolRuntimeError(`There is no checkpoint "${String(checkpointId)}"; list() tells which there are.`, {
    code: "INVALID_ARGUMENT",
    details: { checkpointId },
  });
}

function whole(value: unknown, name: string, least: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  invalid(`\`${name}\` must be a whole number of at least ${least}`);
}

function invalid(problem: string): never {
  throw new ToolRuntimeError(`DirectoryCheckpoints: ${problem}.`, { code: "INVALID_ARGUMENT" });
}
