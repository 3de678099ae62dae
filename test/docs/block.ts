/** A block of code in a page of Markdown, or in a comment. */

/** A line, and where it stands. */
export interface Line {
  readonly text: string;
  /** In its file, from 1. */
  readonly number: number;
}

/** A block between fences. */
export interface Block {
  readonly language: string;
  /** Where it begins in its file, from 1. */
  readonly number: number;
  readonly lines: readonly Line[];
  /** The file that it is, by its first comment. */
  readonly file: string | undefined;
  /** The file into which it belongs, by `<!-- follows: main.mjs -->` before it. */
  readonly follows: string | undefined;
  /** Why nobody can run it here, by `<!-- not run: reason -->` before it. */
  readonly notRun: string | undefined;
}

/** File endings of what is type-checked and run, by language. */
export const MODULES: Readonly<Record<string, string>> = {
  js: "mjs",
  mjs: "mjs",
  javascript: "mjs",
  ts: "mts",
  typescript: "mts",
};
/** What must be JSON. */
export const DATA = ["json"];
/** Plan files and config files, told apart by the name in their first line. */
export const PLANS = ["yaml"];
/** What is typed into a shell. */
export const COMMANDS = ["sh", "bash"];
/** Figures, and what programs print. */
export const TEXTS = ["text"];

/** The blocks among lines of Markdown. */
export function blocksOf(lines: readonly Line[]): Block[] {
  const blocks: Block[] = [];
  let follows: string | undefined;
  let notRun: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const { text, number } = lines[at]!;
    const fence = /^ *(`{3,}|~{3,}) *(\S*)/.exec(text);
    if (fence) {
      const length = lines.slice(at + 1).findIndex((line) => line.text.trim() === fence[1]);
      if (length < 0) throw new Error(`the block in line ${number} has no end`);
      const inside = lines.slice(at + 1, at + 1 + length);
      const file = /^(?:\/\/|#) ([\w.-]+\.\w+)\b/.exec(inside[0]?.text ?? "")?.[1];
      blocks.push({ language: fence[2]!, number, lines: inside, file, follows, notRun });
      at += length + 1;
    }
    if (fence || text.trim() !== "") {
      follows = /^<!-- follows: (\S+) -->$/.exec(text)?.[1];
      notRun = /^<!-- not run: (\S.*) -->$/.exec(text)?.[1];
    }
  }
  return blocks;
}

/** Lines as one text. */
export function textOf(lines: readonly Line[]): string {
  return lines.map(({ text }) => text).join("\n");
}

/** A text's lines, by their place in it. */
export function linesOf(text: string): Line[] {
  return text.split("\n").map((line, index) => ({ text: line, number: index + 1 }));
}
