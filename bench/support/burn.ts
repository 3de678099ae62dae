/** Work for a core that no compiler takes away. */

/** Turns a generator of pseudo-random numbers; a million turns take a few milliseconds. */
export function burn(turns: number): number {
  let state = 0x9e3779b9;
  for (let turn = 0; turn < turns; turn++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state >>> 0;
}

/** How many turns take about so many milliseconds here. */
export function turnsFor(milliseconds: number): number {
  const probe = 2_000_000;
  burn(probe);
  const begin = performance.now();
  burn(probe);
  return Math.round((probe * milliseconds) / (performance.now() - begin));
}
