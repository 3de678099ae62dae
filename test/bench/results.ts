/** Results of benchmarks that nobody ran. */
import { row, type Result, type Row, type RowInput } from "../../bench/support/bench.js";

/** A row with a peer called so, and the samples of both. */
export function rowAgainst(name: string, samples: number[], peer: number[], more: Partial<RowInput> = {}): Row {
  return row({ what: `against ${name}`, unit: "ms", samples, peer: { name, samples: peer }, ...more });
}

/** A result of these rows. */
export function resultOf(rows: readonly Row[], more: Partial<Result> = {}): Result {
  return {
    name: "speed",
    title: "Speed",
    how: "With care.",
    quick: false,
    at: "2026-01-02T03:04:05.678Z",
    machine: { node: "20.0.0", v8: "11", platform: "linux x64", cpu: "A CPU", cores: 2, memoryGb: 8, load: 0.5 },
    rows,
    ...more,
  };
}
