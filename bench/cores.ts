/** Does one plan get all cores for a tool that keeps nothing between calls? */
import { ToolExecutionContext, ToolRuntime } from "../src/index.js";
import { BareThreads } from "./peers/bare-threads.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { turnsFor } from "./support/burn.js";
import { cores } from "./support/machine.js";
import { interleave, millisecondsOf } from "./support/rounds.js";
import { quotients } from "./support/statistics.js";
import { workSpec } from "./tools/work.js";

/** Milliseconds of one call. */
const CALL_MS = 5;

export const benchmark: Benchmark = {
  title: "All cores",
  how:
    `One plan, one stateless tool, calls of about ${CALL_MS} ms of work made all at once: how much faster with N cells than with one. ` +
    "Beside it bare threads with the same work, since a busy machine gives nobody all its cores.",
  run,
};

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  const counts = steps();
  await using runtime = new ToolRuntime({ spareCells: 0, maxCellsPerTool: cores });
  const context = new ToolExecutionContext({ planId: "cores" });
  const turns = turnsFor(CALL_MS);
  const calls = cores * (quick ? 12 : 30);
  const nameOf = (cells: number): string => `bench/work-${cells}`;
  const module = new URL("./tools/work.js", import.meta.url);
  for (const maxCells of counts) {
    runtime.register(workSpec(nameOf(maxCells), { stateless: true }), { module, maxCells });
  }
  const threads = await Promise.all(counts.map(async (count) => [count, await BareThreads.start(count)] as const));
  const toolcell = (cells: number): Promise<unknown> =>
    Promise.all(Array.from({ length: calls }, () => runtime.execute(nameOf(cells), { turns }, context)));
  try {
    const figures = await interleave(
      threads.flatMap(([count, bare]) => [
        { name: `cells ${count}`, measure: () => millisecondsOf(() => toolcell(count)) },
        { name: `threads ${count}`, measure: () => millisecondsOf(() => bare.share(calls, { turns })) },
      ]),
      { rounds, samples: quick ? 1 : 3 },
    );
    const speedUp = (what: string, count: number): number[] =>
      quotients(figures[`${what} 1`] ?? [], figures[`${what} ${count}`] ?? []);
    return counts.slice(cores === 1 ? 0 : 1).flatMap((count) => {
      const samples = speedUp("cells", count);
      const peer = { name: "bare threads", samples: speedUp("threads", count) };
      return [
        row({
          what: `${count} cells, speed-up over one`,
          unit: "×",
          samples,
          bar: { of: "measured", atLeast: 0.9 * count },
        }),
        row({
          what: `${count} cells, against as many bare threads`,
          unit: "×",
          samples,
          peer,
          bar: { of: "ratio", atLeast: 0.9 },
        }),
      ];
    });
  } finally {
    await Promise.all(threads.map(([, bare]) => bare.close()));
  }
}

/** 1, 2, 4 … and all. */
function steps(): number[] {
  const counts: number[] = [];
  for (let count = 1; count < cores; count *= 2) counts.push(count);
  return [...counts, cores];
}
