/** Where lines that do not occur in a text would fit best, so that whoever wrote them sees what is different. */
import { distance } from "fastest-levenshtein";
import type { CancellationView } from "../src/tool.js";
import { shown } from "./failure.js";

/** A place where lines nearly fit. */
export interface NearestFit {
  /** The first line of the text that is different, from 1. */
  readonly line: number;
  /** What the text has there; undefined after its last line. */
  readonly found: string | undefined;
  /** What was wanted there. */
  readonly expected: string;
}

const LINES_PER_POLL = 1_024;
const COMPARED_LINES = 50_000;
const COMPARED_LENGTH = 200;

/**
 * The place at which most of the wanted lines match in a row; where not even the first one does, the line most like it.
 * @param whole whether the first and the last line have to match as a whole; else the first may be a line's end, the last a line's start
 * @returns undefined for a text without lines
 */
export function nearestFit(
  lines: readonly string[],
  wanted: readonly string[],
  whole: boolean,
  token: CancellationView,
): NearestFit | undefined {
  let best = 0;
  let bestMatched = 0;
  for (let at = 0; at < lines.length; at++) {
    if (at % LINES_PER_POLL === 0) token.check();
    const matched = matchedAt(lines, at, wanted, whole);
    if (matched > bestMatched) [best, bestMatched] = [at, matched];
  }
  if (bestMatched > 0) {
    return {
      line: best + bestMatched + 1,
      found: lines[best + bestMatched],
      expected: wanted[bestMatched] ?? "",
    };
  }
  return likestLine(lines, wanted.find((line) => line.trim() !== "") ?? "", token);
}

/** A sentence that tells a nearest fit. */
export function told({ line, found, expected }: NearestFit): string {
  if (found === undefined) return `The text ends before line ${line}, where ${shown(expected)} is expected.`;
  const space = squeezed(found) === squeezed(expected) ? "; only white space differs" : "";
  return `Nearest is line ${line}, ${shown(found)}, where ${shown(expected)} is expected${space}.`;
}

function matchedAt(lines: readonly string[], at: number, wanted: readonly string[], whole: boolean): number {
  let matched = 0;
  for (; matched < wanted.length; matched++) {
    const line = lines[at + matched];
    const part = wanted[matched] ?? "";
    if (line === undefined) break;
    if (line === part) continue;
    if (whole || part === "") break;
    const fits =
      (matched === 0 && wanted.length > 1 && line.endsWith(part)) ||
      (matched > 0 && matched === wanted.length - 1 && line.startsWith(part));
    if (!fits) break;
  }
  // Blank lines fit everywhere and say nothing.
  const said = wanted.slice(0, matched).some((line) => line.trim() !== "");
  return said ? matched : 0;
}

function likestLine(lines: readonly string[], expected: string, token: CancellationView): NearestFit | undefined {
  const meant = squeezed(expected).slice(0, COMPARED_LENGTH);
  let best: number | undefined;
  let least = Infinity;
  for (let at = 0; at < Math.min(lines.length, COMPARED_LINES) && least > 0; at++) {
    if (at % LINES_PER_POLL === 0) token.check();
    const line = squeezed(lines[at] ?? "").slice(0, COMPARED_LENGTH);
    // No line is nearer than the lengths differ.
    if (line === "" || Math.abs(line.length - meant.length) >= least) continue;
    const far = distance(meant, line);
    if (far < least) [best, least] = [at, far];
  }
  return best === undefined ? undefined : { line: best + 1, found: lines[best], expected };
}

function squeezed(line: string): string {
  return line
    .slice(0, 4 * COMPARED_LENGTH)
    .replace(/\s+/g, " ")
    .trim();
}
