/**
 * Regular expressions of ECMAScript on a linear-time engine. Only whether a string matches is asked, so
 * groups need not capture and a lazy quantifier is like a greedy one.
 */
import { RE2JS } from "re2js";
import { SchemaFault } from "./fault.js";
import { spend } from "./meter.js";
import { Inexpressible, translatePattern } from "./pattern-syntax.js";

/** What ajv asks of a regular expression. */
export interface Pattern {
  test(text: string): boolean;
}

/** UTF-16 units after which an engine's cache of states is dropped; it may take 8 MB. */
const CACHED_TEXT = 65_536;
/**
 * Steps of one search: about 100 ns for a UTF-16 unit, and 2 ns for each instruction where the engine has
 * to follow all of them, measured against 200 ns for a step.
 */
const stepsOf = (length: number, instructions: number): number => 3 + Math.floor((length * (64 + instructions)) / 128);

/** A pattern on the linear engine. */
export class LinearPattern implements Pattern {
  readonly #engine: RE2JS;
  readonly #size: number;
  #text = 0;

  constructor(engine: RE2JS) {
    this.#engine = engine;
    this.#size = engine.programSize();
  }

  /** ajv tells the patterns of a schema apart by this. */
  toString(): string {
    return this.#engine.pattern();
  }

  test(text: string): boolean {
    spend(stepsOf(text.length, this.#size));
    const found = this.#engine.test(text);
    if ((this.#text += text.length) > CACHED_TEXT) {
      this.#text = 0;
      this.#engine.reset();
    }
    return found;
  }
}

/** The flags under which a pattern is valid, or why it is not. */
function flagsOf(source: string): { flags: "u" | "" } | { reason: string } {
  try {
    new RegExp(source, "u");
    return { flags: "u" };
  } catch (error) {
    // Many patterns in the wild escape more than the `u` flag permits, such as `\-`.
    try {
      new RegExp(source);
      return { flags: "" };
    } catch {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** The patterns of one schema. */
export class PatternEngine {
  readonly #patterns = new Map<string, Pattern>();
  readonly #locations: ReadonlyMap<string, string>;
  readonly #trusted: boolean;
  readonly #native = new Set<string>();
  readonly #properties = new Set<string>();

  /** @param locations - where each pattern stands, as a JSON Pointer */
  constructor(locations: ReadonlyMap<string, string>, trusted: boolean) {
    this.#locations = locations;
    this.#trusted = trusted;
  }

  /** The patterns that the linear engine cannot express. */
  get nativePatterns(): readonly string[] {
    return [...this.#native];
  }

  /** @throws SchemaFault for what is no regular expression, or for a native one in an untrusted schema */
  compile(source: string): Pattern {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) this.#patterns.set(source, (pattern = this.#compile(source)));
    return pattern;
  }

  #compile(source: string): Pattern {
    const pointer = this.#locations.get(source) ?? "";
    const shown = JSON.stringify(source.length > 100 ? `${source.slice(0, 100)}…` : source);
    const valid = flagsOf(source);
    if ("reason" in valid)
      throw new SchemaFault(`${shown} is no regular expression: ${valid.reason}`, pointer, "pattern");
    try {
      return new LinearPattern(RE2JS.compile(translatePattern(source, valid.flags === "u", this.#properties)));
    } catch (error) {
      if (!this.#trusted) {
        const reason = error instanceof Inexpressible ? error.message : "it is too large";
        throw new SchemaFault(
          `the pattern ${shown} cannot run in linear time (${reason}), and the schema is not trusted`,
          pointer,
          "pattern",
        );
      }
      this.#native.add(source);
      return new RegExp(source, valid.flags);
    }
  }
}
