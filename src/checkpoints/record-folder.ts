/** The records of a store: one file for each checkpoint, under names that sort by age. */
import { randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeWhole } from "./durable.js";
import { orNothing } from "./failure.js";
import { recordOf, textOf, type CheckpointRecord } from "./record.js";

/** When it was taken, in milliseconds, then chance; both in hex. */
const ID = /^([0-9a-f]{14})-[0-9a-f]{8}$/;

/** Keeps records. */
export class RecordFolder {
  readonly #folder: string;
  readonly #drafts: string;
  #lastStamp: number | undefined;

  constructor(folder: string, drafts: string) {
    this.#folder = folder;
    this.#drafts = drafts;
  }

  /** The checkpoints that there are, oldest first. */
  async ids(): Promise<string[]> {
    const names = (await orNothing(readdir(this.#folder))) ?? [];
    const ids = names.map((name) => name.replace(/\.json$/, ""));
    return ids.filter((id) => ID.test(id)).sort();
  }

  /** An id for one that is newer than all, also where the clock was set back. */
  async nextId(): Promise<string> {
    this.#lastStamp ??= Number.parseInt(ID.exec((await this.ids()).at(-1) ?? "")?.[1] ?? "0", 16);
    this.#lastStamp = Math.max(this.#lastStamp + 1, Date.now());
    return `${this.#lastStamp.toString(16).padStart(14, "0")}-${randomBytes(4).toString("hex")}`;
  }

  /**
   * @returns undefined where there is none
   * @throws ToolRuntimeError `CHECKPOINT_FAILED` where it is damaged
   */
  async find(id: string): Promise<CheckpointRecord | undefined> {
    // What is no id names a file somewhere else.
    if (!ID.test(id)) return undefined;
    const file = this.#file(id);
    const text = await orNothing(readFile(file, "utf8"));
    return text === undefined ? undefined : recordOf(text, file);
  }

  /** All of them, one by one, those that are removed meanwhile left out. */
  async *all(order: "oldest first" | "newest first" = "oldest first"): AsyncGenerator<CheckpointRecord> {
    const ids = await this.ids();
    for (const id of order === "oldest first" ? ids : ids.reverse()) {
      const record = await this.find(id);
      if (record) yield record;
    }
  }

  /** Adds one; from then on there is such a checkpoint. */
  async add(record: CheckpointRecord): Promise<void> {
    await writeWhole(this.#file(record.checkpoint.checkpointId), this.#drafts, textOf(record));
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) await rm(this.#file(id));
    if (ids.length > 0) await syncFolder(this.#folder);
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
