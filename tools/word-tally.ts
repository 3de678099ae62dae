/** Gathers the statistics of a text. */
import type { CancellationView } from "../src/tool.js";
import type { Output } from "./specs/word-frequency.js";
import { WordScanner } from "./word-scanner.js";
import { PairTable, WordTable } from "./word-table.js";

/** Words or table entries between two looks at the cancellation token. */
const POLL_EVERY = 4_096;
const NONE = -1;

/** How words are counted. */
export interface TallyOptions {
  readonly minLength: number;
  readonly caseSensitive: boolean;
  /** Different words and pairs of words that are kept apart, at most. */
  readonly maxWords: number;
  readonly maxPairs: number;
}

/** Counts the words of a text that comes in chunks. */
export class WordTally {
  readonly #words: WordTable;
  readonly #pairs: PairTable;
  readonly #scanner: WordScanner;
  readonly #minLength: number;
  readonly #token: CancellationView;
  #count = 0;
  #wordCharacters = 0;
  #previous = NONE;
  #longest = "";
  #longestCharacters = 0;

  constructor({ minLength, caseSensitive, maxWords, maxPairs }: TallyOptions, token: CancellationView) {
    this.#minLength = minLength;
    this.#token = token;
    this.#words = new WordTable(maxWords);
    this.#pairs = new PairTable(maxPairs);
    this.#scanner = new WordScanner(caseSensitive, (units, length, characters) => {
      this.#take(units, length, characters);
    });
  }

  /**
   * Counts the words of the next chunk.
   * @throws ToolCancelledError within a few thousand words of a cancel
   */
  push(text: string): void {
    this.#token.check();
    this.#scanner.push(text);
  }

  /** Ends the text and works out what the counts tell, all but the number of bytes. */
  finish(top: number): Omit<Output, "bytes"> {
    this.#scanner.end();
    const words = this.#words;
    const pairs = this.#pairs;
    let counted = 0;
    let hapaxes = 0;
    let sum = 0;
    for (let number = 0; number < words.size; number++) {
      if (number % POLL_EVERY === 0) this.#token.check();
      const count = words.counts[number] as number;
      counted += count;
      sum += count * Math.log2(count);
      if (count === 1) hapaxes++;
    }
    const byWord = (one: number, other: number): number => words.compare(one, other);
    const byPair = (one: number, other: number): number =>
      byWord(pairs.first(one), pairs.first(other)) || byWord(pairs.second(one), pairs.second(other));
    return {
      words: this.#count,
      uniqueWords: words.size,
      hapaxes,
      characters: this.#scanner.characters,
      lines: this.#scanner.lines,
      averageWordLength: this.#count === 0 ? 0 : this.#wordCharacters / this.#count,
      typeTokenRatio: this.#count === 0 ? 0 : words.size / this.#count,
      // Rounding can leave a text of one word a hair below zero.
      entropyBits: counted === 0 ? 0 : Math.max(0, Math.log2(counted) - sum / counted),
      longestWord: this.#longest,
      top: this.#most(words.counts, words.size, top, byWord).map((number) => ({
        word: words.word(number),
        count: words.counts[number] as number,
      })),
      topBigrams: this.#most(pairs.counts, pairs.size, top, byPair).map((number) => ({
        words: [words.word(pairs.first(number)), words.word(pairs.second(number))],
        count: pairs.counts[number] as number,
      })),
      complete: !words.overflowed && !pairs.overflowed,
    };
  }

  #take(units: Uint16Array, length: number, characters: number): void {
    if (characters < this.#minLength) return;
    if (++this.#count % POLL_EVERY === 0) this.#token.check();
    this.#wordCharacters += characters;
    if (characters > this.#longestCharacters) {
      this.#longestCharacters = characters;
      this.#longest = String.fromCharCode(...units.subarray(0, length));
    }
    const number = this.#words.add(units, length);
    if (number !== NONE && this.#previous !== NONE) this.#pairs.add(this.#previous, number);
    this.#previous = number;
  }

  /** The numbers with the highest counts, equal ones in the given order; never more than a short list is sorted. */
  #most(counts: Uint32Array, size: number, limit: number, compare: (one: number, other: number) => number): number[] {
    const rank = (one: number, other: number): number =>
      (counts[other] as number) - (counts[one] as number) || compare(one, other);
    const best: number[] = [];
    for (let number = 0; number < size && limit > 0; number++) {
      if (number % POLL_EVERY === 0) this.#token.check();
      if (best.length === limit && rank(number, best[limit - 1] as number) >= 0) continue;
      let low = 0;
      for (let high = best.length; low < high;) {
        const middle = (low + high) >>> 1;
        if (rank(number, best[middle] as number) < 0) high = middle;
        else low = middle + 1;
      }
      best.splice(low, 0, number);
      if (best.length > limit) best.pop();
    }
    return best;
  }
}
