/** JSONata expressions that end, and that leave nothing behind. */
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import jsonata from "jsonata";
import type { CancellationView } from "../src/tool.js";
import { ToolFailure } from "./failure.js";

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 256;
/** Milliseconds between two turns of the event loop. */
const TURN_MS = 20;
/** Steps within steps, over all groups that are worked on at once. */
const MAX_DEPTH = 100_000;
const MAX_SEQUENCE = 1_000_000;
/** The library calls what is bound to this name before each step; an expression cannot bind it. */
const BEFORE_STEP = Symbol.for("jsonata.__evaluate_entry");

/** A compiled expression. */
export class Query {
  readonly #expression: jsonata.Expression;
  readonly #text: string;
  readonly #token: CancellationView;
  readonly #timeoutMs: number;
  readonly #started = performance.now();
  #nextTurn = 0;
  #steps = 0;
  #stopped: { readonly by: unknown } | undefined;

  /**
   * @param timeoutMs what all runs of the query may take together
   * @throws ToolFailure `INVALID_EXPRESSION`
   */
  constructor(text: string, timeoutMs: number, token: CancellationView) {
    this.#text = text;
    this.#timeoutMs = timeoutMs;
    this.#token = token;
    try {
      this.#expression = libraryFor(text)(text, { stack: MAX_DEPTH, sequence: MAX_SEQUENCE });
    } catch (error) {
      throw this.#failure("INVALID_EXPRESSION", error);
    }
    // The library takes a symbol here too, which its types leave out.
    this.#expression.assign(BEFORE_STEP as unknown as string, () => this.#beforeStep());
  }

  /**
   * Evaluates the expression.
   * @throws ToolFailure `EXPRESSION_FAILED` or `TIMED_OUT`
   */
  async run(input: unknown, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#token.check();
    try {
      return (await this.#expression.evaluate(input, variables)) as unknown;
    } catch (error) {
      // What ends a query from outside must not be mistaken for a fault of it, as $eval does.
      if (this.#stopped) throw this.#stopped.by;
      throw this.#failure("EXPRESSION_FAILED", error);
    }
  }

  #beforeStep(): Promise<void> | undefined {
    if (++this.#steps % STEPS_PER_LOOK !== 0) return undefined;
    try {
      this.#token.check();
      this.#checkTime();
    } catch (error) {
      this.#stopped = { by: error };
      throw error;
    }
    const now = performance.now();
    if (now < this.#nextTurn) return undefined;
    this.#nextTurn = now + TURN_MS;
    return setImmediate();
  }

  #checkTime(): void {
    if (performance.now() - this.#started < this.#timeoutMs) return;
    const { length } = this.#text;
    const what = length > 100 ? "The expression" : `The expression ${JSON.stringify(this.#text)}`;
    throw new ToolFailure("TIMED_OUT", `${what} took more than ${this.#timeoutMs} ms; narrow it or raise timeoutMs.`);
  }

  /** What the library throws is mostly an object with a code and a position; beyond that, the engine's own errors. */
  #failure(code: string, error: unknown): ToolFailure {
    const { code: reason, message, position } = (error ?? {}) as Record<string, unknown>;
    const why = typeof message === "string" ? message : String(error);
    const details: Record<string, unknown> = typeof reason === "string" ? { reason } : {};
    // A function that is built in may hold the position of an expression before this one.
    if (typeof position !== "number" || position > this.#text.length) return new ToolFailure(code, why, details);
    const before = this.#text.slice(0, position);
    const line = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n");
    return new ToolFailure(code, `${why} (line ${line}, column ${column} of the expression)`, {
      ...details,
      position,
      line,
      column,
    });
  }
}

/**
 * The library for an expression. A transform can change the functions that are built into the library, for all that
 * follow; an expression that may contain one gets a copy of the library that nobody else has.
 */
function libraryFor(text: string): typeof jsonata {
  if (!/\||\$eval/.test(text)) return jsonata;
  // One loader for each copy, since a loader remembers all it has loaded.
  const require = createRequire(import.meta.url);
  const path = require.resolve("jsonata");
  const { [path]: loaded } = require.cache;
  Reflect.deleteProperty(require.cache, path);
  try {
    return require("jsonata") as typeof jsonata;
  } finally {
    if (loaded) require.cache[path] = loaded;
  }
}
