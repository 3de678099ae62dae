/** One worker: a Piscina pool of one thread. The only importer of piscina. */
import type { Transferable, Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import type { LeaseMessage, ReadyMessage } from "../../protocol/lease.js";
import type { ReleaseReport } from "../../protocol/messages.js";
import type { CellOrigin } from "../../runtime/cell.js";
import { HOST_FILE, STAND_IN, type WorkerProfile } from "./worker-profile.js";

/** How a worker ended. */
export interface WorkerExit {
  readonly exitCode: number;
  readonly error: Error | undefined;
}

/** A task that lasts as long as its lease. */
export interface WorkerLease {
  /** Resolves when the lease is released, rejects when its worker dies. */
  readonly done: Promise<ReleaseReport>;
}

/** One worker thread, leased to one activation at a time. */
export class CellWorker {
  readonly profile: WorkerProfile;
  /** The module it has loaded, in the state its file was in then. */
  served: string | undefined;
  /** What it is to its next lease. */
  origin: CellOrigin = "cold";
  /** Calls of the leases that are over. */
  calls = 0;
  /** Resolves when the thread has ended; Piscina forgets an aborted worker before that. */
  readonly exited: Promise<WorkerExit>;
  readonly #pool: Piscina;
  readonly #abort = new AbortController();
  #thread: Worker | undefined;
  #error: Error | undefined;
  readonly #onExit = new Set<(exit: WorkerExit) => void>();
  #exit!: (exit: WorkerExit) => void;
  #hasExited = false;
  #activeMs = 0;
  #broken = false;

  constructor(profile: WorkerProfile) {
    this.profile = profile;
    this.exited = new Promise((resolve) => (this.#exit = resolve));
    this.#pool = new Piscina({
      filename: HOST_FILE,
      // Piscina loads this export ahead; one that is missing would start the module loader for nothing.
      name: "ready",
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      maxQueue: 1,
      idleTimeout: Infinity,
      // Between tasks a worker in an atomic wait would freeze its timers and sockets.
      atomics: "disabled",
      recordTiming: false,
      execArgv: [...profile.execArgv],
      env: { ...profile.env },
      resourceLimits: { ...profile.resourceLimits },
      trackUnmanagedFds: true,
    });
    // Without a listener a stray message of the worker would end the host.
    this.#pool.on("error", () => undefined);
  }

  get threadId(): number | undefined {
    const id = this.#thread?.threadId;
    return id === undefined || id < 0 ? undefined : id;
  }

  /**
   * Milliseconds in which its event loop was not idle: its CPU time, and what it waited for without giving the loop back.
   * Of a thread that has ended, as it was last known.
   */
  get activeMs(): number {
    const { active = 0 } = this.#thread?.performance.eventLoopUtilization() ?? {};
    this.#activeMs = Math.max(this.#activeMs, active);
    return this.#activeMs;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /**
   * Calls a listener when the thread has ended. A lease takes its listener off when it is over: a
   * worker outlives many of them, and what waits for its end is kept until then.
   * @returns takes the listener off
   */
  onExit(listener: (exit: WorkerExit) => void): () => void {
    this.#onExit.add(listener);
    return () => this.#onExit.delete(listener);
  }

  /** Starts the thread and lets it rehearse a lease. Rejects when it does not come up. */
  async warm(): Promise<void> {
    const message: ReadyMessage = { module: STAND_IN, confinement: this.profile.confinement };
    await this.#run(message, "ready", []);
    this.origin = "spare";
  }

  /** Leases the worker, starting its thread where it does not run yet. */
  lease(message: LeaseMessage, transfer: readonly Transferable[]): WorkerLease {
    const done = this.#run(message, "lease", transfer) as Promise<ReleaseReport>;
    // Whoever waits for the end of the lease hears of it; nobody may be waiting.
    done.catch(() => undefined);
    return { done };
  }

  /**
   * Ends the thread by force.
   * @returns whether it has ended within the time; native code cannot be ended
   */
  async kill(timeoutMs: number): Promise<boolean> {
    // Piscina keeps a task whose thread could not be made, and ending it rejects a promise that nobody holds.
    if (this.#broken) return true;
    if (!this.#abort.signal.aborted) {
      // Nobody can ask it any more when it has ended.
      this.#activeMs = this.activeMs;
      this.#abort.abort();
      // A worker without a task is not reached by the signal.
      void this.#pool.destroy().catch(() => undefined);
    }
    if (!this.#thread) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false);
    });
    const ended = await Promise.race([this.exited.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  #run(task: unknown, name: string, transferList: readonly Transferable[]): Promise<unknown> {
    let done: Promise<unknown>;
    try {
      done = this.#pool.run(task, { name, signal: this.#abort.signal, transferList: [...transferList] as never });
    } catch (error) {
      this.#broken = true;
      return Promise.reject(error);
    }
    this.#watch();
    // A task whose worker dies while it starts is forgotten by the pool.
    return new Promise((resolve, reject) => {
      const off = this.onExit(({ exitCode, error }) => {
        reject(error ?? new Error(`the worker ended with exit code ${exitCode}`));
      });
      done.then(resolve, reject).finally(off);
    });
  }

  #watch(): void {
    if (this.#thread) return;
    const [thread] = this.#pool.threads;
    if (!thread) return;
    this.#thread = thread;
    thread.on("error", (error: Error) => (this.#error ??= error));
    thread.on("exit", (exitCode) => {
      this.#hasExited = true;
      const exit = { exitCode, error: this.#error };
      for (const listener of this.#onExit) listener(exit);
      this.#onExit.clear();
      this.#exit(exit);
    });
  }
}
