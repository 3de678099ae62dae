/** Edits that say which text takes the place of which. */
import type { CancellationView } from "../src/tool.js";
import { ToolFailure } from "./failure.js";
import { nearestFit, told } from "./nearest-fit.js";

/** One text for another. */
export interface ExactEdit {
  readonly oldText: string;
  readonly newText: string;
  /** Replaces every occurrence. */
  readonly all?: boolean | undefined;
  /** The line, from 1, on which the occurrence starts that is meant. */
  readonly line?: number | undefined;
}

/** A text that has been edited. */
export interface Edited {
  readonly text: string;
  readonly replacements: number;
}

/** Places that are looked at; a text with more of them is ambiguous in any case. */
const MAX_PLACES = 1_000;
const LISTED_LINES = 20;
const PLACES_PER_POLL = 1_024;

/**
 * Replaces a text that occurs once, on the line that is named, or everywhere.
 * @throws ToolFailure `NO_MATCH`, `AMBIGUOUS_MATCH` or `TOO_LARGE`
 */
export function replaceExactly(text: string, edit: ExactEdit, maxLength: number, token: CancellationView): Edited {
  return edit.all ? replaceAll(text, edit, maxLength, token) : replaceOne(text, edit, token);
}

function replaceOne(text: string, edit: ExactEdit, token: CancellationView): Edited {
  const { oldText, newText, line } = edit;
  const places: number[] = [];
  // Occurrences may overlap: each of them could be the one that is meant.
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + 1)) {
    if (places.push(at) > MAX_PLACES && line === undefined) break;
    if (places.length % PLACES_PER_POLL === 0) token.check();
  }
  if (places.length === 0) throw noMatch(text, oldText, token);
  const lines = linesAt(text, places);
  const meant = line === undefined ? places : places.filter((_, index) => lines[index] === line);
  const [at] = meant;
  if (at === undefined) {
    throw new ToolFailure(
      "NO_MATCH",
      `oldText does not start on line ${line}, but on ${onLines(lines)}; name one of these lines.`,
      { lines: lines.slice(0, LISTED_LINES) },
    );
  }
  if (meant.length > 1) {
    const often = places.length > MAX_PLACES ? `more than ${MAX_PLACES}` : `${meant.length}`;
    throw new ToolFailure(
      "AMBIGUOUS_MATCH",
      `oldText occurs ${often} times, on ${onLines(lines)}; make it longer, name the line or set all to true.`,
      { lines: lines.slice(0, LISTED_LINES) },
    );
  }
  return { text: text.slice(0, at) + newText + text.slice(at + oldText.length), replacements: 1 };
}

function replaceAll(text: string, edit: ExactEdit, maxLength: number, token: CancellationView): Edited {
  const { oldText, newText } = edit;
  let replacements = 0;
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + oldText.length)) {
    if (++replacements % PLACES_PER_POLL === 0) token.check();
  }
  if (replacements === 0) throw noMatch(text, oldText, token);
  if (text.length + replacements * (newText.length - oldText.length) > maxLength) {
    throw new ToolFailure("TOO_LARGE", `${replacements} replacements would make the file too large; replace fewer.`);
  }
  // A function, since a string would have its dollar signs read.
  return { text: text.replaceAll(oldText, () => newText), replacements };
}

function noMatch(text: string, oldText: string, token: CancellationView): ToolFailure {
  const nearest = nearestFit(text.split("\n"), oldText.split("\n"), false, token);
  const hint = nearest ? told(nearest) : "The file is empty.";
  return new ToolFailure("NO_MATCH", `oldText does not occur. ${hint}`, nearest && { nearest: { ...nearest } });
}

/** The lines, from 1, of ascending places. */
function linesAt(text: string, places: readonly number[]): number[] {
  let line = 1;
  let next = text.indexOf("\n");
  return places.map((place) => {
    for (; next !== -1 && next < place; next = text.indexOf("\n", next + 1)) line++;
    return line;
  });
}

function onLines(lines: readonly number[]): string {
  const different = [...new Set(lines)];
  const listed = different.slice(0, LISTED_LINES).join(", ");
  const more = different.length > LISTED_LINES ? " and more" : "";
  return `${different.length === 1 ? "line" : "lines"} ${listed}${more}`;
}
