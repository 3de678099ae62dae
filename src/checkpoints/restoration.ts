/** Brings a tree back. Every step may be repeated, so one that was cut short is completed by beginning again. */
import { createHash } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import {
  chmod,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { dirname } from "node:path";
import { below, bytePath, onDisk, type BytePath } from "./byte-path.js";
import { syncFolder } from "./durable.js";
import { errnoOf, orNothing } from "./failure.js";
import { piecesOf, type ObjectStore } from "./object-store.js";
import { isUnchanged, modeOf, type FileEntry, type TreeEntry } from "./tree.js";

/** What `utimes` can set: it takes seconds as a double, of which some Nodes leave out what is less than this. */
const TICK_NS = 1_000n;

/** Brings back what was under a path. */
export class Restoration {
  readonly #objects: ObjectStore;
  readonly #root: BytePath;
  readonly #members = new Map<BytePath, TreeEntry[]>();
  readonly #top: TreeEntry;

  /**
   * @param root absolute and real
   * @param entries folders before what is in them
   */
  constructor(objects: ObjectStore, root: string, [top, ...entries]: readonly [TreeEntry, ...TreeEntry[]]) {
    this.#objects = objects;
    this.#root = bytePath(root);
    this.#top = top;
    for (const entry of entries) {
      const folder = entry.path.slice(0, Math.max(0, entry.path.lastIndexOf("/")));
      const members = this.#members.get(folder);
      if (members) members.push(entry);
      else this.#members.set(folder, [entry]);
    }
  }

  async run(): Promise<void> {
    if (this.#top.kind !== "absent") await mkdir(onDisk(bytePath(dirname(this.#path("")))), { recursive: true });
    await this.#entry(this.#top);
  }

  async #entry(entry: TreeEntry): Promise<void> {
    const path = onDisk(this.#path(entry.path));
    const info = await orNothing(lstat(path, { bigint: true }));
    switch (entry.kind) {
      case "absent":
        if (info) await removeTree(path, info);
        return;
      case "folder":
        await this.#folder(entry, path, info);
        break;
      case "link":
        if (info?.isSymbolicLink() !== true || (await readlink(path, { encoding: "latin1" })) !== entry.target) {
          if (info) await removeTree(path, info);
          await symlink(onDisk(entry.target), path);
        }
        break;
      case "file":
        if (info?.isFile() && isUnchanged(entry, info) && modeOf(info) === entry.mode) return;
        if (!(info && (await holds(path, info, entry)))) {
          if (info?.isDirectory()) await removeTree(path, info);
          await this.#write(entry, path);
        }
    }
    await settle(path, entry);
  }

  async #folder({ path: folder }: TreeEntry, path: Buffer, info: BigIntStats | undefined): Promise<void> {
    let present = info;
    if (present?.isDirectory() === false) {
      await removeTree(path, present);
      present = undefined;
    }
    if (present) await openUp(path, present);
    else await mkdir(path, { mode: 0o700 });
    const members = this.#members.get(folder) ?? [];
    const wanted = new Set(members.map((member) => member.path));
    for (const name of await readdir(path, { encoding: "latin1" })) {
      if (wanted.has(below(folder, name))) continue;
      const stray = onDisk(this.#path(below(folder, name)));
      await removeTree(stray, await lstat(stray, { bigint: true }));
    }
    for (const member of members) await this.#entry(member);
    await syncFolder(path);
  }

  /** Puts a file in its place at once. What stood there may have other names elsewhere, and is not written to. */
  async #write({ digest, mode, path: file }: FileEntry, path: Buffer): Promise<void> {
    const folder = file === "" ? dirname(this.#root) : dirname(this.#path(file));
    // Always the same name, so that what an attempt left that was cut short is found.
    const draft = onDisk(`${folder}/.toolcell-${digest.slice(0, 24)}`);
    await orNothing(unlink(draft));
    try {
      await using handle = await open(draft, "wx", 0o600);
      for await (const piece of this.#objects.read(digest)) await handle.writeFile(piece);
      await handle.chmod(mode);
      await handle.sync();
      await rename(draft, path);
    } catch (error) {
      await orNothing(unlink(draft));
      throw error;
    }
  }

  #path(path: BytePath): BytePath {
    return below(this.#root, path);
  }
}

/** Whether a file has the content that it should have. */
async function holds(path: Buffer, info: BigIntStats, { size, digest }: FileEntry): Promise<boolean> {
  if (!info.isFile() || info.size !== BigInt(size)) return false;
  const hash = createHash("sha256");
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    for await (const piece of piecesOf(file)) hash.update(piece);
  } catch (error) {
    // One that may not be read is replaced.
    if (errnoOf(error) === "EACCES") return false;
    throw error;
  }
  return hash.digest("hex") === digest;
}

/** Gives an entry its permission bits and its time, after everything in it has settled. */
async function settle(path: Buffer, entry: Exclude<TreeEntry, { kind: "absent" }>): Promise<void> {
  const info = await lstat(path, { bigint: true });
  if (entry.kind !== "link" && modeOf(info) !== entry.mode) await chmod(path, entry.mode);
  const ticks = entry.mtimeNs / TICK_NS;
  if (info.mtimeNs / TICK_NS !== ticks) {
    // In the middle of the tick, so that no rounding leads out of it.
    const seconds = (Number(ticks) + 0.5) / 1e6;
    await lutimes(path, seconds, seconds);
  }
}

/** Lets its owner into a folder. */
async function openUp(path: Buffer, info: BigIntStats): Promise<void> {
  const mode = modeOf(info);
  if ((mode & 0o700) !== 0o700) await chmod(path, mode | 0o700);
}

/** Removes what is there. Links are removed, never followed. */
async function removeTree(path: Buffer, info: BigIntStats): Promise<void> {
  if (!info.isDirectory()) {
    await unlink(path);
    return;
  }
  await openUp(path, info);
  for (const name of await readdir(path, { encoding: "buffer" })) {
    const member = Buffer.concat([path, Buffer.from("/"), name]);
    await removeTree(member, await lstat(member, { bigint: true }));
  }
  await rmdir(path);
}
