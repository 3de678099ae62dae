/** Tells who waits for an approval's files to change. */
import { watch, type FSWatcher } from "node:fs";
import type { ApprovalFiles } from "./approval-files.js";

/** Rings for one approval; a ring that nobody waits for is kept. */
export class Bell {
  #isRung = false;
  #heard: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#heard?.();
  }

  /** Resolves at the first ring since the last time. */
  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#heard = resolve));
    this.#heard = undefined;
    this.#isRung = false;
  }
}

/** Watches a folder as long as somebody waits. A network folder does not tell of its changes: it is also looked at. */
export class FolderWatch {
  readonly #files: Pick<ApprovalFiles, "folder" | "list">;
  readonly #pollMs: number;
  readonly #bells = new Map<string, Bell>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(files: Pick<ApprovalFiles, "folder" | "list">, pollMs: number) {
    this.#files = files;
    this.#pollMs = pollMs;
  }

  /** Begins to watch for an approval. The folder is there. */
  add(approvalId: string): Bell {
    const bell = new Bell();
    this.#bells.set(approvalId, bell);
    if (this.#bells.size === 1) this.#start();
    return bell;
  }

  remove(approvalId: string): void {
    this.#bells.delete(approvalId);
    if (this.#bells.size === 0) this.#stop();
  }

  #start(): void {
    this.#timer = setInterval(() => {
      void this.#look();
    }, this.#pollMs).unref();
    try {
      this.#watcher = watch(this.#files.folder, { persistent: false }, (_event, name) => {
        for (const [id, bell] of this.#bells) if (name?.startsWith(id) ?? true) bell.ring();
      });
      this.#watcher.on("error", () => {
        this.#unwatch();
      });
    } catch {
      // A host without watchers left; the timer looks.
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#unwatch();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Reads the folder once for all: to open it also makes a network folder fetch it anew. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const found = await this.#files.list();
      for (const [id, bell] of this.#bells) {
        const kinds = found.get(id);
        if (kinds?.has("decision") === true || kinds?.has("request") !== true) bell.ring();
      }
    } catch {
      // Whoever waits finds out why.
      for (const bell of this.#bells.values()) bell.ring();
    } finally {
      this.#isLooking = false;
    }
  }
}
