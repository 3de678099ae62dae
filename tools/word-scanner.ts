/** Finds the words of a text that comes in chunks, in one pass and without looking back. */

/** A row of word characters is cut after as many code units, so that one without end needs no memory without end. */
const MAX_UNITS = 1_000;
/** Code units that lower case and normal form can make of one, at most. */
const MAX_GROWTH = 4;

const UNKNOWN = 0;
const OTHER = 1;
const WORD = 2;
const APOSTROPHE = 3;

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u;

/** What kind of character each code point is; found out once, when first seen. */
const kinds = new Uint8Array(0x11_0000);
for (const apostrophe of "'’") kinds[apostrophe.charCodeAt(0)] = APOSTROPHE;

function kindOf(point: number): number {
  const known = kinds[point] as number;
  if (known !== UNKNOWN) return known;
  return (kinds[point] = WORD_CHARACTER.test(String.fromCodePoint(point)) ? WORD : OTHER);
}

/** Takes a word: its code units up to `length`, and its number of characters. The units are reused for the next word. */
export type WordSink = (units: Uint16Array, length: number, characters: number) => void;

/**
 * Letters, marks and digits of any script in a row are a word; an apostrophe between two of them
 * belongs to it. Words beyond ASCII are brought to Unicode normal form C.
 */
export class WordScanner {
  /** Unicode characters (code points) so far. */
  characters = 0;
  readonly #sink: WordSink;
  readonly #caseSensitive: boolean;
  readonly #units = new Uint16Array(MAX_UNITS * MAX_GROWTH);
  #lineEnds = 0;
  #endsWithLine = true;
  #length = 0;
  #points = 0;
  #ascii = true;
  /** An apostrophe that belongs to the word if a word character follows; else 0. */
  #apostrophe = 0;

  constructor(caseSensitive: boolean, sink: WordSink) {
    this.#caseSensitive = caseSensitive;
    this.#sink = sink;
  }

  /** Lines so far; the last one counts also without a line end. */
  get lines(): number {
    return this.#lineEnds + (this.#endsWithLine ? 0 : 1);
  }

  /** Reads on. A surrogate pair must not be divided between two chunks. */
  push(text: string): void {
    if (text.length === 0) return;
    const fold = this.#caseSensitive ? 0 : 0x20;
    for (let at = 0; at < text.length; at++) {
      let point = text.charCodeAt(at);
      if (point >= 0xd800 && point <= 0xdbff) {
        point = text.codePointAt(at) as number;
        if (point > 0xffff) at++;
      }
      this.characters++;
      const kind = kindOf(point);
      if (kind === WORD) this.#take(point >= 0x41 && point <= 0x5a ? point | fold : point);
      else if (kind === APOSTROPHE && this.#length > 0 && this.#apostrophe === 0) this.#apostrophe = point;
      else {
        this.#flush();
        if (point === 0x0a) this.#lineEnds++;
      }
    }
    this.#endsWithLine = text.endsWith("\n");
  }

  /** Ends the text, and with it the word it may end in. */
  end(): void {
    this.#flush();
  }

  #take(point: number): void {
    if (this.#length >= MAX_UNITS) this.#flush();
    if (this.#apostrophe !== 0) {
      this.#append(this.#apostrophe);
      this.#apostrophe = 0;
    }
    this.#append(point);
  }

  #append(point: number): void {
    if (point >= 0x80) this.#ascii = false;
    if (point > 0xffff) {
      this.#units[this.#length++] = 0xd800 + ((point - 0x1_0000) >> 10);
      this.#units[this.#length++] = 0xdc00 + (point & 0x3ff);
    } else this.#units[this.#length++] = point;
    this.#points++;
  }

  #flush(): void {
    this.#apostrophe = 0;
    if (this.#length === 0) return;
    if (!this.#ascii) this.#normalize();
    this.#sink(this.#units, this.#length, this.#points);
    this.#length = 0;
    this.#points = 0;
    this.#ascii = true;
  }

  #normalize(): void {
    const written = String.fromCharCode(...this.#units.subarray(0, this.#length)).normalize("NFC");
    const word = this.#caseSensitive ? written : written.toLowerCase();
    this.#length = word.length;
    this.#points = 0;
    for (let at = 0; at < word.length; at++) {
      const unit = word.charCodeAt(at);
      this.#units[at] = unit;
      if ((unit & 0xfc00) !== 0xdc00) this.#points++;
    }
  }
}
