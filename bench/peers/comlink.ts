/** comlink alone as a peer: a thread, and calls to it. */
import { MessageChannel, Worker } from "node:worker_threads";
import { releaseProxy, transfer, wrap, type Remote } from "comlink";
import type { Service } from "./comlink-worker.js";
import type { Hung, Peer, PeerKind } from "./peer.js";
import { runningWord, untilRunning } from "./running.js";

export const comlink: PeerKind = {
  name: "comlink",
  pool: false,
  stops: "cannot: its thread is terminated and another one started",
  settles: false,
  handsBack: true,
  start: () => new Comlink(),
};

class Comlink implements Peer {
  #thread = newThread();

  echo(value: unknown): Promise<unknown> {
    return this.#thread.remote.echo(value);
  }

  copy(data: ArrayBuffer): Promise<unknown> {
    return this.#thread.remote.echo(data);
  }

  handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    return this.#thread.remote.passOn(transfer(data, [data]));
  }

  async hang(): Promise<Hung> {
    const running = runningWord();
    const { worker, remote } = this.#thread;
    void remote.hang(running);
    await untilRunning(running);
    return {
      stop: async () => {
        await worker.terminate();
        this.#thread = newThread();
      },
      next: () => this.echo(0),
    };
  }

  close(): Promise<unknown> {
    this.#thread.remote[releaseProxy]();
    return this.#thread.worker.terminate();
  }
}

function newThread(): { readonly worker: Worker; readonly remote: Remote<Service> } {
  const { port1, port2 } = new MessageChannel();
  const url = new URL("./comlink-worker.js", import.meta.url);
  const worker = new Worker(url, { workerData: port2, transferList: [port2] });
  return { worker, remote: wrap<Service>(port1) };
}
