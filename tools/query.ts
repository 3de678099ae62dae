/** JSONata expressions that end, and that leave nothing behind. */
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import jsonata from "jsonata";
import type { CancellationView } from "../src/tool.js";
import { ToolFailure } from "./failure.js";
import { checkJson } from "./json-length.js";
import { linearRegExp } from "./linear-regexp.js";
import { guardedFunctions } from "./query-functions.js";
import { MAX_SEQUENCE, QueryGuard } from "./query-guard.js";
import type { Environment } from "./query-language.js";

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 64;
/** Milliseconds between two turns of the event loop. */
const TURN_MS = 20;
/** Steps within steps, over all groups that are worked on at once. */
const MAX_DEPTH = 100_000;
/** The library calls what is bound to this name before each step; an expression cannot bind it. */
const BEFORE_STEP = Symbol.for("jsonata.__evaluate_entry");

/** A part of an expression, as the library holds it. */
interface Part {
  type: string;
  readonly value?: unknown;
  readonly lhs?: unknown;
  readonly rhs?: unknown;
  readonly position?: number;
  procedure?: unknown;
  arguments?: unknown;
}

/** A compiled expression. */
export class Query {
  readonly #expression: jsonata.Expression;
  readonly #text: string;
  readonly #guard: QueryGuard;
  #nextTurn = 0;
  #steps = 0;
  #isGuarded = false;

  /**
   * @param timeoutMs what all runs of the query may take together
   * @throws ToolFailure `INVALID_EXPRESSION`
   */
  constructor(text: string, timeoutMs: number, token: CancellationView) {
    this.#text = text;
    const what = text.length > 100 ? "The expression" : `The expression ${JSON.stringify(text)}`;
    this.#guard = new QueryGuard(timeoutMs, token, what);
    const RegexEngine = linearRegExp(this.#guard) as unknown as RegExpConstructor;
    try {
      this.#expression = libraryFor(text)(text, { stack: MAX_DEPTH, sequence: MAX_SEQUENCE, RegexEngine });
    } catch (error) {
      throw this.#failure("INVALID_EXPRESSION", error);
    }
    // The library takes a symbol here too, which its types leave out.
    this.#expression.assign(BEFORE_STEP as unknown as string, (part: Part, _: unknown, environment: Environment) =>
      this.#beforeStep(part, environment),
    );
  }

  /**
   * Evaluates the expression.
   * @throws ToolFailure `EXPRESSION_FAILED`, `TIMED_OUT`, `TOO_LARGE` or `INVALID_PATTERN`
   */
  async run(input: unknown, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#guard.look();
    try {
      return (await this.#expression.evaluate(input, variables)) as unknown;
    } catch (error) {
      // What ends a query from outside must not be mistaken for a fault of it, as $eval does.
      if (this.#guard.stopped) throw this.#guard.stopped.by;
      throw this.#failure("EXPRESSION_FAILED", error);
    }
  }

  /**
   * Makes sure that a result can be made into JSON.
   * @throws ToolFailure `TIMED_OUT` or `TOO_LARGE`
   */
  checkResult(result: unknown): void {
    checkJson(result, "The result", this.#guard);
  }

  #beforeStep(part: Part, environment: Environment): Promise<void> | undefined {
    if (!this.#isGuarded) {
      this.#isGuarded = true;
      for (const [name, each] of guardedFunctions(environment, this.#guard)) this.#expression.assign(name, each);
    }
    // What these operators do is neither bounded nor interrupted by the library: functions of ours take their place.
    if (part.type === "binary" && part.value === "&") callInstead(part, "operator &", [part.lhs, part.rhs]);
    else if (part.type === "wildcard") callInstead(part, "operator *", []);
    if (++this.#steps % STEPS_PER_LOOK !== 0) return undefined;
    this.#guard.look();
    const now = performance.now();
    if (now < this.#nextTurn) return undefined;
    this.#nextTurn = now + TURN_MS;
    return setImmediate();
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

function callInstead(part: Part, name: string, operands: readonly unknown[]): void {
  part.procedure = { type: "variable", value: name, position: part.position };
  part.arguments = operands;
  part.type = "function";
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
