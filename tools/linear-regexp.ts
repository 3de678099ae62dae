/** The regular expressions of a query, in linear time. */
import { shown, ToolFailure } from "./failure.js";
import { compilePattern, type Pattern } from "./pattern.js";
import type { QueryGuard } from "./query-guard.js";
import { fromScriptPattern } from "./script-pattern.js";

/** Characters times instructions that one search may take, which is about a second. */
const MAX_WORK = 50_000_000;
/** Patterns kept compiled; the library asks for one anew each time it comes to it. */
const MAX_KEPT = 100;

/** What the library uses of `RegExp`. */
export type RegExpLike = new (pattern: RegExp) => {
  lastIndex: number;
  exec(text: unknown): (readonly (string | undefined)[] & { readonly index: number }) | null;
};

/** A class to use in place of `RegExp`. Its searches end with the query and are refused where they could outlast it. */
export function linearRegExp(guard: QueryGuard): RegExpLike {
  const kept = new Map<string, Pattern>();
  const compiled = (pattern: RegExp): Pattern => {
    const key = String(pattern);
    const known = kept.get(key);
    if (known) return known;
    try {
      const engine = compilePattern(fromScriptPattern(pattern), pattern, pattern.source);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(key, engine);
      return engine;
    } catch (error) {
      throw error instanceof ToolFailure ? guard.fail(error) : error;
    }
  };
  return class {
    lastIndex = 0;
    readonly #source: string;
    readonly #engine: Pattern;
    #text: string | undefined;
    #matcher: ReturnType<Pattern["matcher"]> | undefined;

    constructor(pattern: RegExp) {
      this.#source = pattern.source;
      this.#engine = compiled(pattern);
    }

    exec(given: unknown): (readonly (string | undefined)[] & { readonly index: number }) | null {
      guard.look();
      const text = String(given);
      if (text.length * this.#engine.programSize() > MAX_WORK) {
        const bound = Math.floor(MAX_WORK / this.#engine.programSize());
        guard.refuse(`${shown(this.#source)} is matched against a text of more than ${bound} characters`, bound);
      }
      const from = this.lastIndex;
      this.lastIndex = 0;
      if (from > text.length || (from === 0 && !this.#engine.test(text))) return null;
      if (this.#text !== text || !this.#matcher) this.#matcher = this.#engine.matcher(text);
      this.#text = text;
      const matcher = this.#matcher;
      if (!matcher.find(from)) return null;
      this.lastIndex = matcher.end();
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? undefined);
      return Object.assign(groups, { index: matcher.start() });
    }
  };
}
