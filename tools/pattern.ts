/** Regular expressions that are matched in time that grows with the text times the pattern, whatever they are. */
import { RE2JS } from "re2js";
import { shown, ToolFailure } from "./failure.js";

/** Instructions of a compiled pattern: a longer one takes seconds for a long line. */
const MAX_INSTRUCTIONS = 4_000;

/** A compiled pattern. */
export type Pattern = RE2JS;

/** How letters and line ends count. */
export interface PatternFlags {
  readonly ignoreCase?: boolean;
  /** Whether `^` and `$` match at each line. */
  readonly multiline?: boolean;
}

/**
 * Compiles RE2 syntax.
 * @param pattern what the caller gave, as the failure shows it
 * @throws ToolFailure `INVALID_PATTERN`
 */
export function compilePattern(
  source: string,
  { ignoreCase = false, multiline = false }: PatternFlags,
  pattern: string,
): Pattern {
  const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0);
  let engine: Pattern;
  try {
    engine = RE2JS.compile(source, flags);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : String(error);
    throw new ToolFailure("INVALID_PATTERN", `${shown(pattern)} is no RE2 expression: ${reason.slice(0, 200)}.`);
  }
  if (engine.programSize() <= MAX_INSTRUCTIONS) return engine;
  throw new ToolFailure("INVALID_PATTERN", `${shown(pattern)} is too large when compiled; use smaller repetitions.`);
}

/** A pattern to put others behind: a `\Q` that is open at its end would quote those too. */
export function closedPattern(source: string): string {
  const last = source.match(/\\Q[^]*?(?:\\E|$)|\\[^]/g)?.at(-1);
  return last?.startsWith("\\Q") && !last.endsWith("\\E") ? `${source}\\E` : source;
}

/** A pattern that matches a text as it is. */
export function quotedPattern(text: string): string {
  return RE2JS.quote(text);
}

/** Spells the escapes and names of JavaScript's syntax as RE2 does. */
export function respelledPattern(source: string): string {
  return RE2JS.translateRegExp(source);
}
