/** The lines of a text that comes in chunks. A line of any length takes bounded memory. */

/** UTF-16 units of a line that are looked at; the rest is passed over. */
const MAX_UNITS = 256 * 1024;
const CARRIAGE_RETURN = 0x0d;

/** A line without its end. */
export interface Line {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  /** Whether the line was longer than what is looked at. */
  readonly clipped: boolean;
}

/** Cuts chunks into lines, at line feeds; a carriage return before one belongs to the line's end. */
export class LineStream {
  /** What the line that is not complete holds so far. */
  #open: string[] = [];
  #openUnits = 0;
  #clipped = false;
  #number = 0;

  /** The lines that end in a chunk. */
  *push(chunk: string): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", from)) {
      if (this.#openUnits === 0 && end - from <= MAX_UNITS) {
        // Most lines lie within one chunk.
        const to = end > from && chunk.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
        yield { text: chunk.slice(from, to), number: ++this.#number, clipped: false };
      } else {
        this.#take(chunk, from, end);
        yield this.#close(true);
      }
      from = end + 1;
    }
    this.#take(chunk, from, chunk.length);
  }

  /** The last line, where the text does not end with a line feed. */
  *end(): Generator<Line> {
    if (this.#openUnits > 0) yield this.#close(false);
  }

  #take(chunk: string, from: number, to: number): void {
    const room = MAX_UNITS - this.#openUnits;
    if (to - from > room) this.#clipped = true;
    const taken = Math.min(to, from + room);
    if (taken === from) return;
    this.#open.push(chunk.slice(from, taken));
    this.#openUnits += taken - from;
  }

  #close(ended: boolean): Line {
    const whole = this.#open.length === 1 ? (this.#open[0] ?? "") : this.#open.join("");
    const text = ended && !this.#clipped && whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    const line = { text, number: ++this.#number, clipped: this.#clipped };
    this.#open = [];
    this.#openUnits = 0;
    this.#clipped = false;
    return line;
  }
}
