/** A bare thread that polls a shared word: how soon a flag can be seen on this machine at all. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** One such thread. */
export class BarePoll {
  readonly #words = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker = new Worker(new URL("./poll-worker.js", import.meta.url), { workerData: this.#words });

  /** Lets it poll, then sets the word. @returns milliseconds until it was seen */
  async untilSeen(settle: () => Promise<unknown>): Promise<number> {
    const running = once(this.#worker, "message");
    this.#worker.postMessage(Atomics.load(this.#words, 0));
    await running;
    await settle();
    const seen = once(this.#worker, "message") as Promise<[number]>;
    const begin = performance.now();
    Atomics.add(this.#words, 0, 1);
    const [at] = await seen;
    return at - begin;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
