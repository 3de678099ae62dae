/** Contents by their SHA-256, each stored once. */
import { createHash, type Hash } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, uniqueName } from "./durable.js";
import { failure, orNothing } from "./failure.js";
import { isDigest } from "./tree.js";

const BUFFER_BYTES = 256 * 1024;

/** Keeps objects in a folder. */
export class ObjectStore {
  readonly #folder: string;
  readonly #drafts: string;
  /** Objects that were seen to be there, so that each is looked for once. */
  readonly #present = new Set<string>();
  /** Folders with names that are not synced yet. */
  readonly #unsynced = new Set<string>();

  constructor(folder: string, drafts: string) {
    this.#folder = folder;
    this.#drafts = drafts;
  }

  /** Whether an object is there in full length. */
  async has(digest: string, size: number): Promise<boolean> {
    if (this.#present.has(digest)) return true;
    const info = await orNothing(stat(this.#path(digest)));
    if (info?.isFile() !== true || info.size !== size) return false;
    this.#present.add(digest);
    return true;
  }

  /** Begins an object whose digest is known when all of it is written. */
  async begin(): Promise<Draft> {
    const path = join(this.#drafts, uniqueName());
    return new Draft(await open(path, "wx", 0o600), path, (draft) => this.#commit(draft));
  }

  /** Makes sure that what was added outlives the host. */
  async sync(): Promise<void> {
    for (const folder of this.#unsynced) await syncFolder(folder);
    this.#unsynced.clear();
  }

  /**
   * The content of an object, piece by piece; a piece is good until the next one is asked for.
   * @throws ToolRuntimeError `CHECKPOINT_FAILED` where it is missing, or after its last piece where it is damaged
   */
  async *read(digest: string): AsyncGenerator<Buffer> {
    const handle = await orNothing(open(this.#path(digest), "r"));
    if (!handle) throw failure(`The store has lost object ${digest}.`, { digest, problem: "missing" });
    const hash = createHash("sha256");
    try {
      for await (const piece of piecesOf(handle)) {
        hash.update(piece);
        yield piece;
      }
    } finally {
      await handle.close();
    }
    if (hash.digest("hex") !== digest) {
      throw failure(`Object ${digest} of the store is damaged.`, { digest, problem: "damaged" });
    }
  }

  /** Reads an object to its end. @throws ToolRuntimeError `CHECKPOINT_FAILED` where it is missing or damaged */
  async verify(digest: string): Promise<void> {
    for await (const _piece of this.read(digest));
  }

  /** Removes every object that is not needed. @returns how many, and their bytes */
  async sweep(needed: ReadonlySet<string>): Promise<{ objects: number; bytes: number }> {
    this.#present.clear();
    let objects = 0;
    let bytes = 0;
    for (const prefix of (await orNothing(readdir(this.#folder))) ?? []) {
      for (const rest of (await orNothing(readdir(join(this.#folder, prefix)))) ?? []) {
        const digest = `${prefix}${rest}`;
        if (!isDigest(digest) || needed.has(digest)) continue;
        const path = this.#path(digest);
        bytes += (await stat(path)).size;
        objects++;
        await rm(path);
      }
    }
    return { objects, bytes };
  }

  async #commit({ path, digest, size }: FinishedDraft): Promise<void> {
    if (await this.has(digest, size)) {
      await rm(path);
      return;
    }
    const folder = join(this.#folder, digest.slice(0, 2));
    if (await mkdir(folder, { recursive: true, mode: 0o700 })) this.#unsynced.add(this.#folder);
    await rename(path, this.#path(digest));
    this.#unsynced.add(folder);
    this.#present.add(digest);
  }

  #path(digest: string): string {
    return join(this.#folder, digest.slice(0, 2), digest.slice(2));
  }
}

interface FinishedDraft {
  readonly path: string;
  readonly digest: string;
  readonly size: number;
}

/** An object that is being written. */
export class Draft {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #commit: (draft: FinishedDraft) => Promise<void>;
  readonly #hash: Hash = createHash("sha256");
  #size = 0;

  constructor(file: FileHandle, path: string, commit: (draft: FinishedDraft) => Promise<void>) {
    this.#file = file;
    this.#path = path;
    this.#commit = commit;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#size += bytes.length;
    // `writeFile` on a handle goes on where it is until all is written.
    await this.#file.writeFile(bytes);
  }

  /** Gives the object its place. @returns its digest */
  async commit(): Promise<string> {
    const digest = this.#hash.digest("hex");
    try {
      await this.#file.sync();
      await this.#commit({ path: this.#path, digest, size: this.#size });
    } catch (error) {
      await rm(this.#path, { force: true });
      throw error;
    } finally {
      await this.#file.close();
    }
    return digest;
  }

  /** Takes it away. */
  async discard(): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

/** The rest of an open file; a piece is good until the next one is asked for. */
export async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
