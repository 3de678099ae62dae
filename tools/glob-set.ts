/** Several globs as one: what any of them matches. */
import { Glob, type GlobState } from "./glob.js";

/** Where the threads of each glob stand. */
export type GlobSetState = readonly GlobState[];

/** A set of globs that advance together. */
export class GlobSet {
  /** Nothing is read yet. */
  readonly start: GlobSetState;
  readonly #globs: readonly Glob[];

  constructor(patterns: readonly string[]) {
    this.#globs = patterns.map((pattern) => new Glob(pattern));
    this.start = this.#globs.map(({ start }) => start);
  }

  /** The state after more of the text is read. */
  advance(state: GlobSetState, text: string): GlobSetState {
    return this.#globs.map((glob, at) => glob.advance(state[at] ?? [], text));
  }

  /** Whether a glob matches the text read so far as a whole. */
  matches(state: GlobSetState): boolean {
    return this.#globs.some((glob, at) => glob.matches(state[at] ?? []));
  }

  /** Whether a glob can still match something that goes on from here. */
  canGoOn(state: GlobSetState): boolean {
    return state.some(({ length }) => length > 0);
  }
}
