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

/** Runs one call and keeps its trace, which there is whatever becomes of the call. */
async function call(what: string, tool: string, input: unknown, timeoutMs?: number): Promise<unknown> {
  const callId = `${tool}-${rows.length}-${what}`;
  try {
    const result = await plan.execute(tool, input, { callId, ...(timeoutMs !== undefined && { timeoutMs }) });
    return result.output;
  } catch (error) {
    return error;
  } finally {
    const trace = plan.context.traces.findLast((candidate) => candidate.callId === callId);
    if (trace) rows.push({ what, trace });
  }
}

print(
  `toolcell runs every tool in a cell of its own: here ${cores} cores, Node ${process.version}, no service, no key.`,
);
print("Three tools misbehave on purpose. Watch what it does to the host.");
print();

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const began = performance.now();

const skipFolders = [".git", "node_modules", "dist", ".cache", "coverage"];
const listed = (await call("all files", "builtin/list-files", { glob: "**/*.{ts,md,json}", skipFolders })) as {
  files: { path: string; type: string }[];
};
const paths = listed.files.filter(({ type }) => type === "file").map(({ path }) => path);
await call("package.json", "builtin/read-file", { path: "package.json" });
await Promise.all([plan.activate("demo/freeze"), plan.activate("demo/search-primes")]);
const misbehaving = [
  call("spins for ever", "demo/freeze", {}, 300),
  call("stops at its deadline", "demo/search-primes", {}, 200),
  call("in a read-only plan", "builtin/write-file", { path: "never.txt", content: "no" }),
];
let words = 0;
const waiting = [...paths];
const lanes = Array.from({ length: cores * 2 }, async () => {
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    words += ((await call(path, "builtin/word-frequency", { path })) as { words?: number } | undefined)?.words ?? 0;
  }
});
await Promise.all(lanes);
await Promise.all(misbehaving);

const took = performance.now() - began;
delay.disable();

const ms = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2));
const columns: Column<Row>[] = [
  { title: "tool", left: true, cell: ({ trace }) => trace.toolName },
  { title: "call", left: true, cell: ({ what }) => (what.length > 34 ? `…${what.slice(-33)}` : what) },
  { title: "cell", left: true, cell: ({ trace }) => trace.cell?.id ?? "none" },
  { title: "outcome", left: true, cell: ({ trace }) => trace.outcome },
  ...PHASES.map((phase): Column<Row> => ({ title: phase, cell: ({ trace }) => ms(trace.phases[phase]) })),
  { title: "total ms", cell: ({ trace }) => ms(trace.durationMs) },
  { title: "bytes", cell: ({ trace }) => String(trace.resultSizeBytes) },
];

const SHOWN = 8;
const counted = rows.filter(({ trace }) => trace.toolName === "builtin/word-frequency");
const longest = [...counted].sort((one, other) => other.trace.phases.run - one.trace.phases.run).slice(0, SHOWN);
print(table(columns, [...rows.filter((row) => !counted.includes(row)), ...longest]));
if (counted.length > SHOWN) print(`… and ${counted.length - SHOWN} more calls of builtin/word-frequency like these`);
print();
const cells = new Set(rows.map(({ trace }) => trace.cell?.id)).size - 1;
const p = (percent: number): string => (delay.percentile(percent) / 1e6).toFixed(1);
print(`${rows.length} calls in ${ms(took)} ms over ${cells} cells: ${words} words in ${paths.length} files.`);
print(`One tool span for ever and was killed, one overran its deadline and stopped, one write was refused.`);
print(`The host's event loop meanwhile: p50 ${p(50)} ms, p99 ${p(99)} ms (a timer's own step of 1 ms included).`);
