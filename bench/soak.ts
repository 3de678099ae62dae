/**
 * A long day in a few minutes: calls, plans and kills by the thousand, and whether anything grows.
 *
 * ```
 * npm run soak -- [--calls 1000000] [--plans 10000] [--kills 1000]
 * ```
 *
 * Each plan makes its share of the calls; every so often one has a call that never ends and is killed at its deadline. After
 * each twentieth of the plans everything is counted. The first count comes after one twentieth: what a process needs once
 * is no growth. The table is printed, and kept in `bench/results/soak.json`. Exits with 1 where something does not hold.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ToolCancelledError, ToolRuntime, type Plan } from "../src/index.js";
import { machineFacts, machineLine } from "./support/machine.js";
import { countOf, growthOf, type Growth, type SoakCount } from "./support/soak-count.js";
import { spec as echoSpec } from "./tools/echo.js";
import { spec as stoppableSpec } from "./tools/stoppable.js";

const SAMPLES = 20;
const IN_FLIGHT = 16;
const GRACE_MS = 5;
const INPUT = { text: "a long day", count: 1 };

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    plans: { type: "string", default: "10000" },
    kills: { type: "string", default: "1000" },
  },
});
const [calls, plans, kills] = [values.calls, values.plans, values.kills].map(Number) as [number, number, number];
if (![calls, plans, kills].every((count) => Number.isInteger(count) && count > 0) || kills > plans || calls < plans) {
  process.stderr.write(
    "Give whole numbers above 0, at most as many kills as plans, and at most as many plans as calls.\n",
  );
  process.exitCode = 2;
} else {
  await soak();
}

async function soak(): Promise<void> {
  process.stdout.write(`${machineLine(machineFacts())}\n${calls} calls in ${plans} plans, ${kills} kills\n\n`);
  const collect = collector();
  const begin = performance.now();
  const outcomes: Outcomes = { ok: 0, killed: 0, other: 0 };
  const counts: SoakCount[] = [];
  const runtime = new ToolRuntime({ graceMs: GRACE_MS });
  for (const [spec, name] of [
    [{ ...echoSpec, capability: { writes: false, stateless: true } }, "echo"],
    [stoppableSpec, "stoppable"],
  ] as const) {
    runtime.register(spec, { module: new URL(`./tools/${name}.js`, import.meta.url) });
  }
  /** By call id: what stops a call once it runs. */
  const stops = new Map<string, AbortController>();
  runtime.on("log", ({ callId = "" }) => stops.get(callId)?.abort());
  const twentieth = Math.max(1, Math.floor(plans / SAMPLES));
  for (let index = 0; index < plans; index++) {
    const share = Math.floor(((index + 1) * calls) / plans) - Math.floor((index * calls) / plans);
    const killed = Math.floor(((index + 1) * kills) / plans) > Math.floor((index * kills) / plans);
    const planId = `plan-${index}`;
    const plan = runtime.plan({ planId });
    const stuck = killed ? kill(plan, planId, stops, outcomes) : undefined;
    await Promise.all([echo(plan, share, outcomes), stuck]);
    await plan.deactivate();
    if ((index + 1) % twentieth === 0) {
      collect();
      counts.push(countOf(runtime, index + 1));
      process.stdout.write(`${counts.at(-1)!.line()}\n`);
    }
  }
  const { quarantined } = await runtime.close();
  const seconds = (performance.now() - begin) / 1_000;
  collect();
  const after = countOf(runtime, plans);
  process.stdout.write(`${after.line()}, closed\n\n`);
  const growth = growthOf(counts);
  const problems = [
    ...growth.filter(({ holds }) => !holds).map(({ what, from, to }) => `${what} grew from ${from} to ${to}`),
    ...(outcomes.ok === calls ? [] : [`${outcomes.ok} of ${calls} calls ended ok`]),
    ...(outcomes.killed === kills && outcomes.other === 0
      ? []
      : [`${outcomes.killed} of ${kills} calls were killed, ${outcomes.other} ended otherwise`]),
    ...(quarantined === 0 ? [] : [`${quarantined} cells could not be ended`]),
    ...(after.threads > counts[0]!.threads ? [`${after.threads} threads are left`] : []),
  ];
  print(growth);
  process.stdout.write(
    `\n${seconds.toFixed(0)} s, ${((calls + kills) / seconds).toFixed(0)} calls/s, ${JSON.stringify(outcomes)}\n`,
  );
  for (const problem of problems) process.stdout.write(`does not hold: ${problem}\n`);
  await keep({ machine: machineFacts(), calls, plans, kills, seconds, outcomes, quarantined, counts, after, growth });
  process.exitCode = problems.length > 0 ? 1 : 0;
}

interface Outcomes {
  ok: number;
  killed: number;
  other: number;
}

async function echo(plan: Plan, share: number, outcomes: Outcomes): Promise<void> {
  let left = share;
  const lane = async (): Promise<void> => {
    while (left-- > 0) if ((await plan.execute(echoSpec.name, INPUT)).success) outcomes.ok++;
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, share) }, lane));
}

/** A call that never ends is stopped once it runs, and killed since it does not listen. */
async function kill(
  plan: Plan,
  callId: string,
  stops: Map<string, AbortController>,
  outcomes: Outcomes,
): Promise<void> {
  const stop = new AbortController();
  stops.set(callId, stop);
  try {
    await plan.execute(stoppableSpec.name, { how: "never" }, { callId, signal: stop.signal });
    outcomes.other++;
  } catch (error) {
    if (error instanceof ToolCancelledError && error.outcome === "killed") outcomes.killed++;
    else outcomes.other++;
  } finally {
    stops.delete(callId);
  }
}

function print(growth: readonly Growth[]): void {
  for (const { what, from, to, atMost, holds } of growth) {
    process.stdout.write(
      `${what.padEnd(16)} ${String(from).padStart(8)} → ${String(to).padStart(8)}  (at most ${atMost})  ${holds ? "flat" : "GROWS"}\n`,
    );
  }
}

async function keep(report: object): Promise<void> {
  const folder = resolve("bench/results");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "soak.json"), `${JSON.stringify(report, null, 2)}\n`);
}

/** Collects garbage, as often as it takes until what was freed frees nothing more. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  return () => {
    for (let turn = 0; turn < 3; turn++) collect();
  };
}
