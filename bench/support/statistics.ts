/** Middle, quantiles and quotients of samples. */

/** The value that `share` of the samples do not exceed, 0 to 1, interpolated; `NaN` of none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

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
