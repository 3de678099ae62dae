/** Finds where a text stops being JSON: what engines say of it differs, and often has no position. */

/** The first place at which a text is not JSON. */
export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** What would have to stand there. */
  readonly expected: string;
  /** What stands there, up to the line's end. */
  readonly found: string;
}

const SHOWN_LENGTH = 20;
const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** @returns undefined for JSON */
export function jsonFault(text: string): JsonFault | undefined {
  const scanner = new Scanner(text);
  const expected = scanner.document();
  if (expected === undefined) return undefined;
  const before = text.slice(0, scanner.at);
  const line = before.split("\n").length;
  const [found = ""] = text.slice(scanner.at, scanner.at + SHOWN_LENGTH).split(/[\r\n]/, 1);
  return { line, column: before.length - before.lastIndexOf("\n"), expected, found };
}

/** Goes through a text without recursion, since JSON may be nested deeper than calls may. */
class Scanner {
  at = 0;
  readonly #text: string;
  /** The containers that are open, by how they close. */
  readonly #open: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns what is expected where the text is wrong */
  document(): string | undefined {
    for (;;) {
      const wrong = this.#value();
      if (wrong !== undefined) return wrong;
      for (;;) {
        this.#pass(SPACE);
        const close = this.#open.at(-1);
        if (close === undefined) return this.at === this.#text.length ? undefined : "the end";
        if (this.#take(close)) {
          this.#open.pop();
          continue;
        }
        if (!this.#take(",")) return `"," or "${close}"`;
        const key = close === "}" ? this.#key() : undefined;
        if (key !== undefined) return key;
        break;
      }
    }
  }

  /** A scalar, an empty container, or all that opens before the first scalar. */
  #value(): string | undefined {
    for (;;) {
      this.#pass(SPACE);
      if (this.#take("[")) {
        this.#pass(SPACE);
        if (this.#take("]")) return undefined;
        this.#open.push("]");
      } else if (this.#take("{")) {
        this.#pass(SPACE);
        if (this.#take("}")) return undefined;
        this.#open.push("}");
        const key = this.#key();
        if (key !== undefined) return key;
      } else if (this.#text[this.at] === '"') {
        return this.#string();
      } else {
        return this.#pass(SCALAR) > 0 ? undefined : "a value";
      }
    }
  }

  #key(): string | undefined {
    this.#pass(SPACE);
    if (this.#text[this.at] !== '"') return "a name in quotes";
    const wrong = this.#string();
    if (wrong !== undefined) return wrong;
    this.#pass(SPACE);
    return this.#take(":") ? undefined : '":"';
  }

  #string(): string | undefined {
    for (this.at++; this.at < this.#text.length;) {
      const character = this.#text[this.at] as string;
      if (character === "\\") {
        if (this.#pass(ESCAPE) === 0) return "an escape that JSON knows";
        continue;
      }
      if (character < " ") return "an escape in place of a control character";
      this.at++;
      if (character === '"') return undefined;
    }
    return "a quote that ends the string";
  }

  #take(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  /** @returns how much was passed over */
  #pass(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.at += length;
    return length;
  }
}
