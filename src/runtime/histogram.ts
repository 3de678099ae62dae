/** Numbers counted in buckets whose bounds double. To add one is arithmetic on a typed array and allocates nothing. */
import { ToolRuntimeError } from "../protocol/errors.js";

/** A histogram at one moment, for one set of attributes. */
export interface HistogramPoint {
  /** What it is about, such as `{ tool: "acme/shout" }`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** How many numbers were added. */
  readonly count: number;
  /** Their sum. */
  readonly sum: number;
  /** The least of them; absent where there is none. */
  readonly min?: number;
  /** The greatest of them; absent where there is none. */
  readonly max?: number;
  /** Upper bounds of the buckets, each included in its bucket; the last bucket has none. */
  readonly bounds: readonly number[];
  /** How many numbers lie in each bucket; one more than there are bounds. */
  readonly buckets: readonly number[];
}

const BOUNDS = 28;
const BUCKETS = BOUNDS + 1;
const LAST_BOUND = 2 ** (BOUNDS - 1);

/** Counts one more at a place. */
export function increment(counts: Float64Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}

/** Counts numbers. */
export class Histogram {
  readonly #perUnit: number;
  readonly #buckets = new Float64Array(BUCKETS);
  #sum = 0;
  #min = Infinity;
  #max = -Infinity;

  /** @param firstBound a power of two; the others are its doubles */
  constructor(firstBound: number) {
    this.#perUnit = 1 / firstBound;
  }

  /** Adds a number that is not negative. */
  add(value: number): void {
    const units = Math.ceil(value * this.#perUnit);
    // The bits of the number are its bucket: no search, however many bounds there are.
    const bucket = units <= 1 ? 0 : units > LAST_BOUND ? BOUNDS : 32 - Math.clz32(units - 1);
    increment(this.#buckets, bucket);
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** How many numbers were added. */
  get count(): number {
    return this.#buckets.reduce((sum, each) => sum + each, 0);
  }

  point(attributes: Readonly<Record<string, string>>): HistogramPoint {
    const { count } = this;
    return {
      attributes,
      count,
      sum: this.#sum,
      ...(count > 0 && { min: this.#min, max: this.#max }),
      bounds: Array.from({ length: BOUNDS }, (_none, at) => 2 ** at / this.#perUnit),
      buckets: [...this.#buckets],
    };
  }
}

/**
 * Estimates a quantile of one histogram, or of several together. The estimate lies in the same bucket as the number itself,
 * so it is off by a factor of two at most, and never outside of what was seen.
 * @param q from 0 to 1; 0.99 is the number that 99 of 100 do not exceed
 * @returns nothing where nothing was added
 * @throws ToolRuntimeError `INVALID_ARGUMENT` where `q` is no such number, or the histograms have different bounds
 * @example
 * ```ts
 * import { quantile, ToolRuntime } from "toolcell";
 *
 * await using runtime = new ToolRuntime();
 * runtime.register({ name: "acme/answer", description: "Answers.", inputSchema: {}, readOnly: true }, { execute: () => 42 });
 * await using plan = runtime.plan({ planId: "p" });
 * for (let time = 0; time < 10; time++) await plan.execute("acme/answer", {});
 * const { points } = runtime.metrics().histograms["toolcell.call.duration"];
 * console.log(quantile(points, 0.5)! <= quantile(points, 0.99)!); // → true
 * ```
 */
export function quantile(points: HistogramPoint | readonly HistogramPoint[], q: number): number | undefined {
  if (!(q >= 0 && q <= 1)) throw wrong(`a quantile is a number from 0 to 1, not ${String(q)}`);
  const all = "bounds" in points ? [points] : points;
  const [first] = all;
  if (!first) return undefined;
  if (all.some(({ bounds }) => bounds.length !== first.bounds.length || bounds[0] !== first.bounds[0]))
    throw wrong("only histograms with the same bounds can be put together");
  const buckets = first.buckets.map((_none, at) => all.reduce((sum, point) => sum + (point.buckets[at] ?? 0), 0));
  const count = buckets.reduce((sum, each) => sum + each, 0);
  const min = Math.min(...all.map((point) => point.min ?? Infinity));
  const max = Math.max(...all.map((point) => point.max ?? -Infinity));
  let before = 0;
  for (const [at, inside] of buckets.entries()) {
    if (inside > 0 && before + inside >= q * count) {
      const low = Math.max(first.bounds[at - 1] ?? 0, min);
      const high = Math.min(first.bounds[at] ?? Infinity, max);
      return low + (high - low) * Math.max(0, (q * count - before) / inside);
    }
    before += inside;
  }
  return undefined;
}

function wrong(what: string): ToolRuntimeError {
  return new ToolRuntimeError(`quantile(): ${what}.`, { code: "INVALID_ARGUMENT" });
}
