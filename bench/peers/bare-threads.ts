/** Bare threads that share a heap of work: what the machine gives when nothing is between it and the work. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Work } from "../tools/work.js";

/** Some bare threads. */
export class BareThreads {
  readonly #workers: Worker[];

  private constructor(workers: Worker[]) {
    this.#workers = workers;
  }

  static async start(count: number): Promise<BareThreads> {
    const url = new URL("./work-worker.js", import.meta.url);
    const workers = Array.from({ length: count }, () => new Worker(url));
    await Promise.all(workers.map((worker) => once(worker, "online")));
    return new BareThreads(workers);
  }

  /** Gives every thread its next piece as soon as it is done with one. */
  async share(pieces: number, work: Work): Promise<void> {
    let left = pieces;
    await Promise.all(
      this.#workers.map(async (worker) => {
        while (left-- > 0) {
          const done = once(worker, "message");
          worker.postMessage(work);
          await done;
        }
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
