/** Piscina and tinypool as peers: tinypool is made after Piscina, and both are called in one way. */
import { Piscina } from "piscina";
import { Tinypool } from "tinypool";
import type { Hung, Peer, PeerKind } from "./peer.js";
import { runningWord, untilRunning } from "./running.js";

interface RunOptions {
  readonly name?: string;
  readonly filename?: string;
  readonly signal?: AbortSignal;
  readonly transferList?: ArrayBuffer[];
}

interface Pool {
  run(task: unknown, options?: RunOptions): Promise<unknown>;
  destroy(): Promise<void>;
}

const urlOf = (file: string): string => new URL(`./${file}.js`, import.meta.url).href;
const ONE_THREAD = { filename: urlOf("echo-task"), minThreads: 1, maxThreads: 1 };

function kind(name: string, passOn: string, create: () => Pool): PeerKind {
  return {
    name,
    pool: true,
    stops: "AbortSignal, which terminates the thread at once",
    settles: true,
    handsBack: true,
    start: () => new TaskPool(create(), urlOf(passOn)),
  };
}

/** Piscina, with so many tasks at a time in its one thread. */
export function piscina(name: string, concurrentTasksPerWorker = 1): PeerKind {
  return kind(name, "piscina-pass-on", () => new Piscina({ ...ONE_THREAD, concurrentTasksPerWorker }));
}

/** tinypool, with so many tasks at a time in its one thread. */
export function tinypool(name: string, concurrentTasksPerWorker = 1): PeerKind {
  return kind(name, "tinypool-pass-on", () => new Tinypool({ ...ONE_THREAD, concurrentTasksPerWorker }));
}

class TaskPool implements Peer {
  readonly #pool: Pool;
  readonly #passOn: string;

  constructor(pool: Pool, passOn: string) {
    this.#pool = pool;
    this.#passOn = passOn;
  }

  echo(value: unknown): Promise<unknown> {
    return this.#pool.run(value);
  }

  copy(data: ArrayBuffer): Promise<unknown> {
    return this.#pool.run(data);
  }

  async handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return (await this.#pool.run(data, { filename: this.#passOn, transferList: [data] })) as ArrayBuffer;
  }

  async hang(): Promise<Hung> {
    const running = runningWord();
    const controller = new AbortController();
    const call = this.#pool.run(running, { name: "hang", signal: controller.signal }).catch(() => undefined);
    await untilRunning(running);
    return {
      stop: () => {
        controller.abort();
        return call;
      },
      next: () => this.echo(0),
    };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
