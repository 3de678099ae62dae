/** toolcell as a peer: one cell for each of the tools, with validation, gates and trace. */
import { ToolExecutionContext, ToolRuntime } from "../../src/index.js";
import { spec as echoSpec } from "../tools/echo.js";
import { spec as passOnSpec, type Load } from "../tools/pass-on.js";
import { spec as stoppableSpec, type Stoppable } from "../tools/stoppable.js";
import type { Hung, Peer, PeerKind } from "./peer.js";

const moduleOf = (tool: string): URL => new URL(`../tools/${tool}.js`, import.meta.url);

/** toolcell with so long a grace, in milliseconds, between the request to stop and the kill. */
export function toolcell(name: string, graceMs: number): PeerKind {
  return {
    name,
    pool: true,
    stops: `AbortSignal; a tool that has not stopped after ${graceMs} ms is killed`,
    settles: true,
    handsBack: true,
    start: () => new Toolcell(graceMs),
  };
}

class Toolcell implements Peer {
  readonly #runtime: ToolRuntime;
  readonly #context = new ToolExecutionContext({ planId: "peers" });

  constructor(graceMs: number) {
    this.#runtime = new ToolRuntime({ graceMs, spareCells: 0 });
    this.#runtime.register(echoSpec, { module: moduleOf("echo") });
    this.#runtime.register(passOnSpec, { module: moduleOf("pass-on") });
    this.#runtime.register(stoppableSpec, { module: moduleOf("stoppable") });
  }

  echo(value: unknown): Promise<unknown> {
    return this.#runtime.execute(echoSpec.name, value, this.#context);
  }

  copy(data: ArrayBuffer): Promise<unknown> {
    return this.#runtime.execute(passOnSpec.name, { data, copy: true }, this.#context);
  }

  async handOver(data: ArrayBuffer): Promise<ArrayBuffer> {
    const { output } = await this.#runtime.execute(passOnSpec.name, { data }, this.#context, { transfer: [data] });
    return (output as Load).data;
  }

  async hang(): Promise<Hung> {
    const controller = new AbortController();
    const running = this.#logged();
    const call = this.#stoppable("never", controller.signal).catch(() => undefined);
    await running;
    return {
      stop: () => {
        controller.abort();
        return call;
      },
      next: () => this.#stoppable("once"),
    };
  }

  async close(): Promise<void> {
    await this.#runtime.close();
  }

  #logged(): Promise<void> {
    return new Promise((resolve) => {
      const hear = (): void => {
        this.#runtime.off("log", hear);
        resolve();
      };
      this.#runtime.on("log", hear);
    });
  }

  #stoppable(how: Stoppable["how"], signal?: AbortSignal): Promise<unknown> {
    return this.#runtime.execute(stoppableSpec.name, { how }, this.#context, signal && { signal });
  }
}
