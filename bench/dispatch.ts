/** What does a call cost, door to door? */
import { Piscina } from "piscina";
import { ToolExecutionContext, ToolRuntime } from "../src/index.js";
import { RawEcho } from "./peers/raw-echo.js";
import { row, type Bar, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { coreMicrosecondsPerCall, interleave, microsecondsPerCall } from "./support/rounds.js";
import { spec } from "./tools/echo.js";

const LEVELS = [1, 16, 128] as const;
type Level = (typeof LEVELS)[number];

/** Against the raw worker and against Piscina: time at one in flight, throughput above. */
const BARS: Readonly<Record<Level, readonly [raw: Bar | undefined, piscina: Bar]>> = {
  1: [
    { of: "ratio", atMost: 1.4 },
    { of: "ratio", atMost: 1.15 },
  ],
  16: [undefined, { of: "ratio", atLeast: 6 }],
  128: [
    { of: "ratio", atLeast: 0.8 },
    { of: "ratio", atLeast: 9 },
  ],
};

/** Enough calls for a sample of some ten milliseconds. */
const CALLS: Readonly<Record<Level, number>> = { 1: 500, 16: 1_600, 128: 2_560 };

export const benchmark: Benchmark = {
  title: "Dispatch",
  how:
    "runtime.execute of an echo tool with validation, gates and trace; a bare worker's postMessage echo; piscina.run on one worker, " +
    "as it comes and with 128 tasks at a time. Rounds interleaved.",
  run,
};

async function run(effort: Effort): Promise<Row[]> {
  await using runtime = new ToolRuntime({ spareCells: 0 });
  runtime.register(spec, { module: new URL("./tools/echo.js", import.meta.url) });
  const context = new ToolExecutionContext({ planId: "dispatch" });
  await runtime.activate(spec.name, context);
  const raw = await new RawEcho().started();
  const filename = new URL("./peers/echo-task.js", import.meta.url).href;
  const piscina = new Piscina({ filename, minThreads: 1, maxThreads: 1 });
  const concurrent = new Piscina({ filename, minThreads: 1, maxThreads: 1, concurrentTasksPerWorker: 128 });
  const input = { text: "how much does a call cost?", count: 1 };
  const callers = {
    toolcell: () => runtime.execute(spec.name, input, context),
    raw: () => raw.call(input),
    piscina: () => piscina.run(input),
    concurrent: () => concurrent.run(input),
  };
  try {
    // The first ten thousand calls are compiled while they run; what is asked for is the cost of those that follow.
    for (const call of Object.values(callers)) await microsecondsPerCall(16, effort.quick ? 6_000 : 15_000, call);
    const rows: Row[] = [];
    for (const level of LEVELS) rows.push(...(await measure(level, callers, effort)));
    for (const level of LEVELS) rows.push(...(await measureCores(level, callers, effort)));
    return rows;
  } finally {
    await Promise.all([raw.close(), piscina.destroy(), concurrent.destroy()]);
  }
}

async function measure(
  level: Level,
  callers: Readonly<Record<string, () => Promise<unknown>>>,
  { rounds, quick }: Effort,
): Promise<Row[]> {
  const subjects = Object.entries(callers).map(([name, call]) => ({
    name,
    measure: () => microsecondsPerCall(level, CALLS[level], call),
  }));
  const figures = await interleave(subjects, { rounds, samples: quick ? 2 : 7 });
  const samples = (name: string): number[] => (figures[name] ?? []).map(level === 1 ? (time) => time : perSecond);
  const line = (name: string, key: string, bar: Bar | undefined): Row =>
    row({
      question: level === 1 ? "How long does a call take?" : `How many calls a second, ${level} in flight?`,
      what: `${level} in flight, against ${name}`,
      unit: level === 1 ? "µs" : "calls/s",
      samples: samples("toolcell"),
      peer: { name, samples: samples(key) },
      ...(bar && { bar }),
    });
  const [rawBar, piscinaBar] = BARS[level];
  return [
    line("postMessage", "raw", rawBar),
    line("Piscina", "piscina", piscinaBar),
    ...(level === 1 ? [] : [line("Piscina, 128 tasks at a time", "concurrent", undefined)]),
  ];
}

/** Core time beside the clock's: on a machine that others use too it is the steadier figure. */
async function measureCores(
  level: Level,
  { toolcell, raw }: Readonly<Record<"toolcell" | "raw", () => Promise<unknown>>>,
  { rounds }: Effort,
): Promise<Row[]> {
  const subject = (name: string, call: () => Promise<unknown>) => ({
    name,
    measure: () => coreMicrosecondsPerCall(level, CALLS[level] * 4, call),
  });
  const figures = await interleave([subject("toolcell", toolcell), subject("raw", raw)], { rounds });
  return [
    row({
      what: `${level} in flight, core time against postMessage`,
      unit: "µs",
      samples: figures["toolcell"] ?? [],
      peer: { name: "postMessage", samples: figures["raw"] ?? [] },
    }),
  ];
}

function perSecond(microseconds: number): number {
  return 1_000_000 / microseconds;
}
