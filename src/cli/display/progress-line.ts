/** How far a call is, in one line that is drawn anew. */
import { createLogUpdate } from "log-update";
import type { ProgressEvent } from "../../index.js";
import { oneLine } from "../printable.js";
import type { Picture } from "../screen.js";
import { clipEnd, progressBar } from "../table.js";
import type { Terminal } from "../terminal.js";

/** On the terminal until `end`. */
export class ProgressLine implements Picture {
  readonly #terminal: Terminal;
  readonly #update: ReturnType<typeof createLogUpdate>;
  #isHidden = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#update = createLogUpdate(terminal.host.stderr);
    terminal.screen.add(this);
  }

  draw({ done, total, message = "" }: ProgressEvent): void {
    if (this.#isHidden) return;
    const parts = [
      progressBar(done, total),
      total === undefined ? String(done) : `${done} of ${total}`,
      oneLine(message),
    ];
    this.#update(clipEnd(parts.filter((part) => part !== "").join("  "), this.#terminal.columns - 1));
  }

  /** Makes room for a line; the next event draws it below. */
  clear(): void {
    if (!this.#isHidden) this.#update.clear();
  }

  hide(): void {
    this.#isHidden = true;
    this.#update.clear();
    // Gives the cursor back.
    this.#update.done();
  }

  /** The next event draws it. */
  show(): void {
    this.#isHidden = false;
  }

  end(): void {
    this.#terminal.screen.remove(this);
    this.#update.clear();
  }
}
