/** poolifier as a peer. */
import { fileURLToPath } from "node:url";
import { FixedThreadPool } from "poolifier";
import type { Hung, Peer, PeerKind } from "./peer.js";
import { runningWord, untilRunning } from "./running.js";

const file = fileURLToPath(new URL("./poolifier-worker.js", import.meta.url));

export const poolifier: PeerKind = {
  name: "poolifier",
  pool: true,
  stops:
    "cannot: its abort is a message to the busy thread; the pool is destroyed, which takes a second, and made anew",
  settles: false,
  handsBack: false,
  start: () => new Poolifier(),
};

class Poolifier implements Peer {
  #thread = newThread();

  echo(value: unknown): Promise<unknown> {
    return this.#thread.pool.execute(value, "echo");
  }

  copy(data: ArrayBuffer): Promise<unknown> {
    return this.#thread.pool.execute(data, "echo");
  }

  async handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return (await this.#thread.pool.execute(data, "echo", undefined, [data])) as ArrayBuffer;
  }

  async hang(): Promise<Hung> {
    const running = runningWord();
    this.#thread.pool.execute(running, "hang").catch(() => undefined);
    await untilRunning(running);
    return {
      stop: async () => {
        await this.close();
        this.#thread = newThread();
      },
      next: () => this.echo(0),
    };
  }

  /** Its own promise never resolves where the thread has ended before it is waited for. */
  async close(): Promise<void> {
    const { pool, exited } = this.#thread;
    await Promise.race([pool.destroy(), exited]);
  }
}

interface Thread {
  readonly pool: FixedThreadPool;
  readonly exited: Promise<void>;
}

function newThread(): Thread {
  let exitHandler = (): void => {};
  const exited = new Promise<void>((resolve) => (exitHandler = resolve));
  return { pool: new FixedThreadPool(1, file, { exitHandler }), exited };
}
