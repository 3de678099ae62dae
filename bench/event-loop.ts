/** Does the host stay responsive while tools keep every core busy? */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolRuntime } from "../src/index.js";
import { BareThreads } from "./peers/bare-threads.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { turnsFor } from "./support/burn.js";
import { cores } from "./support/machine.js";
import { workSpec } from "./tools/work.js";

const PLANS = 100;
/** Milliseconds of one call. */
const CALL_MS = 5;
/** The monitor's own interval, which is part of every reading. */
const INTERVAL_MS = 10;
const TOOL = "bench/work";

export const benchmark: Benchmark = {
  title: "Event loop",
  how:
    `Delay of the host's event loop as monitorEventLoopDelay reads it (its interval of ${INTERVAL_MS} ms included): idle, with bare threads ` +
    `busy on ${cores} cores, and with ${PLANS} plans of a tool that does ${CALL_MS} ms of work a call in ${cores} cells.`,
  run,
};

interface Delay {
  readonly p50: number;
  readonly p99: number;
}

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  const turns = turnsFor(CALL_MS);
  const millisecondsLong = quick ? 300 : 1_200;
  const pieces = Math.round((millisecondsLong / CALL_MS) * cores);
  await using runtime = new ToolRuntime({ spareCells: 0, maxLiveCells: cores });
  runtime.register(workSpec(TOOL, { stateless: true }), { module: new URL("./tools/work.js", import.meta.url) });
  const threads = await BareThreads.start(cores);
  try {
    const callsPerPlan = Math.max(1, Math.round(pieces / PLANS));
    await busyPlans(runtime, turns, 1);
    const idle: Delay[] = [];
    const bare: Delay[] = [];
    const busy: Delay[] = [];
    for (let round = 0; round < rounds; round++) {
      idle.push(await delayDuring(() => sleep(millisecondsLong)));
      bare.push(await delayDuring(() => threads.share(pieces, { turns })));
      busy.push(await delayDuring(() => busyPlans(runtime, turns, callsPerPlan)));
    }
    return [...rowsOf("p50", { idle, bare, busy }), ...rowsOf("p99", { idle, bare, busy })];
  } finally {
    await threads.close();
  }
}

function rowsOf(figure: keyof Delay, delays: Readonly<Record<"idle" | "bare" | "busy", readonly Delay[]>>): Row[] {
  const of = (name: keyof typeof delays): number[] => delays[name].map((delay) => delay[figure]);
  const high = figure === "p99";
  return [
    row({
      what: `${figure}, busy plans`,
      name: "busy plans",
      unit: "ms",
      samples: of("busy"),
      peer: { name: "bare threads", samples: of("bare") },
      ...(high && { bar: { of: "measured", atMost: 20 } as const }),
    }),
    row({
      what: `${figure}, busy plans against idle`,
      name: "busy plans",
      unit: "ms",
      samples: of("busy"),
      peer: { name: "idle", samples: of("idle") },
      ...(high && { bar: { of: "ratio", atMost: 2 } as const }),
    }),
  ];
}

async function delayDuring(work: () => Promise<unknown>): Promise<Delay> {
  const histogram = monitorEventLoopDelay({ resolution: INTERVAL_MS });
  histogram.enable();
  await work();
  histogram.disable();
  return { p50: histogram.percentile(50) / 1e6, p99: histogram.percentile(99) / 1e6 };
}

let lastPlan = 0;

async function busyPlans(runtime: ToolRuntime, turns: number, callsPerPlan: number): Promise<void> {
  await Promise.all(
    Array.from({ length: PLANS }, async () => {
      await using plan = runtime.plan({ planId: `plan-${++lastPlan}` });
      await Promise.all(Array.from({ length: callsPerPlan }, () => plan.execute(TOOL, { turns })));
    }),
  );
}
