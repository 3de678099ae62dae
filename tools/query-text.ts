/** Functions of the query language on texts, bounded in what they make. */
import { fault, isFunction, type Functions } from "./query-language.js";
import type { QueryGuard } from "./query-guard.js";

/** Pieces of a text that are joined at once: a text of a million pieces would be a million objects. */
const PIECES = 4_096;

interface Match {
  readonly match: string;
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly next: () => Match | undefined | Promise<Match | undefined>;
}
type Matcher = (this: unknown, text?: string) => Match | undefined | Promise<Match | undefined>;
type Replacer = (this: unknown, match: Match) => unknown;

/** A text that grows, in few pieces. */
class LongText {
  readonly #guard: QueryGuard;
  readonly #what: string;
  #length = 0;
  #joined = "";
  #pieces: string[] = [];

  constructor(guard: QueryGuard, what: string) {
    this.#guard = guard;
    this.#what = what;
  }

  add(piece: string): void {
    this.#guard.round();
    this.#length += piece.length;
    this.#guard.checkText(this.#what, this.#length);
    if (this.#pieces.push(piece) === PIECES) this.toString();
  }

  toString(): string {
    this.#joined += this.#pieces.join("");
    this.#pieces = [];
    return this.#joined;
  }
}

/** The functions, by their names. They take what the library's own take. */
export function textFunctions(guard: QueryGuard): Functions {
  return {
    length: (text?: string) => (text === undefined ? undefined : lengthOf(text, guard)),

    substring(text: string | undefined, start: number, length?: number) {
      if (text === undefined) return undefined;
      if (length !== undefined && length <= 0) return "";
      // Counted as the slice of an array counts.
      const all = start < 0 ? lengthOf(text, guard) : 0;
      const first = Math.max(start, -all);
      const from = first < 0 ? all + Math.trunc(first) : Math.trunc(first);
      const end = length === undefined ? Infinity : Math.trunc(first < 0 ? all + first + length : first + length);
      return text.slice(unitOf(text, from, guard), unitOf(text, end, guard));
    },

    pad(text: string | undefined, width: number, filler?: string) {
      if (text === undefined) return undefined;
      const missing = Math.abs(Math.trunc(width)) - lengthOf(text, guard);
      if (!(missing > 0)) return text;
      guard.checkText("$pad", missing + text.length);
      const piece = filler || " ";
      const characters = lengthOf(piece, guard);
      const rest = piece.slice(0, unitOf(piece, missing % characters, guard));
      const padding = piece.repeat(Math.floor(missing / characters)) + rest;
      guard.checkText("$pad", padding.length + text.length);
      return width > 0 ? text + padding : padding + text;
    },

    join(texts?: readonly string[], separator = "") {
      if (texts === undefined) return undefined;
      let length = separator.length * Math.max(texts.length - 1, 0);
      for (const each of texts) {
        guard.round();
        length += each.length;
      }
      guard.checkText("$join", length);
      return texts.join(separator);
    },

    async split(text: string | undefined, separator: string | Matcher, limit?: number) {
      if (text === undefined) return undefined;
      if (limit !== undefined && limit < 0) throw fault("D3020", { value: limit, index: 3 });
      const most = limit ?? Infinity;
      const parts: string[] = [];
      const add = (part: string): void => {
        guard.round();
        guard.checkList("$split", parts.push(part));
      };
      if (typeof separator === "string") {
        const whole = Math.trunc(most);
        if (separator === "") {
          for (let at = 0; at < text.length && parts.length < whole; at++) add(text.charAt(at));
          return parts;
        }
        let from = 0;
        for (let at = 0; at !== -1 && parts.length < whole; from = at + separator.length) {
          at = text.indexOf(separator, from);
          add(at === -1 ? text.slice(from) : text.slice(from, at));
        }
        return parts;
      }
      let start = 0;
      let match = most > 0 ? await matched(separator, this, text) : undefined;
      for (; match && parts.length < most; match = await matched(match.next, this)) {
        add(text.substring(start, match.start));
        start = match.end;
      }
      if (parts.length < most) add(text.substring(start));
      return parts;
    },

    async replace(text: string | undefined, pattern: string | Matcher, replacement: string | Replacer, limit?: number) {
      if (text === undefined) return undefined;
      if (pattern === "") throw fault("D3010", { value: pattern, index: 2 });
      if (limit !== undefined && limit < 0) throw fault("D3011", { value: limit, index: 4 });
      const most = limit ?? Infinity;
      const made = new LongText(guard, "$replace");
      let from = 0;
      let count = 0;
      if (typeof pattern === "string") {
        for (let at = text.indexOf(pattern); at !== -1 && count < most; at = text.indexOf(pattern, from)) {
          made.add(text.slice(from, at));
          made.add(String(replacement));
          from = at + pattern.length;
          count++;
        }
      } else {
        let match = most > 0 ? await matched(pattern, this, text) : undefined;
        for (; match && count < most; match = await matched(match.next, this)) {
          made.add(text.substring(from, match.start));
          if (typeof replacement === "string") substitute(replacement, match, made);
          else {
            const value = await replacement.apply(this, [match]);
            if (typeof value !== "string") throw fault("D3012", { value });
            made.add(value);
          }
          from = match.start + match.match.length;
          count++;
        }
      }
      made.add(text.slice(from));
      return made.toString();
    },
  };
}

/** Characters of a text; a pair of surrogates is one. */
function lengthOf(text: string, guard: QueryGuard): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    guard.round();
    if (isPair(text, at)) {
      length--;
      at++;
    }
  }
  return length;
}

/** Where in UTF-16 units a character begins. */
function unitOf(text: string, characters: number, guard: QueryGuard): number {
  let at = 0;
  for (let count = 0; count < characters && at < text.length; count++) {
    guard.round();
    at += isPair(text, at) ? 2 : 1;
  }
  return at;
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

async function matched(matcher: Matcher, self: unknown, text?: string): Promise<Match | undefined> {
  const match = await matcher.apply(self, [text]);
  if (!match) return undefined;
  const { start, end, groups, next }: Partial<Match> = match;
  // As loose as the library's own check.
  if (typeof start === "number" || typeof end === "number" || Array.isArray(groups) || isFunction(next)) return match;
  throw fault("T1010");
}

/** Adds a replacement with the groups that it names. */
function substitute(replacement: string, { match, groups }: Match, made: LongText): void {
  let from = 0;
  for (let at = replacement.indexOf("$"); at !== -1; at = replacement.indexOf("$", from)) {
    made.add(replacement.slice(from, at));
    from = at + 1;
    const next = replacement.charAt(from);
    if (next === "$" || next === "0") {
      made.add(next === "$" ? "$" : match);
      from++;
      continue;
    }
    const digits = groups.length === 0 ? 1 : Math.floor(Math.log10(groups.length)) + 1;
    let group = Number.parseInt(replacement.slice(from, from + digits), 10);
    if (digits > 1 && group > groups.length) group = Number.parseInt(replacement.slice(from, from + digits - 1), 10);
    if (Number.isNaN(group)) made.add("$");
    else {
      made.add(groups[group - 1] ?? "");
      from += String(group).length;
    }
  }
  made.add(replacement.slice(from));
}
