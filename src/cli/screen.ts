/** Who writes to the terminal: while a question stands there, nobody else does. */

/** Something that is drawn again and again, and gives way to a question. */
export interface Picture {
  /** Takes it off; nothing of it is drawn until `show`. */
  hide(): void;
  show(): void;
}

/** Entries that are kept for later at most. */
const MOST_HELD = 1_000;

/** What people see of stderr. */
export class Screen {
  readonly #stream: NodeJS.WritableStream;
  readonly #pictures = new Set<Picture>();
  #held: string[] | undefined;
  #passedOver = 0;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  add(picture: Picture): void {
    this.#pictures.add(picture);
    if (this.#held) picture.hide();
  }

  remove(picture: Picture): void {
    this.#pictures.delete(picture);
  }

  /** Writes an entry, after the question where one stands. */
  write(text: string): void {
    if (!this.#held) this.#stream.write(text);
    else if (this.#held.length < MOST_HELD) this.#held.push(text);
    else this.#passedOver++;
  }

  /** Makes room for a question, until `restore`. */
  clear(): void {
    this.#held ??= [];
    for (const picture of this.#pictures) picture.hide();
  }

  /** Writes a part of the question that room was made for. */
  ask(text: string): void {
    this.#stream.write(text);
  }

  /** Goes on, with what came meanwhile. */
  restore(): void {
    for (const text of this.#held ?? []) this.#stream.write(text);
    if (this.#passedOver > 0) this.#stream.write(`(${this.#passedOver} more entries were not kept)\n`);
    this.#held = undefined;
    this.#passedOver = 0;
    for (const picture of this.#pictures) picture.show();
  }
}
