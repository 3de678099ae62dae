/** Finds a pattern in a line, in time that grows with the line times the pattern, whatever they are. */
import { ToolFailure } from "./failure.js";
import { closedPattern, compilePattern, quotedPattern, type Pattern } from "./pattern.js";

/** What a whole word does not touch. */
const NO_WORD = String.raw`[^\p{L}\p{M}\p{N}_]`;
/** The group around the pattern where there is something around it. */
const INNER = 1;

/** How a pattern is meant. */
export interface PatternOptions {
  readonly pattern: string;
  /** Whether the pattern is a text to look for, not a regular expression. */
  readonly literal: boolean;
  readonly caseSensitive: boolean;
  readonly wholeWord: boolean;
}

/** Where a match lies in its line, in UTF-16 units. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A compiled pattern. */
export class LineMatcher {
  readonly #text: string | undefined;
  readonly #engine: Pattern;
  readonly #matcher: ReturnType<Pattern["matcher"]>;
  readonly #group: number;

  /** @throws ToolFailure `INVALID_PATTERN` */
  constructor({ pattern, literal, caseSensitive, wholeWord }: PatternOptions) {
    if (literal && /[\r\n]/.test(pattern)) {
      throw new ToolFailure("INVALID_PATTERN", "A line holds no line end; look for one line at a time.");
    }
    const source = literal ? quotedPattern(pattern) : pattern;
    const flags = { ignoreCase: !caseSensitive };
    // Compiled by itself also where it is put between others: one that only looks like two halves of a group is none.
    const alone = compilePattern(source, flags, pattern);
    this.#text = literal && caseSensitive && !wholeWord ? pattern : undefined;
    const word = wholeWord ? `(?:^|${NO_WORD})(${closedPattern(source)})(?:$|${NO_WORD})` : undefined;
    this.#engine = word === undefined ? alone : compilePattern(word, flags, pattern);
    this.#group = wholeWord ? INNER : 0;
    this.#matcher = this.#engine.matcher("");
  }

  /** The first match in a line, or undefined. */
  find(line: string): Place | undefined {
    if (this.#text !== undefined) {
      const start = line.indexOf(this.#text);
      return start === -1 ? undefined : { start, end: start + this.#text.length };
    }
    // Most lines have no match, and to tell only that takes a fraction of the time.
    if (!this.#engine.test(line)) return undefined;
    this.#matcher.resetMatcherInput(line);
    if (!this.#matcher.find()) return undefined;
    return { start: this.#matcher.start(this.#group), end: this.#matcher.end(this.#group) };
  }
}
