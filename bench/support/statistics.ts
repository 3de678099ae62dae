/** Middle, quantiles and quotients of samples. */

import { quantile } from "../../src/cli/statistics.js";

export { quantile };

/** What a sample comes to where all are paid for. */
export function mean(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}

/** The middle sample. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Quotients of samples that were taken in the same rounds. */
export function quotients(measured: readonly number[], peer: readonly number[]): number[] {
  return measured.slice(0, peer.length).map((value, round) => value / (peer[round] ?? NaN));
}
