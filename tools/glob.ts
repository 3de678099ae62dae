/**
 * A small glob matcher: `*` and `?` within one name, `**` over folders, `{a,b}` for alternatives
 * (nested too), `\` before a character to take it as it is. A pattern becomes a small program
 * whose threads all advance together, so that time grows with the text times the pattern and no
 * pattern can make it grow faster, as backtracking would.
 */

const CHAR = 0;
const NOT_SLASH = 1;
const ANY = 2;
const FORK = 3;
const JUMP = 4;
const MATCH = 5;

interface Instruction {
  op: number;
  /** The character of `CHAR`; where `FORK` and `JUMP` lead. */
  to: string | number;
  /** Where else `FORK` leads. */
  or: number;
}

/** Where the threads of a match stand; none are left when nothing that follows can match. */
export type GlobState = readonly number[];

/**
 * A compiled pattern. Matching goes on from a state, so a walk over folders matches each folder's
 * path once and knows which folders hold nothing that can match.
 *
 * ```ts
 * const glob = new Glob("{src,lib}/**");
 * glob.matches(glob.advance(glob.start, "src/a/b.ts")); // true
 * glob.advance(glob.start, "test/").length;              // 0: nothing below test/ can match
 * ```
 */
export class Glob {
  /** Nothing is read yet. */
  readonly start: GlobState;
  readonly #program: Instruction[] = [];
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(pattern: string) {
    const characters = [...pattern];
    this.#compile(characters, 0, characters.length, closersOf(characters));
    this.#emit(MATCH);
    this.#seen = new Uint32Array(this.#program.length);
    const start: number[] = [];
    this.#nextRound();
    this.#add(start, 0);
    this.start = start;
  }

  /** The state after more of the text is read. */
  advance(state: GlobState, text: string): GlobState {
    let current = state;
    for (const character of text) {
      if (current.length === 0) break;
      const next: number[] = [];
      this.#nextRound();
      for (const at of current) {
        const { op, to } = this.#program[at] as Instruction;
        if (op === ANY || (op === NOT_SLASH && character !== "/") || (op === CHAR && to === character)) {
          this.#add(next, at + 1);
        }
      }
      current = next;
    }
    return current;
  }

  /** Whether the text read so far matches as a whole. */
  matches(state: GlobState): boolean {
    return state.includes(this.#program.length - 1);
  }

  #nextRound(): void {
    if (++this.#round === 0xffff_ffff) {
      this.#seen.fill(0);
      this.#round = 1;
    }
  }

  /** Adds a thread, and those that it forks into without reading, each at most once a round. */
  #add(threads: number[], from: number): void {
    const pending = [from];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (this.#seen[at] === this.#round) continue;
      this.#seen[at] = this.#round;
      const { op, to, or } = this.#program[at] as Instruction;
      if (op === FORK) pending.push(or, to as number);
      else if (op === JUMP) pending.push(to as number);
      else threads.push(at);
    }
  }

  #emit(op: number, to: string | number = 0): Instruction {
    const instruction = { op, to, or: 0 };
    this.#program.push(instruction);
    return instruction;
  }

  /** Zero or more of what one instruction reads. */
  #repeat(op: number): void {
    const top = this.#program.length;
    const fork = this.#emit(FORK, top + 1);
    this.#emit(op);
    this.#emit(JUMP, top);
    fork.or = this.#program.length;
  }

  #compile(pattern: readonly string[], from: number, to: number, closers: ReadonlyMap<number, Braces>): void {
    for (let at = from; at < to; at++) {
      const character = pattern[at] as string;
      const braces = closers.get(at);
      if (character === "\\" && at + 1 < to) {
        this.#emit(CHAR, pattern[++at]);
      } else if (character === "?") {
        this.#emit(NOT_SLASH);
      } else if (character === "*") {
        let end = at + 1;
        while (end < to && pattern[end] === "*") end++;
        at = this.#compileStars(pattern, at, end) - 1;
      } else if (braces) {
        this.#compileBraces(pattern, at, braces, closers);
        at = braces.close;
      } else {
        this.#emit(CHAR, character);
      }
    }
  }

  /** Two stars that fill a segment match any number of folders; all other stars match within a name. */
  #compileStars(pattern: readonly string[], from: number, end: number): number {
    const before = pattern[from - 1] ?? "/";
    const after = pattern[end] ?? "/";
    if (end - from !== 2 || !"/{,".includes(before) || !"/},".includes(after)) {
      this.#repeat(NOT_SLASH);
      return end;
    }
    if (pattern[end] !== "/") {
      this.#repeat(ANY);
      return end;
    }
    const fork = this.#emit(FORK, this.#program.length + 1);
    this.#repeat(ANY);
    this.#emit(CHAR, "/");
    fork.or = this.#program.length;
    return end + 1;
  }

  #compileBraces(
    pattern: readonly string[],
    open: number,
    { commas, close }: Braces,
    closers: ReadonlyMap<number, Braces>,
  ): void {
    const jumps: Instruction[] = [];
    let from = open + 1;
    for (const comma of commas) {
      const fork = this.#emit(FORK, this.#program.length + 1);
      this.#compile(pattern, from, comma, closers);
      jumps.push(this.#emit(JUMP));
      fork.or = this.#program.length;
      from = comma + 1;
    }
    this.#compile(pattern, from, close, closers);
    for (const jump of jumps) jump.to = this.#program.length;
  }
}

interface Braces {
  commas: number[];
  close: number;
}

/** The braces that hold alternatives, by where they open. One without its partner or without a comma is a character. */
function closersOf(pattern: readonly string[]): Map<number, Braces> {
  const closers = new Map<number, Braces>();
  const open: { at: number; commas: number[] }[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") at++;
    else if (character === "{") open.push({ at, commas: [] });
    else if (character === ",") open.at(-1)?.commas.push(at);
    else if (character === "}") {
      const braces = open.pop();
      if (braces && braces.commas.length > 0) closers.set(braces.at, { commas: braces.commas, close: at });
    }
  }
  return closers;
}
