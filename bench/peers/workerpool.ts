/** workerpool as a peer. */
import { fileURLToPath } from "node:url";
import workerpool from "workerpool";
import type { Hung, Peer, PeerKind } from "./peer.js";
import { runningWord, untilRunning } from "./running.js";

const script = fileURLToPath(new URL("./workerpool-worker.js", import.meta.url));

/** workerpool, which gives a cancelled task so many milliseconds before its thread is terminated. */
export function workerpoolPeer(graceMs: number): PeerKind {
  return {
    name: "workerpool",
    pool: true,
    stops: `promise.cancel(), which rejects at once and terminates the thread after workerTerminateTimeout, ${graceMs} ms here`,
    settles: true,
    handsBack: true,
    start: () => new Workerpool(graceMs),
  };
}

class Workerpool implements Peer {
  readonly #pool;

  constructor(workerTerminateTimeout: number) {
    this.#pool = workerpool.pool(script, {
      minWorkers: 1,
      maxWorkers: 1,
      workerType: "thread",
      workerTerminateTimeout,
    });
  }

  async echo(value: unknown): Promise<unknown> {
    return await this.#pool.exec("echo", [value]);
  }

  async copy(data: ArrayBuffer): Promise<unknown> {
    return await this.#pool.exec("echo", [data]);
  }

  async handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return (await this.#pool.exec("passOn", [data], { transfer: [data] })) as ArrayBuffer;
  }

  async hang(): Promise<Hung> {
    const running = runningWord();
    const call = this.#pool.exec("hang", [running]);
    const ended = call.catch(() => undefined);
    await untilRunning(running);
    return {
      stop: async () => {
        call.cancel();
        await ended;
      },
      next: () => this.echo(0),
    };
  }

  async close(): Promise<void> {
    await this.#pool.terminate(true);
  }
}
