/** A bare thread as a peer: `postMessage`, and an id for each call. */
import type { Hung, Peer, PeerKind } from "./peer.js";
import { RawEcho } from "./raw-echo.js";
import { runningWord, untilRunning } from "./running.js";

export const postMessage: PeerKind = {
  name: "postMessage",
  pool: false,
  stops: "cannot: its thread is terminated and another one started",
  settles: false,
  handsBack: true,
  start: () => new PostMessage(),
};

class PostMessage implements Peer {
  #raw = new RawEcho();

  echo(value: unknown): Promise<unknown> {
    return this.#raw.call(value);
  }

  copy(data: ArrayBuffer): Promise<unknown> {
    return this.#raw.call(data);
  }

  handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return this.#raw.handOver(data);
  }

  async hang(): Promise<Hung> {
    const running = runningWord();
    this.#raw.hang(running);
    await untilRunning(running);
    return {
      stop: async () => {
        await this.#raw.close();
        this.#raw = new RawEcho();
      },
      next: () => this.echo(0),
    };
  }

  close(): Promise<void> {
    return this.#raw.close();
  }
}
