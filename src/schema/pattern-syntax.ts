/** Reads a regular expression of ECMAScript and writes the same language in RE2 syntax. */
import { classSource, complement, DIGITS, DOT, propertySet, SPACE, union, WORD, type CharSet } from "./charset.js";

/** The pattern needs what no linear-time engine has, or would become too large for one. */
export class Inexpressible extends Error {}

/** RE2 refuses counts, and products of nested counts, above this. */
const MAX_COUNT = 1_000;
/** Most instructions of a pattern once its counts are written out. */
const MAX_WEIGHT = 20_000;

/** Most properties in the patterns of one schema; about 10 ms each. */
const MAX_PROPERTIES = 64;

/** A piece of RE2 source. */
interface Piece {
  readonly source: string;
  /** About how many instructions it makes. */
  readonly weight: number;
  /** Product of the nested counts in it. */
  readonly count: number;
}

const EMPTY: Piece = { source: "", weight: 1, count: 1 };
const SETS: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

/**
 * Translates a pattern that the native engine has accepted.
 *
 * @param unicode - whether it was accepted with the `u` flag; without, only what both readings share is translated
 * @param properties - properties such as `\p{L}` that the schema uses; each new one is searched in all of Unicode
 * @throws Inexpressible
 */
export function translatePattern(source: string, unicode: boolean, properties: Set<string>): string {
  return new Translator(source, unicode, properties).translate();
}

class Translator {
  #at = 0;
  readonly #text: string;
  readonly #unicode: boolean;
  readonly #properties: Set<string>;

  constructor(source: string, unicode: boolean, properties: Set<string>) {
    this.#text = source;
    this.#unicode = unicode;
    this.#properties = properties;
  }

  translate(): string {
    const { source } = this.#alternatives();
    if (this.#at < this.#text.length) throw new Inexpressible("it cannot be read");
    return source;
  }

  #peek(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += text.length;
    return true;
  }

