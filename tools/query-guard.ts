/** What keeps a query within its time and its bounds. */
import type { CancellationView } from "../src/tool.js";
import { ToolFailure } from "./failure.js";

/** UTF-16 units of one text that a query may make: as many as the largest document has. */
export const MAX_TEXT = 16 * 1024 * 1024;
/** Elements of one list that a query may make. */
export const MAX_SEQUENCE = 1_000_000;
/** Rounds of a loop between two looks at the clock. */
const ROUNDS_PER_LOOK = 1_024;

/** Ends a query from within; what ended it is kept, as the library wraps what passes through `$eval`. */
export class QueryGuard {
  readonly #token: CancellationView;
  readonly #timeoutMs: number;
  readonly #what: string;
  readonly #started = performance.now();
  #rounds = 0;
  #stopped: { readonly by: unknown } | undefined;

  /**
   * @param timeoutMs what all runs of the query may take together
   * @param what the query, as messages name it
   */
  constructor(timeoutMs: number, token: CancellationView, what: string) {
    this.#timeoutMs = timeoutMs;
    this.#token = token;
    this.#what = what;
  }

  /** What has ended the query; undefined while nothing has. */
  get stopped(): { readonly by: unknown } | undefined {
    return this.#stopped;
  }

  /** Ends the query where it is cancelled or its time is up. */
  look(): void {
    // The library works on several branches at once; those that are left over end with the first one.
    if (this.#stopped) throw this.#stopped.by;
    try {
      this.#token.check();
    } catch (error) {
      throw this.#stop(error);
    }
    if (performance.now() - this.#started < this.#timeoutMs) return;
    const message = `${this.#what} took more than ${this.#timeoutMs} ms; narrow it or raise timeoutMs.`;
    throw this.#stop(new ToolFailure("TIMED_OUT", message));
  }

  /** One round of a loop: looks once in a while. */
  round(): void {
    if (++this.#rounds % ROUNDS_PER_LOOK === 0) this.look();
  }

  /** Ends the query where a text is longer than one may be. */
  checkText(what: string, length: number): void {
    if (length > MAX_TEXT) this.refuse(`${what} makes a text of more than ${MAX_TEXT} characters`, MAX_TEXT);
  }

  /** Ends the query where a list is longer than one may be. */
  checkList(what: string, length: number): void {
    if (length > MAX_SEQUENCE) this.refuse(`${what} makes more than ${MAX_SEQUENCE} elements`, MAX_SEQUENCE);
  }

  /** Ends the query at a bound. */
  refuse(what: string, bound: number): never {
    throw this.#stop(new ToolFailure("TOO_LARGE", `${what}, which is the bound; let it work on less.`, { bound }));
  }

  /** Ends the query for a failure of its own. */
  fail(failure: ToolFailure): never {
    throw this.#stop(failure);
  }

  #stop(by: unknown): unknown {
    this.#stopped ??= { by };
    return by;
  }
}
