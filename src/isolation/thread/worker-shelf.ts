/** Workers that are up and serve nobody: spares started ahead, and ones that were given back clean. */
import { setTimeout as after } from "node:timers";
import { CellWorker } from "./worker-pool.js";
import type { WorkerProfile } from "./worker-profile.js";

/** Bounds of a shelf. */
export interface WorkerShelfOptions {
  /** Workers kept ready ahead. */
  readonly spareCells: number;
  /** Workers on the shelf at one time, beside the spares. */
  readonly maxIdle: number;
  readonly killTimeoutMs: number;
}

/** What a start asks of a worker. */
export interface WorkerRequest {
  readonly profile: WorkerProfile;
  readonly module: string;
  /** Whether the tool vouches that it keeps nothing between calls. */
  readonly stateless: boolean;
}

/** Milliseconds after which a worker that was given back and is not wanted again is ended. */
const IDLE_MS = 10_000;

/** Keeps workers. */
export class WorkerShelf {
  readonly #options: WorkerShelfOptions;
  readonly #idle = new Map<CellWorker, NodeJS.Timeout | undefined>();
  readonly #warming = new Set<CellWorker>();
  #closed = false;

  constructor(options: WorkerShelfOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#idle.size;
  }

  /** Workers that have served nobody. */
  get spares(): number {
    let count = 0;
    for (const { served } of this.#idle.keys()) if (served === undefined) count++;
    return count;
  }

  /**
   * Takes a worker that fits: one that served this very tool, where the tool vouches that it keeps
   * nothing, or one that has served nobody. Nothing is shared between plans, and globals, patched
   * built-ins and a module's own state would be.
   */
  take(request: WorkerRequest): CellWorker | undefined {
    let spare: CellWorker | undefined;
    for (const worker of this.#idle.keys()) {
      if (worker.hasExited || !covers(worker.profile, request.profile)) continue;
      if (worker.served === undefined) spare ??= worker;
      else if (request.stateless && worker.served === request.module) {
        this.#remove(worker);
        return worker;
      }
    }
    if (spare) this.#remove(spare);
    return spare;
  }

  /** Puts a worker on the shelf that served and is clean. */
  give(worker: CellWorker): void {
    if (this.#closed || worker.hasExited) {
      void worker.kill(this.#options.killTimeoutMs);
      return;
    }
    this.#idle.set(
      worker,
      after(() => {
        this.#end(worker);
      }, IDLE_MS).unref(),
    );
    for (const oldest of this.#idle.keys()) {
      if (this.#idle.size <= this.#options.maxIdle + this.#options.spareCells) break;
      this.#end(oldest);
    }
  }

  /** Starts spares of a profile, unless there are enough that fit. */
  stock(profile: WorkerProfile): void {
    const fresh = [...this.#idle.keys(), ...this.#warming].filter(
      (worker) => !worker.hasExited && worker.served === undefined && covers(worker.profile, profile),
    );
    for (let missing = this.#options.spareCells - fresh.length; missing > 0 && !this.#closed; missing--) {
      void this.#warm(new CellWorker(profile));
    }
  }

  /** Ends the workers that have loaded a module, whose file may have changed. */
  forget(module: string): void {
    for (const worker of this.#idle.keys()) if (worker.served === module) this.#end(worker);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const workers = [...this.#idle.keys(), ...this.#warming];
    for (const worker of workers) this.#remove(worker);
    await Promise.all(workers.map((worker) => worker.kill(this.#options.killTimeoutMs)));
  }

  async #warm(worker: CellWorker): Promise<void> {
    this.#warming.add(worker);
    // A spare of an older profile is of no more use once this one is up.
    const outdated = [...this.#idle.keys()].filter(
      (other) => other.served === undefined && !covers(other.profile, worker.profile),
    );
    try {
      await worker.warm();
      this.#warming.delete(worker);
      if (this.#closed) await worker.kill(this.#options.killTimeoutMs);
      else this.#idle.set(worker, undefined);
    } catch {
      // A spare that does not come up is no loss: the start that would have taken it tells what is wrong.
      this.#warming.delete(worker);
      await worker.kill(this.#options.killTimeoutMs);
    }
    for (const other of outdated) if (this.#idle.has(other)) this.#end(other);
  }

  #end(worker: CellWorker): void {
    this.#remove(worker);
    void worker.kill(this.#options.killTimeoutMs);
  }

  #remove(worker: CellWorker): void {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
  }
}

function covers(has: WorkerProfile, wanted: WorkerProfile): boolean {
  return has.key === wanted.key && [...wanted.code].every((path) => has.code.has(path));
}