  #match(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  #alternatives(): Piece {
    const branches = [this.#sequence()];
    while (this.#take("|")) branches.push(this.#sequence());
    return join(branches, "|");
  }

  #sequence(): Piece {
    const terms: Piece[] = [];
    while (this.#at < this.#text.length && !this.#peek("|") && !this.#peek(")")) terms.push(this.#term());
    return join(terms, "");
  }

  #term(): Piece {
    if (this.#take("^")) return { ...EMPTY, source: "\\A" };
    if (this.#take("$")) return { ...EMPTY, source: "\\z" };
    const boundary = this.#match(/\\[bB]/y);
    if (boundary !== null) return { ...EMPTY, source: boundary[0] };
    return this.#quantified(this.#peek("(") ? this.#group() : setPiece(this.#atom()));
  }

  #group(): Piece {
    if (this.#match(/\(\?<?[=!]/y) !== null) throw new Inexpressible("it looks around");
    if (this.#match(/\((?:\?:|\?<[^>]*>|(?!\?))/y) === null) throw new Inexpressible("it sets flags inside");
    const inner = this.#alternatives();
    this.#take(")");
    return { ...inner, source: `(?:${inner.source})` };
  }

  #quantified(piece: Piece): Piece {
    const match = this.#match(/(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
    if (match === null) return piece;
    const [, symbol, least = "", comma, most] = match;
    if (symbol !== undefined) return { ...piece, source: `(?:${piece.source})${symbol}`, weight: piece.weight + 1 };
    const low = Number(least);
    if (comma === undefined) return join(repeat(piece, low, false), "");
    if (most === "") return join([...repeat(piece, low, false), { ...piece, source: `(?:${piece.source})*` }], "");
    return join([...repeat(piece, low, false), ...repeat(piece, Number(most) - low, true)], "");
  }

  #atom(): CharSet {
    if (this.#take(".")) return DOT;
    if (this.#take("[")) return this.#class();
    if (this.#peek("\\")) return this.#escape(false);
    return this.#character();
  }

  #character(): CharSet {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) throw new Inexpressible("it cannot be read");
    this.#at += point > 0xffff ? 2 : 1;
    return [point, point];
  }

  #class(): CharSet {
    const negated = this.#take("^");
    const members: CharSet[] = [];
    while (!this.#take("]")) {
      const low = this.#classAtom();
      if (!this.#peek("-") || this.#peek("-]")) {
        members.push(low);
        continue;
      }
      this.#take("-");
      const high = this.#classAtom();
      if (isSingle(low) && isSingle(high)) members.push([low[0] ?? 0, high[0] ?? 0]);
      else members.push(low, high, [0x2d, 0x2d]);
    }
    const set = union(members);
    return negated ? complement(set) : set;
  }

  #classAtom(): CharSet {
    return this.#peek("\\") ? this.#escape(true) : this.#character();
  }

  #escape(inClass: boolean): CharSet {
    this.#take("\\");
    const set = this.#match(/[dDwWsS]/y);
    if (set !== null) return SETS[set[0]] ?? [];
    const property = this.#match(/([pP])\{([^}]*)\}/y);
    if (property !== null && this.#unicode) return this.#property(property[2] ?? "", property[1] === "P");
    const point = this.#escapedPoint(inClass);
    return [point, point];
  }

  #property(name: string, negated: boolean): CharSet {
    if (this.#properties.add(name).size > MAX_PROPERTIES) throw new Inexpressible("the schema has too many \\p{…}");
    const set = propertySet(name);
    return negated ? complement(set) : set;
  }

  #escapedPoint(inClass: boolean): number {
    const pair = this.#match(/u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/y);
    if (pair !== null) {
      return String.fromCharCode(parseInt(pair[1] ?? "", 16), parseInt(pair[2] ?? "", 16)).codePointAt(0) ?? 0;
    }
    const hex =
      this.#match(/x([\da-fA-F]{2})|u([\da-fA-F]{4})/y) ?? (this.#unicode ? this.#match(/u\{([\da-fA-F]+)\}/y) : null);
    if (hex !== null) return parseInt(hex[1] ?? hex[2] ?? "", 16);
    const letter = this.#match(/c([a-zA-Z])/y);
    if (letter !== null) return (letter[1] ?? "").charCodeAt(0) % 32;
    const control = this.#match(/[tnvfr]|0(?!\d)/y);
    if (control !== null) return CONTROLS[control[0]] ?? 0;
    if (inClass && this.#take("b")) return 8;
    if (this.#match(/[1-9]|k/y) !== null) throw new Inexpressible("it refers back to a group");
    // Without the `u` flag these mean something else than their author wrote.
    if (this.#match(/[0cpPu]/y) !== null) throw new Inexpressible("an escape in it is ambiguous");
    return this.#character()[0] ?? 0;
  }
}

function isSingle(set: CharSet): boolean {
  return set.length === 2 && set[0] === set[1];
}

function setPiece(set: CharSet): Piece {
  return { source: classSource(set), weight: 1 + Math.floor(set.length / 64), count: 1 };
}

function join(pieces: readonly Piece[], separator: string): Piece {
  let weight = 1;
  let count = 1;
  for (const piece of pieces) {
    weight += piece.weight;
    count = Math.max(count, piece.count);
  }
  if (weight > MAX_WEIGHT) throw new Inexpressible("it is too large");
  return { source: pieces.map(({ source }) => source).join(separator), weight, count };
}

/** Writes a count as counts that RE2 takes, one after the other. */
function repeat(piece: Piece, times: number, optional: boolean): Piece[] {
  if (piece.weight * times > MAX_WEIGHT) throw new Inexpressible("it is too large");
  const most = Math.max(1, Math.floor(MAX_COUNT / piece.count));
  const pieces: Piece[] = [];
  for (let left = times; left > 0; left -= most) {
    const part = Math.min(left, most);
    const count = optional ? `{0,${part}}` : `{${part}}`;
    pieces.push({ source: `(?:${piece.source})${count}`, weight: piece.weight * part, count: piece.count * part });
  }
  return pieces;
}
