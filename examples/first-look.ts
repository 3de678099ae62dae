/**
 * The main job, `npm start`: tools over this repository's own files, each in a cell of its own,
 * while the host stays responsive.
 */
import { availableParallelism } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { builtins, PHASES, ToolRuntime, type ToolExecutionTrace } from "../src/index.js";
import { table, type Column } from "./table.js";

interface Row {
  readonly what: string;
  readonly trace: ToolExecutionTrace;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const cores = availableParallelism();
const print = (text = ""): void => void process.stdout.write(`${text}\n`);

await using runtime = new ToolRuntime({ graceMs: 100, maxCellsPerTool: cores });
await runtime.use(builtins());
await runtime.registerModule(new URL("./tools/freeze.js", import.meta.url));
await runtime.registerModule(new URL("./tools/search-primes.js", import.meta.url));

await using plan = runtime.plan({
  planId: "first-look",
  readOnly: true,
  boundResources: [{ slotName: "repo", resourceId: "this-repository", resourceType: "folder", path: root }],
});

const rows: Row[] = [];

/** Columns of the widest table. */
const WIDE = 135;
/** Phases by names that fit over their figures, in ms. */
const TITLES: Readonly<Partial<Record<string, string>>> = {
  admission: "admit",
  activation: "activ",
  dispatch: "disp",
  outbound: "out",
  inbound: "in",
};

/** Runs one call and keeps its trace, which there is whatever becomes of the call. */
async function call<Output>(
  what: string,
  tool: string,
  input: unknown,
  timeoutMs?: number,
): Promise<Output | undefined> {
  const callId = `${rows.length}-${what}`;
  try {
    const { output } = await plan.execute<Output>(tool, input, {
      callId,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return output;
  } catch {
    // The trace says what happened.
    return undefined;
  } finally {
    const trace = plan.context.traces.findLast((candidate) => candidate.callId === callId);
    if (trace) rows.push({ what, trace });
  }
}

print(`toolcell runs every tool in a cell of its own (${cores} cores, Node ${process.version}, no service, no key).`);
print(
  "All times are in ms. Tools work over this repository's files. One spins forever, one overruns its deadline, one may not write.",
);
print();

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const began = performance.now();

const skipFolders = [".git", "node_modules", "dist", ".cache", "coverage"];
const listed = await call<{ files: { path: string; type: string }[] }>("all files", "builtin/list-files", {
  glob: "**/*.{ts,md,json}",
  skipFolders,
});
const paths = (listed?.files ?? []).filter(({ type }) => type === "file").map(({ path }) => path);
await call("package.json", "builtin/read-file", { path: "package.json" });
await Promise.all([plan.activate("demo/freeze"), plan.activate("demo/search-primes")]);
const misbehaving = [
  call("spins forever", "demo/freeze", {}, 300),
  call("overruns its deadline", "demo/search-primes", {}, 200),
  call("write in a read-only plan", "builtin/write-file", { path: "never.txt", content: "no" }),
];
let words = 0;
const waiting = [...paths];
const lanes = Array.from({ length: cores * 2 }, async () => {
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    words += (await call<{ words: number }>(path, "builtin/word-frequency", { path }))?.words ?? 0;
  }
});
await Promise.all([...lanes, ...misbehaving]);

const took = performance.now() - began;
delay.disable();

const ms = (value: number): string =>
  value >= 99.95 ? value.toFixed(0) : value < 0.005 ? "·" : value.toFixed(value >= 1 ? 1 : 2);
const cut = (text: string, width: number): string => (text.length > width ? `…${text.slice(1 - width)}` : text);
// A narrow terminal gets the phases in which time is usually spent.
const allPhases = !(process.stdout.columns < WIDE);
const phases = allPhases ? PHASES : (["activation", "start", "run", "inbound"] as const);
const columns: Column<Row>[] = [
  { title: "tool", left: true, cell: ({ trace }) => trace.toolName.replace(/^builtin\//, "") },
  { title: "call", left: true, cell: ({ what }) => cut(what, 25) },
  { title: "cell", left: true, cell: ({ trace }) => trace.cell?.id.replace("thread-", "") ?? "–" },
  { title: "outcome", left: true, cell: ({ trace }) => trace.outcome },
  ...phases.map((phase): Column<Row> => ({
    title: TITLES[phase] ?? phase,
    cell: ({ trace }) => ms(trace.phases[phase]),
  })),
  { title: "total ms", cell: ({ trace }) => ms(trace.durationMs) },
  { title: "bytes", cell: ({ trace }) => String(trace.resultSizeBytes) },
];

const counted = rows.filter(({ trace }) => trace.toolName === "builtin/word-frequency");
const longest = [...counted].sort((one, other) => other.trace.phases.run - one.trace.phases.run);
const shown = longest.slice(0, 5);
print(table(columns, [...rows.filter((row) => !counted.includes(row)), ...shown]));
if (counted.length > shown.length) {
  print(`… and ${counted.length - shown.length} more calls of word-frequency`);
}
print();
const cells = new Set(rows.flatMap(({ trace }) => trace.cell?.id ?? [])).size;
const ended = (outcome: string): number => rows.filter(({ trace }) => trace.outcome === outcome).length;
const p = (percent: number): string => (delay.percentile(percent) / 1e6).toFixed(1);
print(`${rows.length} calls in ${ms(took)} ms over ${cells} cells; ${words} words in ${paths.length} files.`);
print(
  `${ended("ok")} ok, ${ended("killed")} killed, ${ended("timed_out")} stopped at its deadline, ${ended("denied")} refused.`,
);
print(`The host meanwhile: event-loop delay p50 ${p(50)} ms, p99 ${p(99)} ms (1 ms of it is the timer's own step).`);
