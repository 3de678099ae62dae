/** How far a call is, in one line that is drawn anew. */
import type { ProgressEvent } from "../../index.js";
import { oneLine } from "../printable.js";
import { clipEnd, progressBar } from "../table.js";
import type { Terminal } from "../terminal.js";
import { LiveText } from "./live-text.js";

/** On the terminal until `end`. */
export class ProgressLine {
  readonly #terminal: Terminal;
  /** Taken off for a question, it is drawn again with the next event. */
  readonly #text: LiveText;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#text = new LiveText(terminal);
  }

  draw({ done, total, message = "" }: ProgressEvent): void {
    const parts = [
      progressBar(done, total),
      total === undefined ? String(done) : `${done} of ${total}`,
      oneLine(message),
    ];
    this.#text.draw(clipEnd(parts.filter((part) => part !== "").join("  "), this.#terminal.columns - 1));
  }

  /** Makes room for a line; the next event draws it below. */
  clear(): void {
    this.#text.clear();
  }

  end(): void {
    this.#text.end();
  }
}
