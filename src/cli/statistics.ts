/** Figures of samples. */

/** The value that `share` of the samples do not exceed, 0 to 1, interpolated; `NaN` of none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** The greatest sample, of more than a call may have arguments; `NaN` of none. */
export function greatest(samples: readonly number[]): number {
  return samples.reduce((most, each) => Math.max(most, each), samples[0] ?? NaN);
}
