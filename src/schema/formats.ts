/** The formats, with their regular expressions on the linear engine. */
import { RE2JS } from "re2js";
import { LinearPattern, type Pattern } from "./patterns.js";

/** Longest string, in UTF-16 units, that a native regular expression of a format is run on. */
const MAX_NATIVE_FORMAT_TEXT = 4_096;

/**
 * Replaces each bare regular expression among format definitions. One that the linear engine cannot
 * express stays native and rejects strings longer than 4,096 characters.
 */
export function linearFormats<Format>(
  formats: Readonly<Record<string, Format>>,
): Record<string, Format | ((text: string) => boolean)> {
  const entries = Object.entries(formats).map(
    ([name, format]) => [name, format instanceof RegExp ? linearFormat(format) : format] as const,
  );
  return Object.fromEntries(entries);
}

/** Compiles at the first use: most schemas name no format at all. */
function linearFormat(native: RegExp): (text: string) => boolean {
  let pattern: Pattern | undefined;
  return (text) => (pattern ??= compile(native)).test(text);
}

function compile(native: RegExp): Pattern {
  try {
    return new LinearPattern(RE2JS.compile(RE2JS.translateRegExp(native)));
  } catch {
    return { test: (text) => text.length <= MAX_NATIVE_FORMAT_TEXT && native.test(text) };
  }
}
