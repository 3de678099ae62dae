/** Does a large buffer cost more than a small one? */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ToolExecutionContext, ToolRuntime } from "../src/index.js";
import { row, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { interleave, millisecondsOf } from "./support/rounds.js";
import { mean, median } from "./support/statistics.js";
import { spec, type Load } from "./tools/pass-on.js";

const MIB = 1024 * 1024;

export const benchmark: Benchmark = {
  title: "Transfer",
  how: "An ArrayBuffer goes to the tool and comes back, handed over both ways; the same with a copy both ways beside it. The typical call of a hundred, and the mean.",
  run,
};

async function run({ rounds, quick }: Effort): Promise<Row[]> {
  await using runtime = new ToolRuntime({ spareCells: 0 });
  runtime.register(spec, { module: new URL("./tools/pass-on.js", import.meta.url) });
  const context = new ToolExecutionContext({ planId: "transfer" });
  const pass = async (data: ArrayBuffer, copy: boolean): Promise<Load> => {
    const transfer = copy ? {} : { transfer: [data] };
    const { output } = await runtime.execute(spec.name, { data, copy }, context, transfer);
    return output as Load;
  };
  const worker = new Worker(new URL("./peers/pass-on-worker.js", import.meta.url));
  const passBare = async (data: ArrayBuffer): Promise<Load> => {
    worker.postMessage({ data }, [data]);
    const [load] = (await once(worker, "message")) as [Load];
    return load;
  };
  const handOver = (data: ArrayBuffer): Promise<Load> => pass(data, false);
  const copied = (data: ArrayBuffer): Promise<Load> => pass(data, true);
  const subject = (
    name: string,
    bytes: number,
    way: (data: ArrayBuffer) => Promise<Load>,
    times: number,
    figure = median,
  ) => ({
    name,
    measure: async () => {
      let { data } = await way(new ArrayBuffer(bytes));
      const calls: number[] = [];
      for (let time = 0; time < times; time++) {
        calls.push(await millisecondsOf(async () => ({ data } = await way(data))));
      }
      return figure(calls);
    },
  });
  const warm = subject("warm", MIB, handOver, 2_000);
  await warm.measure();
  const figures = await interleave(
    [
      subject("small", MIB, handOver, 100),
      subject("large", 64 * MIB, handOver, 100),
      subject("small mean", MIB, handOver, 100, mean),
      subject("large mean", 64 * MIB, handOver, 100, mean),
      subject("small bare mean", MIB, passBare, 100, mean),
      subject("huge bare mean", 96 * MIB, passBare, 20, mean),
      subject("small bare", MIB, passBare, 100),
      subject("large bare", 64 * MIB, passBare, 100),
      subject("small copied", MIB, copied, 5),
      subject("large copied", 64 * MIB, copied, 1),
    ],
    { rounds, samples: quick ? 1 : 3 },
  );
  await worker.terminate();
  const samples = (name: string): number[] => figures[name] ?? [];
  return [
    row({
      what: "64 MiB handed over, against 1 MiB",
      name: "64 MiB",
      unit: "ms",
      samples: samples("large"),
      peer: { name: "1 MiB", samples: samples("small") },
      bar: { of: "ratio", atMost: 2 },
    }),
    // V8 starts full collections where what lies outside of its heap grows by 64 MiB, or by less in a small heap.
    row({
      what: "64 MiB handed over, mean, against 1 MiB",
      name: "64 MiB",
      unit: "ms",
      samples: samples("large mean"),
      peer: { name: "1 MiB", samples: samples("small mean") },
    }),
    row({
      what: "96 MiB by postMessage, mean, against 1 MiB",
      name: "96 MiB",
      unit: "ms",
      samples: samples("huge bare mean"),
      peer: { name: "1 MiB", samples: samples("small bare mean") },
    }),
    row({
      what: "64 MiB handed over, against postMessage",
      unit: "ms",
      samples: samples("large"),
      peer: { name: "postMessage", samples: samples("large bare") },
    }),
    row({
      what: "1 MiB handed over, against postMessage",
      unit: "ms",
      samples: samples("small"),
      peer: { name: "postMessage", samples: samples("small bare") },
    }),
    row({
      what: "64 MiB handed over, against a copy",
      unit: "ms",
      samples: samples("large"),
      peer: { name: "copied", samples: samples("large copied") },
    }),
    row({
      what: "1 MiB handed over, against a copy",
      unit: "ms",
      samples: samples("small"),
      peer: { name: "copied", samples: samples("small copied") },
    }),
  ];
}
