/** What a schema says of how words on the command line are read. */
import { isAny, shapeOf, type Kind, type Shape } from "./schema-shape.js";
import { UsageError } from "./usage-error.js";

/** A word as a value. */
export interface ReadWord {
  readonly value: unknown;
  /** Whether it is a member of a list, rather than the field's value. */
  readonly isMember: boolean;
}

/** A schema within an input's. */
export class FieldSchema {
  readonly #root: unknown;
  readonly #shape: Shape;

  /** @param root the input's schema, where local references start */
  constructor(schema: unknown, root: unknown = schema) {
    this.#root = root;
    this.#shape = shapeOf(schema, root);
  }

  /** Names of the fields; empty where the schema names none, and leaves them to the tool. */
  get names(): string[] {
    return [...this.#shape.properties.keys()];
  }

  field(name: string): FieldSchema {
    return new FieldSchema(this.#shape.properties.get(name), this.#root);
  }

  /** Whether the name alone means true. */
  get isSwitch(): boolean {
    return this.#has("boolean");
  }

  /** Whether giving the field again adds to a list. */
  get isList(): boolean {
    return this.#has("array");
  }

  /** Words for all values there are; empty where the schema does not list them. */
  get words(): string[] {
    const { literals } = this.#shape;
    if (literals) return literals.map((literal) => (typeof literal === "string" ? literal : JSON.stringify(literal)));
    return this.#isOnly("boolean") ? ["true", "false"] : [];
  }

  /**
   * Reads a word as the narrowest type that the schema admits and the word fits.
   * @param name of the field, for messages
   * @throws UsageError
   */
  read(word: string, name: string): ReadWord {
    const { literals, items } = this.#shape;
    if (literals) return whole(literalOf(literals, word));
    if (this.#has("null") && word === "null") return whole(null);
    if (this.#has("boolean") && (word === "true" || word === "false")) return whole(word === "true");
    if (this.#has("number") && word.trim() !== "" && !Number.isNaN(Number(word))) return whole(Number(word));
    if ((this.#has("array") && word.startsWith("[")) || (this.#has("object") && word.startsWith("{"))) {
      const value = jsonOr(word);
      if (value !== word) return whole(value);
    }
    if (this.#has("string")) return whole(word);
    if (this.#has("array")) {
      return { value: new FieldSchema(items, this.#root).read(word, name).value, isMember: true };
    }
    if (this.#isOnly("number")) throw new UsageError(`--${name} wants a number, not "${word}".`);
    if (this.#isOnly("boolean")) throw new UsageError(`--${name} is true or false, not "${word}".`);
    return whole(jsonOr(word));
  }

  /** Whether the schema says that it may be this; one that says nothing does not. */
  #has(kind: Kind): boolean {
    return !isAny(this.#shape) && this.#shape.kinds.has(kind);
  }

  #isOnly(kind: Kind): boolean {
    return this.#has(kind) && [...this.#shape.kinds].every((each) => each === kind || each === "null");
  }
}

function whole(value: unknown): ReadWord {
  return { value, isMember: false };
}

/** The value that the word is, texts first; else what the word says, for the check of the input to complain about. */
function literalOf(literals: readonly unknown[], word: string): unknown {
  if (literals.includes(word)) return word;
  const meant = literals.find((each) => typeof each !== "string" && JSON.stringify(each) === word);
  return meant === undefined ? jsonOr(word) : meant;
}

function jsonOr(word: string): unknown {
  try {
    return JSON.parse(word) as unknown;
  } catch {
    return word;
  }
}
