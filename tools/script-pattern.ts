/** JavaScript's regular expressions in RE2 syntax. */
import { shown, ToolFailure } from "./failure.js";
import { respelledPattern } from "./pattern.js";

/** What `\s` means to JavaScript; to RE2 it is ASCII alone. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
  String.raw`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
/** What `.` matches; to RE2 a line feed alone ends a line. */
const ANY = String.raw`[^\n\r\x{2028}\x{2029}]`;

/**
 * Says the same in RE2 syntax. Characters beyond U+FFFF count as one, as with JavaScript's flag `u`.
 * @throws ToolFailure `INVALID_PATTERN` for what has no linear-time matcher
 */
export function fromScriptPattern({ source }: RegExp): string {
  const hasNames = source.includes("(?<");
  let inClass = false;
  const translated = source.replace(/\\k<|\\[sS]-?|\\[^]|\(\?<?[=!]|\[\^?|\]|\./g, (token: string) => {
    const opens = !inClass && token.startsWith("[");
    if (opens || token === "]") inClass = opens;
    const space = token.startsWith("\\s") ? SPACE : token.startsWith("\\S") ? NO_SPACE : undefined;
    if (space) {
      const hyphen = token.length > 2 ? String.raw`\-` : "";
      return inClass ? space + hyphen : `[${space}]${hyphen}`;
    }
    if (inClass) return token === "\\b" ? String.raw`\x08` : token;
    if (token.startsWith("(?")) throw unsupported(source, "looks ahead or behind");
    if (/^\\[1-9]$/.test(token) || (token === "\\k<" && hasNames)) throw unsupported(source, "refers back to a group");
    return token === "." ? ANY : token;
  });
  return respelledPattern(translated);
}

function unsupported(source: string, why: string): ToolFailure {
  const message = `The pattern ${shown(source)} ${why}, which cannot be matched in linear time; write it without.`;
  return new ToolFailure("INVALID_PATTERN", message);
}
