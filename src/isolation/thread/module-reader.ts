/** Reads the specification that a module brings, in a worker without grants that is ended afterwards. */
import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { ToolActivationError } from "../../protocol/errors.js";
import type { CellCall, CellObserver } from "../../runtime/cell.js";
import { emptyGrant } from "../../runtime/grant.js";
import { codeFiles } from "./code-files.js";
import { ThreadCell, type LeaseSettings } from "./lease.js";
import { CellWorker } from "./worker-pool.js";
import { workerProfile } from "./worker-profile.js";

/** A module on this host. */
export interface ModuleAt {
  readonly url: string;
  readonly codeFiles: readonly string[];
}

/** Hears nothing of a cell that is only described. */
const DEAF: CellObserver<CellCall> = {
  answered: () => undefined,
  refused: () => undefined,
  told: () => undefined,
  asked: () => Promise.reject(new Error("nothing can be asked here")),
  stray: () => undefined,
};

/** Reads specifications, as many at one time as there are cores: a thousand modules may be registered in one go. */
export class ModuleReader {
  readonly #memoryMb: number;
  readonly #settings: LeaseSettings;
  readonly #turns = pLimit(availableParallelism());
  readonly #closing = new AbortController();
  readonly #readings = new Set<Promise<unknown>>();

  constructor(memoryMb: number, settings: LeaseSettings) {
    this.#memoryMb = memoryMb;
    this.#settings = settings;
  }

  /**
   * @param timeoutMs milliseconds that the reading may take from its turn on
   * @throws ToolActivationError
   */
  async read(module: ModuleAt, timeoutMs: number): Promise<unknown> {
    const reading = this.#turns(() => this.#read(module, timeoutMs));
    this.#readings.add(reading);
    try {
      return await reading;
    } finally {
      this.#readings.delete(reading);
    }
  }

  /** Ends the readings under way. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#readings);
  }

  async #read({ url, codeFiles: named }: ModuleAt, timeoutMs: number): Promise<unknown> {
    const { signal } = this.#closing;
    const grant = emptyGrant(this.#memoryMb);
    try {
      signal.throwIfAborted();
      const profile = workerProfile(grant, await codeFiles(url, named));
      signal.throwIfAborted();
      return await ThreadCell.describe(
        new CellWorker(profile),
        {
          toolName: url,
          source: { kind: "module", url, codeFiles: named },
          grant,
          activation: { toolName: url, planId: "", traceId: "0".repeat(32), resources: [] },
          stateless: false,
          trusted: false,
          observer: DEAF,
          signal,
          timeoutMs,
        },
        this.#settings,
      );
    } catch (cause) {
      if (cause instanceof ToolActivationError && cause.message.includes(url)) throw cause;
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ToolActivationError(`The specification of the module "${url}" could not be read: ${message}`, {
        cause,
        ...(cause instanceof ToolActivationError && { code: cause.code }),
      });
    }
  }
}
