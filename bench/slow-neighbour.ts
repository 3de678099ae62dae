/** Does a call that holds the thread keep back the answers of those that ran before it? */
import { Piscina } from "piscina";
import { ToolExecutionContext, ToolRuntime } from "../src/index.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { interleave } from "./support/rounds.js";
import { workSpec, type Work } from "./tools/work.js";

const QUICK_CALLS = 8;
const SLOW_MS = 50;

export const benchmark: Benchmark = {
  title: "A slow neighbour",
  how:
    `${QUICK_CALLS} quick calls, one of ${SLOW_MS} ms that holds the thread and one more quick call, made in one tick to one cell: ` +
    "when the last of the first ones is answered.",
  run,
};

type Call = (input: Work) => Promise<unknown>;

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  await using runtime = new ToolRuntime({ spareCells: 0 });
  const spec = workSpec("bench/work");
  const module = new URL("./tools/work.js", import.meta.url);
  runtime.register(spec, { module });
  const context = new ToolExecutionContext({ planId: "slow-neighbour" });
  await runtime.activate(spec.name, context);
  const piscina = new Piscina({
    filename: new URL("./peers/work-task.js", import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
  });
  try {
    const late: number[] = [];
    const toolcell: Call = (input) => runtime.execute(spec.name, input, context);
    const pool: Call = (input) => piscina.run(input);
    for (const call of [toolcell, pool]) for (let time = 0; time < 500; time++) await call({});
    const figures = await interleave(
      [
        { name: "toolcell", measure: () => lastQuickAnswer(toolcell, late) },
        { name: "piscina", measure: () => lastQuickAnswer(pool, []) },
      ],
      { rounds, samples: quick ? 3 : 9 },
    );
    return [
      row({
        what: "quick calls before the slow one are answered after",
        unit: "ms",
        samples: figures["toolcell"] ?? [],
        peer: { name: "Piscina", samples: figures["piscina"] ?? [] },
        bar: { of: "measured", atMost: 2 },
      }),
      row({ what: "the quick call behind the slow one, after", unit: "ms", samples: late }),
    ];
  } finally {
    await piscina.destroy();
  }
}

async function lastQuickAnswer(call: Call, late: number[]): Promise<number> {
  const begin = performance.now();
  const since = (): number => performance.now() - begin;
  const before = Array.from({ length: QUICK_CALLS }, () => call({}).then(since));
  const slow = call({ milliseconds: SLOW_MS });
  const behind = call({}).then(since);
  const answered = Math.max(...(await Promise.all(before)));
  await slow;
  late.push(await behind);
  return answered;
}
