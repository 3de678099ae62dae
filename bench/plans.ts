/** Do many plans at once cost throughput, and is any of them left behind? */
import { ToolRuntime } from "../src/index.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { cores } from "./support/machine.js";
import { median } from "./support/statistics.js";
import { workSpec } from "./tools/work.js";

const TOOLS = ["bench/first", "bench/second", "bench/third"] as const;
/** Each plan calls each of its tools this often, all three at a time. */
const TURNS_PER_PLAN = 3;
const CALLS_PER_PLAN = TURNS_PER_PLAN * TOOLS.length;

export const benchmark: Benchmark = {
  title: "Many plans",
  how:
    `Plans begun together, each calling its 3 stateless tools at a time, ${TURNS_PER_PLAN} times; live cells bounded to ${cores * 2}. ` +
    "Calls a second, activations included, and the slowest plan's time over the median plan's.",
  run,
};

interface Outcome {
  readonly callsPerSecond: number;
  readonly slowest: number;
}

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  const counts = quick ? [1, 10, 100, 200] : [1, 10, 100, 1_000];
  const most = counts.at(-1) ?? 1_000;
  await using runtime = new ToolRuntime({ spareCells: 0, maxLiveCells: cores * 2 });
  const module = new URL("./tools/work.js", import.meta.url);
  for (const name of TOOLS) runtime.register(workSpec(name, { stateless: true }), { module });
  const outcomes = new Map(counts.map((count) => [count, [] as Outcome[]]));
  await runPlans(runtime, 10);
  // The largest load takes seconds, so it has fewer rounds; each is next to one of the load that it is compared with.
  const largeRounds = quick ? 3 : 5;
  for (let round = 0; round < rounds; round++) {
    for (const count of counts) {
      if (count === most && round >= largeRounds) continue;
      outcomes.get(count)?.push(await runPlans(runtime, count));
    }
  }
  const samples = (count: number, field: keyof Outcome): number[] =>
    (outcomes.get(count) ?? []).map((outcome) => outcome[field]);
  return counts.flatMap((count) => [
    row({
      what: count === 1 ? "1 plan, throughput" : `${count} plans, throughput`,
      name: count === 1 ? "1 plan" : `${count} plans`,
      unit: "calls/s",
      samples: samples(count, "callsPerSecond"),
      ...(count !== 10 && {
        peer: { name: "10 plans", samples: samples(10, "callsPerSecond").slice(0, samples(count, "slowest").length) },
      }),
      ...(count === most && { bar: { of: "ratio", atLeast: 0.7 } as const }),
    }),
    ...(count === 1
      ? []
      : [
          row({
            what: `${count} plans, slowest over median`,
            unit: "×",
            samples: samples(count, "slowest"),
            bar: { of: "measured", atMost: 2 },
          }),
        ]),
  ]);
}

let lastPlan = 0;

async function runPlans(runtime: ToolRuntime, count: number): Promise<Outcome> {
  const begin = performance.now();
  const times = await Promise.all(
    Array.from({ length: count }, async () => {
      await using plan = runtime.plan({ planId: `plan-${++lastPlan}` });
      for (let turn = 0; turn < TURNS_PER_PLAN; turn++) {
        await Promise.all(TOOLS.map((tool) => plan.execute(tool, {})));
      }
      return performance.now() - begin;
    }),
  );
  const slowest = Math.max(...times);
  return { callsPerSecond: (count * CALLS_PER_PLAN * 1_000) / slowest, slowest: slowest / median(times) };
}
