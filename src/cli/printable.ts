/** Text of tools, plans and files, as a terminal may be given it: it moves no cursor, hides nothing, fakes no line. */

/** C0, DEL and C1 but tab and newline, which are layout; and what turns the direction in which a line reads. */
const CONTROLS = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text with control characters written out, as `\u001b`; tabs and newlines stay. */
export function printable(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The text as one line, for where a line means something. */
export function oneLine(text: string): string {
  return printable(text.replace(/[\t\r\n]+/g, " "));
}
