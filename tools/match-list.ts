/** The matches of a search, with the lines around them, within bounds. */
import type { Place } from "./line-matcher.js";
import type { Line } from "./line-stream.js";
import type { Output } from "./specs/search-files.js";

type Match = Output["matches"][number];

/** UTF-16 units of a line that are given. */
const SHOWN_UNITS = 500;
/** Of those, how many come before the match where the line does not fit. */
const LEAD_UNITS = 100;

/** How much is gathered. */
export interface MatchBounds {
  readonly maxMatches: number;
  /** Bytes of text, of the matches and the lines around them. */
  readonly maxBytes: number;
  /** Lines given before and after each match. */
  readonly before: number;
  readonly after: number;
}

/** Gathers the matches of one file after the other. */
export class MatchList {
  readonly matches: Match[] = [];
  filesWithMatches = 0;
  /** Which bound was reached. */
  limit: Output["limit"];
  readonly #bounds: MatchBounds;
  #bytes = 0;
  #path = "";
  #fileStart = 0;
  #fileBytes = 0;
  #recent: string[] = [];
  /** Matches that still get lines after them. */
  #open: { readonly match: Match; left: number }[] = [];

  constructor(bounds: MatchBounds) {
    this.#bounds = bounds;
  }

  /** Whether nothing more can be added. */
  get full(): boolean {
    return this.limit !== undefined && this.#open.length === 0;
  }

  begin(path: string): void {
    this.#path = path;
    this.#fileStart = this.matches.length;
    this.#fileBytes = this.#bytes;
    this.#recent = [];
    this.#open = [];
  }

  /** Takes a line of the file. */
  take(line: Line, find: (text: string) => Place | undefined): void {
    const { before } = this.#bounds;
    if (this.#open.length > 0) this.#follow(line.text);
    const place = this.limit === undefined ? find(line.text) : undefined;
    if (place) this.#add(line, place);
    if (before === 0) return;
    if (this.#recent.length === before) this.#recent.shift();
    this.#recent.push(line.text.slice(0, SHOWN_UNITS));
  }

  /** Ends the file. */
  finish(): void {
    if (this.matches.length > this.#fileStart) this.filesWithMatches++;
    this.#open = [];
  }

  /** Forgets the file's matches: it is no text after all. */
  drop(): void {
    this.matches.length = this.#fileStart;
    this.#bytes = this.#fileBytes;
    this.#open = [];
    this.limit = undefined;
  }

  #add({ text, number }: Line, { start, end }: Place): void {
    const { maxMatches, after } = this.#bounds;
    const from = text.length <= SHOWN_UNITS ? 0 : Math.max(0, Math.min(start - LEAD_UNITS, text.length - SHOWN_UNITS));
    const shown = own(text.slice(from, from + SHOWN_UNITS));
    const match: Match = {
      path: this.#path,
      line: number,
      column: start + 1,
      text: shown,
      match: own(text.slice(start, Math.min(end, start + SHOWN_UNITS))),
      ...(text.length > SHOWN_UNITS && { clipped: true }),
      ...(this.#bounds.before > 0 && { before: this.#recent.map(own) }),
      ...(after > 0 && { after: [] }),
    };
    this.matches.push(match);
    if (after > 0) this.#open.push({ match, left: after });
    this.#count(match.path, match.text, match.match, ...(match.before ?? []));
    if (this.limit === undefined && this.matches.length === maxMatches) this.limit = "maxMatches";
  }

  #follow(text: string): void {
    const shown = own(text.slice(0, SHOWN_UNITS));
    for (const each of this.#open) {
      each.match.after?.push(shown);
      each.left--;
      this.#count(shown);
    }
    this.#open = this.#open.filter(({ left }) => left > 0);
  }

  #count(...texts: string[]): void {
    for (const text of texts) this.#bytes += Buffer.byteLength(text);
    if (this.limit === undefined && this.#bytes >= this.#bounds.maxBytes) this.limit = "maxBytes";
  }
}

/** A copy: a part of a text keeps all of that text in memory. Half of a pair at a cut becomes U+FFFD. */
function own(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
