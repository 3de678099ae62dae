/** Main's side of the bare echo worker. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RawCall } from "./echo-worker.js";

/** Calls a bare worker by `postMessage`, with an id per call and nothing else. */
export class RawEcho {
  readonly #worker = new Worker(new URL("./echo-worker.js", import.meta.url));
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #lastId = 0;

  constructor() {
    this.#worker.on("message", ({ id, value }: { id: number; value: unknown }) => {
      const resolve = this.#waiting.get(id);
      this.#waiting.delete(id);
      resolve?.(value);
    });
  }

  async started(): Promise<this> {
    await once(this.#worker, "online");
    return this;
  }

  call(value: unknown): Promise<unknown> {
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, value } satisfies RawCall);
    });
  }

  /** The buffer changes hands on both ways. */
  handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, (value) => resolve(value as ArrayBuffer));
      this.#worker.postMessage({ id, value: data, transfer: [data] } satisfies RawCall, [data]);
    });
  }

  /** Keeps the thread busy for ever. */
  hang(running: Int32Array): void {
    this.#worker.postMessage({ id: 0, value: 0, hang: running } satisfies RawCall);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
