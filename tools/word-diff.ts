/** Diffs that mark the words that differ, in the lines they stand on. */
import { diffWordsWithSpace } from "diff/lib/diff/word.js";
import type { CancellationView } from "../src/tool.js";
import { comparing, cut, MAX_EDIT_LENGTH, type Diff, type DiffOptions } from "./unified-diff.js";

/** Stands for a line end that is new or gone. */
const LINE_END = "↵";

/**
 * Compares two texts word by word. What is gone stands in `[-…-]`, what is new in `{+…+}`, and `@@ n @@` before each group
 * of lines names the line of the right text at which it starts.
 * @returns undefined where they differ too much to be compared in time
 */
export function wordDiff(left: string, right: string, options: DiffOptions, token: CancellationView): Diff | undefined {
  const bounds = { timeout: options.timeoutMs, maxEditLength: MAX_EDIT_LENGTH, ...comparing(token, options.keyOf) };
  const changes = diffWordsWithSpace(left, right, bounds);
  if (!changes) return undefined;
  const lines = new MarkedLines();
  const counts = { added: 0, removed: 0 };
  for (const { value, added, removed } of changes) {
    if (added) counts.added += wordsIn(value);
    if (removed) counts.removed += wordsIn(value);
    lines.push(value, added ? "added" : removed ? "removed" : "kept");
  }
  const [leftName, rightName] = options.names;
  const groups = lines.groups(options.contextLines);
  if (groups === "") return { diff: "", truncated: false, ...counts };
  return { ...cut(`--- ${leftName}\n+++ ${rightName}\n${groups}`, options.maxLength), ...counts };
}

function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

interface MarkedLine {
  text: string;
  changed: boolean;
  /** Its line in the right text. */
  readonly number: number;
}

/** Lines that are put together from kept and changed pieces. */
class MarkedLines {
  readonly #lines: MarkedLine[] = [{ text: "", changed: false, number: 1 }];
  #number = 1;

  push(piece: string, kind: "kept" | "added" | "removed"): void {
    const parts = piece.split("\n");
    for (const [index, part] of parts.entries()) {
      const ends = index < parts.length - 1;
      const line = this.#lines.at(-1) as MarkedLine;
      const text = kind !== "kept" && ends ? part + LINE_END : part;
      if (kind === "kept" || text === "") line.text += text;
      else line.text += kind === "added" ? `{+${text}+}` : `[-${text}-]`;
      if (kind !== "kept" && text !== "") line.changed = true;
      if (!ends) continue;
      if (kind !== "removed") this.#number++;
      this.#lines.push({ text: "", changed: false, number: this.#number });
    }
  }

  /** The changed lines and those around them. */
  groups(contextLines: number): string {
    const lines = this.#lines;
    if (lines.at(-1)?.text === "") lines.pop();
    let shown = "";
    let end = 0;
    for (const [index, { changed }] of lines.entries()) {
      if (!changed) continue;
      const from = Math.max(end, index - contextLines);
      if (from > end || end === 0) shown += `@@ ${lines[from]?.number} @@\n`;
      const to = Math.max(end, Math.min(lines.length, index + contextLines + 1));
      for (const line of lines.slice(from, to)) shown += `${line.text}\n`;
      end = to;
    }
    return shown;
  }
}
