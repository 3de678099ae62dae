/**
 * The main job, `npm start`: tools over this repository's own files, each in a cell of its own,
 * while the host stays responsive.
 */
import { availableParallelism } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { planDisplay } from "../src/cli/display/plan-display.js";
import { clipStart, milliseconds, table, type Column } from "../src/cli/table.js";
import { Terminal } from "../src/cli/terminal.js";
import { builtins, PHASES, ToolRuntime, type ToolExecutionTrace } from "../src/index.js";
import { loadPlan, runPlan } from "../src/plan/index.js";

interface Row {
  readonly what: string;
  readonly trace: ToolExecutionTrace;
}

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

const root = fileURLToPath(new URL("../../", import.meta.url));
const cores = availableParallelism();
const { stdin, stdout, stderr, env } = process;
const terminal = new Terminal({ cwd: root, stdin, stdout, stderr, env });
const print = (text = ""): Promise<void> => terminal.print(text);

await using runtime = new ToolRuntime({ graceMs: 100, maxCellsPerTool: cores });
await runtime.use(builtins());
await runtime.registerModule(new URL("./tools/freeze.js", import.meta.url));
await runtime.registerModule(new URL("./tools/search-primes.js", import.meta.url));

await print(
  `toolcell runs every tool in a cell of its own (${cores} cores, Node ${process.version}, no service, no key).`,
);
await print(
  "All times are in ms. Tools work over this repository's files. One spins forever, one overruns its deadline, one may not write.",
);
await print();

const loaded = await loadPlan("examples/first-look.yaml", root);
const display = terminal.isLive ? planDisplay(terminal, runtime, loaded.planId, loaded.plan) : undefined;
const rows: Row[] = [];
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const report = await runPlan(runtime, loaded, {
  onEvent: (event) => {
    display?.event(event);
    if (event.type !== "ended" || !event.trace) return;
    const item = event.item === undefined ? "" : ` ${event.item}`;
    rows.push({ what: `${event.step}${item}`, trace: event.trace });
  },
});
delay.disable();
display?.end(undefined);

// A narrow terminal gets the phases in which time is usually spent.
const allPhases = !(stdout.columns < WIDE);
const phases = allPhases ? PHASES : (["activation", "start", "run", "inbound"] as const);
const columns: Column<Row>[] = [
  { title: "tool", left: true, cell: ({ trace }) => trace.toolName.replace(/^builtin\//, "") },
  { title: "step", left: true, cell: ({ what }) => clipStart(what, 25) },
  { title: "cell", left: true, cell: ({ trace }) => trace.cell?.id.replace("thread-", "") ?? "–" },
  { title: "outcome", left: true, cell: ({ trace }) => trace.outcome },
  ...phases.map((phase): Column<Row> => ({
    title: TITLES[phase] ?? phase,
    cell: ({ trace }) => milliseconds(trace.phases[phase]),
  })),
  { title: "total ms", cell: ({ trace }) => milliseconds(trace.durationMs) },
  { title: "bytes", cell: ({ trace }) => String(trace.resultSizeBytes) },
];

const counted = rows.filter(({ trace }) => trace.toolName === "builtin/word-frequency");
const longest = [...counted].sort((one, other) => other.trace.phases.run - one.trace.phases.run);
const shown = longest.slice(0, 5);
await print(table(columns, [...rows.filter((row) => !counted.includes(row)), ...shown]));
if (counted.length > shown.length) {
  await print(`… and ${counted.length - shown.length} more calls of word-frequency`);
}
await print();
const outputs = report.steps["words"]?.output as readonly ({ readonly words: number } | null)[] | undefined;
const words = (outputs ?? []).reduce((sum, output) => sum + (output?.words ?? 0), 0);
const cells = new Set(rows.flatMap(({ trace }) => trace.cell?.id ?? [])).size;
const ended = (outcome: string): number => rows.filter(({ trace }) => trace.outcome === outcome).length;
const p = (percent: number): string => (delay.percentile(percent) / 1e6).toFixed(1);
await print(
  `${rows.length} calls in ${milliseconds(report.durationMs)} ms over ${cells} cells; ${words} words in ${counted.length} files.`,
);
await print(
  `${ended("ok")} ok, ${ended("killed")} killed, ${ended("timed_out")} stopped at its deadline, ${ended("denied")} refused.`,
);
await print(
  `The host meanwhile: event-loop delay p50 ${p(50)} ms, p99 ${p(99)} ms (1 ms of it is the timer's own step).`,
);
