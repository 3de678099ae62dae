/** What does a live cell cost in memory? */
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { ToolRuntime } from "../src/index.js";
import { startBareWorker } from "./peers/bare-worker.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { stampSpec } from "./tools/stamp.js";

const CELLS = 16;
const MB = 1024 * 1024;
const module = new URL("./tools/stamp.js", import.meta.url);

export const benchmark: Benchmark = {
  title: "Memory",
  how:
    `Resident memory of the process with ${CELLS} more live cells, each after one call, by the cell; ` +
    "against bare workers that load host.cjs and the tool. What the first cells cost once is not counted.",
  run,
};

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  await using runtime = new ToolRuntime({ spareCells: 0, maxLiveCells: CELLS * 2 + 2 });
  runtime.register(stampSpec("bench/stamp", false), { module, trusted: false });
  const cells: number[] = [];
  const bare: number[] = [];
  // What a process takes once, and the allocator's first arenas, are no cell's.
  await grownBy(() => cellsOf(runtime));
  await grownBy(bareWorkers);
  for (let round = 0; round < (quick ? 3 : rounds); round++) {
    cells.push(await grownBy(() => cellsOf(runtime)));
    bare.push(await grownBy(bareWorkers));
  }
  return [
    row({
      what: "a live cell",
      unit: "MB",
      samples: cells,
      peer: { name: "new Worker", samples: bare },
      bar: { of: "measured", atMost: 10 },
    }),
  ];
}

/** Starts something, weighs it and ends it. @returns megabytes by the cell */
async function grownBy(start: () => Promise<() => Promise<void>>): Promise<number> {
  const before = await weigh();
  const end = await start();
  const after = await weigh();
  await end();
  return (after - before) / CELLS / MB;
}

async function weigh(): Promise<number> {
  (globalThis as { gc?: () => void }).gc?.();
  await sleep(150);
  return process.memoryUsage.rss();
}

let lastPlan = 0;

async function cellsOf(runtime: ToolRuntime): Promise<() => Promise<void>> {
  const plans = Array.from({ length: CELLS }, () => runtime.plan({ planId: `plan-${++lastPlan}` }));
  for (const plan of plans) await plan.execute("bench/stamp", {});
  return async () => {
    await Promise.all(plans.map((plan) => plan.deactivate()));
  };
}

async function bareWorkers(): Promise<() => Promise<void>> {
  const workers: Worker[] = [];
  for (let count = 0; count < CELLS; count++) workers.push(await startBareWorker(module));
  return async () => {
    await Promise.all(workers.map((worker) => worker.terminate()));
  };
}
