/** A text on the terminal that is drawn anew where it stands, and gives way to a question. */
import { createLogUpdate } from "log-update";
import type { Picture, Screen } from "../screen.js";
import type { Terminal } from "../terminal.js";

/** Draws on stderr until `end`. */
export class LiveText implements Picture {
  readonly #screen: Screen;
  readonly #update: ReturnType<typeof createLogUpdate>;
  readonly #shown: () => void;
  #isHidden = false;

  /** @param shown called when it may be drawn again */
  constructor({ screen, host }: Terminal, shown: () => void = () => undefined) {
    this.#screen = screen;
    this.#update = createLogUpdate(host.stderr);
    this.#shown = shown;
    screen.add(this);
  }

  get isHidden(): boolean {
    return this.#isHidden;
  }

  /** Draws it, unless it is hidden. */
  draw(text: string): void {
    if (!this.#isHidden) this.#update(text);
  }

  /** Makes room for a line; what is drawn next stands below. */
  clear(): void {
    if (!this.#isHidden) this.#update.clear();
  }

  hide(): void {
    this.#isHidden = true;
    this.#update.clear();
    // Gives the cursor back.
    this.#update.done();
  }

  show(): void {
    this.#isHidden = false;
    this.#shown();
  }

  end(): void {
    this.#screen.remove(this);
    this.#update.clear();
  }
}
