/** Runs one benchmark in a process of its own, so that none finds another's memory, threads or compiled code. */
import type { Benchmark } from "./bench.js";
import { machineFacts } from "./machine.js";
import { saveResult } from "./results.js";
import { tableOf } from "./table.js";

/** What the process tells the one that started it. */
export interface Finished {
  readonly rows: number;
  readonly broken: readonly string[];
}

const [name = "", ...flags] = process.argv.slice(2);
const resultsFlag = flags.find((flag) => flag.startsWith("--results="));
const quick = flags.includes("--quick");

const { benchmark } = (await import(`../${name}.js`)) as { benchmark: Benchmark };
const machine = machineFacts();
const rows = await benchmark.run({ quick, rounds: quick ? 5 : 7 });
process.stdout.write(tableOf(benchmark.title, benchmark.how, rows));
if (resultsFlag !== undefined) {
  await saveResult(resultsFlag.slice("--results=".length), {
    name,
    title: benchmark.title,
    how: benchmark.how,
    quick,
    at: new Date().toISOString(),
    machine,
    rows,
  });
}
const finished: Finished = {
  rows: rows.length,
  broken: rows.filter(({ holds }) => holds === false).map(({ what }) => `${name}: ${what}`),
};
process.send?.(finished);
// From here on nothing of the benchmark may keep the process alive.
if (process.connected) process.disconnect();
