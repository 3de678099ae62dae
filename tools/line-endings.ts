/** Line endings of a text: those of a file stay as they are, however an edit writes its own. */

/** A text with a line feed alone at the end of each line, where that can be undone. */
export interface Unified {
  readonly text: string;
  /** Gives a text that comes from outside the same line ends. */
  readonly enter: (text: string) => string;
  /** Gives a text the line ends that the file had. */
  readonly leave: (text: string) => string;
}

const same = (text: string): string => text;
const toFeeds = (text: string): string => text.replaceAll("\r\n", "\n");

/** Takes a text apart from its line ends. One that mixes them, has none or has carriage returns elsewhere stays as it is. */
export function unifyLineEndings(text: string): Unified {
  const pairs = count(text, "\r\n");
  const feeds = count(text, "\n");
  const returns = count(text, "\r");
  if (feeds === 0 || pairs !== returns || (pairs > 0 && pairs < feeds)) return { text, enter: same, leave: same };
  if (pairs === 0) return { text, enter: toFeeds, leave: same };
  return { text: toFeeds(text), enter: toFeeds, leave: (changed) => changed.replaceAll("\n", "\r\n") };
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}
