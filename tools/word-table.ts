/**
 * Counts of words and of pairs of words. Both tables live in typed arrays: a `Map` with millions
 * of keys strains the heap until it takes the process down, and a key cut from a chunk of text
 * would hold on to the whole chunk.
 */

/** Slots of a new table; always a power of two. */
const FIRST_SLOTS = 1_024;
/** Code units that a full table has room for, a word. */
const UNITS_PER_WORD = 16;
/** Keeps an author of texts from choosing words that all fall into one slot. */
const SEED = Math.floor(Math.random() * 0x7fff_ffff);

/** Numbers each different word in the order of arrival and counts it. */
export class WordTable {
  /** How often each word came, by its number. */
  counts = new Uint32Array(FIRST_SLOTS);
  /** How many different words there are. */
  size = 0;
  /** Whether a word was turned away because the table is full. */
  overflowed = false;
  readonly #capacity: number;
  /** The words, one behind the other; the word of number n ends where the next begins. */
  #units = new Uint16Array(FIRST_SLOTS * 8);
  #starts = new Uint32Array(FIRST_SLOTS + 1);
  #hashes = new Uint32Array(FIRST_SLOTS);
  /** Number of the word plus one; 0 is free. */
  #slots = new Uint32Array(FIRST_SLOTS * 2);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Counts a word.
   * @returns its number, or -1 where it is new and the table is full
   */
  add(word: Uint16Array, length: number): number {
    const hash = this.#hash(word, length);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let entry = this.#slots[slot]; entry; entry = this.#slots[slot]) {
      const found = entry - 1;
      if (this.#hashes[found] === hash && this.#equals(found, word, length)) {
        this.counts[found] = (this.counts[found] as number) + 1;
        return found;
      }
      slot = (slot + 1) & mask;
    }
    const start = this.#starts[this.size] as number;
    if (this.size === this.#capacity || start + length > this.#capacity * UNITS_PER_WORD) {
      this.overflowed = true;
      return -1;
    }
    const number = this.size++;
    if (number === this.counts.length) this.#growWords();
    if (start + length > this.#units.length) this.#units = grown(this.#units, start + length);
    for (let at = 0; at < length; at++) this.#units[start + at] = word[at] as number;
    this.#starts[number + 1] = start + length;
    this.#hashes[number] = hash;
    this.counts[number] = 1;
    this.#slots[slot] = number + 1;
    if (this.size * 2 > this.#slots.length) this.#rehash();
    return number;
  }

  /** The word of a number. */
  word(number: number): string {
    return String.fromCharCode(...this.#units.subarray(this.#starts[number], this.#starts[number + 1]));
  }

  /** Orders two words by code units. */
  compare(one: number, other: number): number {
    const from = this.#starts[one] as number;
    const otherFrom = this.#starts[other] as number;
    const length = (this.#starts[one + 1] as number) - from;
    const otherLength = (this.#starts[other + 1] as number) - otherFrom;
    for (let at = 0; at < length && at < otherLength; at++) {
      const difference = (this.#units[from + at] as number) - (this.#units[otherFrom + at] as number);
      if (difference !== 0) return difference;
    }
    return length - otherLength;
  }

  #hash(word: Uint16Array, length: number): number {
    let hash = SEED;
    for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (word[at] as number), 0x0100_0193);
    return mixed(hash);
  }

  #equals(number: number, word: Uint16Array, length: number): boolean {
    const start = this.#starts[number] as number;
    if ((this.#starts[number + 1] as number) - start !== length) return false;
    for (let at = 0; at < length; at++) if (this.#units[start + at] !== word[at]) return false;
    return true;
  }

  #growWords(): void {
    this.counts = grown(this.counts);
    this.#hashes = grown(this.#hashes);
    this.#starts = grown(this.#starts);
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = (this.#hashes[number] as number) & mask;
      while (this.#slots[slot]) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

/** Counts pairs of numbers. */
export class PairTable {
  /** How often each pair came, in the order of arrival. */
  counts = new Uint32Array(FIRST_SLOTS);
  /** How many different pairs there are. */
  size = 0;
  /** Whether a pair was turned away because the table is full. */
  overflowed = false;
  readonly #capacity: number;
  /** First and second number of each pair. */
  #pairs = new Uint32Array(FIRST_SLOTS * 2);
  #slots = new Uint32Array(FIRST_SLOTS * 2);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The first number of a pair. */
  first(pair: number): number {
    return this.#pairs[pair * 2] as number;
  }

  /** The second number of a pair. */
  second(pair: number): number {
    return this.#pairs[pair * 2 + 1] as number;
  }

  /** Counts a pair, unless it is new and the table is full. */
  add(first: number, second: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashOf(first, second) & mask;
    for (let entry = this.#slots[slot]; entry; entry = this.#slots[slot]) {
      const found = entry - 1;
      if (this.#pairs[found * 2] === first && this.#pairs[found * 2 + 1] === second) {
        this.counts[found] = (this.counts[found] as number) + 1;
        return;
      }
      slot = (slot + 1) & mask;
    }
    if (this.size === this.#capacity) {
      this.overflowed = true;
      return;
    }
    const number = this.size++;
    if (number === this.counts.length) {
      this.counts = grown(this.counts);
      this.#pairs = grown(this.#pairs);
    }
    this.#pairs[number * 2] = first;
    this.#pairs[number * 2 + 1] = second;
    this.counts[number] = 1;
    this.#slots[slot] = number + 1;
    if (this.size * 2 > this.#slots.length) this.#rehash();
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = hashOf(this.first(number), this.second(number)) & mask;
      while (this.#slots[slot]) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

function hashOf(first: number, second: number): number {
  return mixed(SEED ^ Math.imul(first, 0x9e37_79b1) ^ Math.imul(second, 0x85eb_ca77));
}

/** Spreads the high bits over the low ones, which choose the slot. */
function mixed(hash: number): number {
  let spread = hash ^ (hash >>> 16);
  spread = Math.imul(spread, 0x85eb_ca6b);
  spread ^= spread >>> 13;
  return spread >>> 0;
}

function grown<Numbers extends Uint16Array | Uint32Array>(numbers: Numbers, least = 0): Numbers {
  const length = Math.max(numbers.length * 2, least);
  const larger = numbers instanceof Uint16Array ? new Uint16Array(length) : new Uint32Array(length);
  larger.set(numbers);
  return larger as Numbers;
}
