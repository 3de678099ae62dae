/** How long until a tool is ready in a plan? */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolRuntime } from "../src/index.js";
import { startBareSpare, startBareWorker, useBareSpare } from "./peers/bare-worker.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { interleave, millisecondsOf } from "./support/rounds.js";
import { stampSpec } from "./tools/stamp.js";

const module = new URL("./tools/stamp.js", import.meta.url);
/** Long enough for a spare to come up on a busy machine. */
const SPARE_MS = 400;

export const benchmark: Benchmark = {
  title: "Activation",
  how:
    "activate and the first call in a new plan. Warm: on a worker that served the tool before, or on a spare started ahead. " +
    "Cold: on a new worker, against `new Worker` that loads host.cjs and the tool and answers once.",
  run,
};

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  // A worker of a tool that keeps nothing is leased again.
  await using again = runtimeFor(0, { stateless: true });
  // A worker of an untrusted tool is never leased again, so every activation takes a fresh one.
  await using spare = runtimeFor(1, { trusted: false });
  await using cold = runtimeFor(0, { trusted: false });
  await firstCall(again);
  const figures = await interleave(
    [
      { name: "again", measure: () => firstCall(again) },
      {
        name: "spare",
        measure: async () => {
          await sleep(SPARE_MS);
          return firstCall(spare);
        },
      },
      { name: "bare spare", measure: bareSpare },
      { name: "cold", measure: () => firstCall(cold) },
      { name: "bare", measure: bareWorker },
    ],
    { rounds, samples: quick ? 1 : 4 },
  );
  const samples = (name: string): number[] => figures[name] ?? [];
  return [
    row({
      what: "warm, a worker that served before",
      unit: "ms",
      samples: samples("again"),
      bar: { of: "measured", atMost: 3 },
    }),
    row({
      what: "warm, a spare that loads the module",
      unit: "ms",
      samples: samples("spare"),
      peer: { name: "bare worker", samples: samples("bare spare") },
      bar: { of: "measured", atMost: 3 },
    }),
    row({
      what: "cold, a new worker",
      unit: "ms",
      samples: samples("cold"),
      peer: { name: "new Worker", samples: samples("bare") },
      bar: { of: "ratio", atMost: 1.3 },
    }),
  ];
}

const name = "bench/stamp";

function runtimeFor(spareCells: number, { stateless = false, trusted = true }): ToolRuntime {
  const runtime = new ToolRuntime({ spareCells });
  runtime.register(stampSpec(name, stateless), { module, trusted });
  return runtime;
}

let plans = 0;

async function firstCall(runtime: ToolRuntime): Promise<number> {
  await using plan = runtime.plan({ planId: `plan-${++plans}` });
  return await millisecondsOf(async () => {
    await plan.activate(name);
    await plan.execute(name, {});
  });
}

async function bareWorker(): Promise<number> {
  const begin = performance.now();
  const worker = await startBareWorker(module);
  const time = performance.now() - begin;
  await worker.terminate();
  return time;
}

async function bareSpare(): Promise<number> {
  const worker = await startBareSpare();
  await sleep(SPARE_MS / 4);
  const time = await millisecondsOf(() => useBareSpare(worker, module));
  await worker.terminate();
  return time;
}
