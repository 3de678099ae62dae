/** How soon does a tool hear that it should stop, and how soon does one end that will not? */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolExecutionContext, ToolRuntime, type LogEvent } from "../src/index.js";
import { BarePoll } from "./peers/bare-poll.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { interleave, millisecondsOf, repeat } from "./support/rounds.js";
import { quantile } from "./support/statistics.js";
import { spec, type Stoppable } from "./tools/stoppable.js";

const GRACE_MS = 100;

export const benchmark: Benchmark = {
  title: "Cancel",
  how:
    "From AbortController.abort on the main thread to the moment at which the tool sees it; what a poll costs; " +
    `and, with a grace of ${GRACE_MS} ms, when a call of \`for (;;);\` is settled and the next one served.`,
  run,
};

async function run(effort: Effort): Promise<Row[]> {
  await using runtime = new ToolRuntime({ graceMs: GRACE_MS, spareCells: 0 });
  runtime.register(spec, { module: new URL("./tools/stoppable.js", import.meta.url) });
  const caller = new Caller(runtime);
  await caller.call({ how: "once" });
  return [...(await cooperative(caller, effort)), ...(await prices(caller, effort)), ...(await kills(caller, effort))];
}

async function cooperative(caller: Caller, { quick }: Effort): Promise<Row[]> {
  const times = quick ? 40 : 300;
  const poll: number[] = [];
  const bare: number[] = [];
  const thread = new BarePoll();
  for (let time = 0; time < times; time++) {
    poll.push(await caller.untilSeen("poll"));
    bare.push(await thread.untilSeen(settle));
  }
  await thread.close();
  const peer = { name: "bare word", samples: bare };
  const signal = await repeat(times, () => caller.untilSeen("signal"));
  const p99 = (samples: readonly number[]): number => quantile(samples, 0.99);
  return [
    row({ what: "flag set → seen by a poll, median", unit: "ms", samples: poll, peer }),
    row({
      what: "flag set → seen by a poll, p99",
      unit: "ms",
      samples: poll,
      peer,
      figure: p99,
      bar: { of: "measured", atMost: 1 },
    }),
    row({ what: "flag set → signal aborts, median", unit: "ms", samples: signal }),
    row({ what: "flag set → signal aborts, p99", unit: "ms", samples: signal, figure: p99 }),
  ];
}

async function prices(caller: Caller, { rounds, quick }: Effort): Promise<Row[]> {
  const polls = quick ? 3_000_000 : 10_000_000;
  const poll: number[] = [];
  const load: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const price = (await caller.call({ how: "price", polls })) as { poll: number; load: number };
    poll.push(price.poll);
    load.push(price.load);
  }
  return [
    row({
      what: "a poll",
      unit: "ns",
      samples: poll,
      peer: { name: "Atomics.load", samples: load },
      bar: { of: "measured", atMost: 20 },
    }),
  ];
}

async function kills(caller: Caller, { rounds }: Effort): Promise<Row[]> {
  const afterKill: number[] = [];
  const figures = await interleave(
    [
      {
        name: "settled",
        measure: async () => {
          const settled = await caller.untilSettled();
          afterKill.push(await millisecondsOf(() => caller.call({ how: "once" })));
          return settled;
        },
      },
      { name: "cold", measure: () => caller.coldCall() },
    ],
    { rounds, warmup: 0 },
  );
  return [
    row({
      what: "never stops: cancel → settled",
      unit: "ms",
      samples: figures["settled"] ?? [],
      bar: { of: "measured", atMost: GRACE_MS + 50 },
    }),
    row({
      what: "the next call",
      unit: "ms",
      samples: afterKill.slice(0, rounds),
      peer: { name: "cold first call", samples: figures["cold"] ?? [] },
      bar: { of: "ratio", atMost: 1.3 },
    }),
  ];
}

/** Both threads are past their messages, and none is measured with one. */
function settle(): Promise<void> {
  return sleep(2);
}

class Caller {
  readonly #runtime: ToolRuntime;
  readonly #context = new ToolExecutionContext({ planId: "cancel" });
  #others = 0;

  constructor(runtime: ToolRuntime) {
    this.#runtime = runtime;
  }

  async call(input: Stoppable): Promise<unknown> {
    return (await this.#runtime.execute(spec.name, input, this.#context)).output;
  }

  /** The first call of a plan that has no worker yet. */
  async coldCall(): Promise<number> {
    await using plan = this.#runtime.plan({ planId: `cold-${++this.#others}` });
    return await millisecondsOf(() => plan.execute(spec.name, { how: "once" }));
  }

  /** Milliseconds from the abort until the tool has seen it. */
  async untilSeen(how: "poll" | "signal"): Promise<number> {
    const { controller, call } = await this.#running(how);
    await settle();
    const seen = this.#logged("seen");
    const begin = performance.now();
    controller.abort();
    const at = (await seen).data as number;
    await call.catch(() => undefined);
    return at - begin;
  }

  /** Milliseconds from the abort until the call of a tool that never stops has ended. */
  async untilSettled(): Promise<number> {
    const { controller, call } = await this.#running("never");
    return await millisecondsOf(async () => {
      controller.abort();
      await call.catch(() => undefined);
    });
  }

  async #running(how: Stoppable["how"]): Promise<{ controller: AbortController; call: Promise<unknown> }> {
    const controller = new AbortController();
    const running = this.#logged("running");
    const call = this.#runtime.execute(spec.name, { how }, this.#context, { signal: controller.signal });
    call.catch(() => undefined);
    await Promise.race([running, call]);
    return { controller, call };
  }

  #logged(message: string): Promise<LogEvent> {
    return new Promise((resolve) => {
      const hear = (event: LogEvent): void => {
        if (event.message !== message) return;
        this.#runtime.off("log", hear);
        resolve(event);
      };
      this.#runtime.on("log", hear);
    });
  }
}
