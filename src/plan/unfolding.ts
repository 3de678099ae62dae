/** The value that a YAML document stands for: plain data as JSON has it, of a bounded size. */
import { isAlias, isCollection, isMap, isScalar, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { MAX_DEPTH, TOO_DEEP, type TextFault } from "./yaml-document.js";

/** Most characters that aliases may add; what is larger is data. */
const MAX_UNFOLDED = 1024 * 1024;

/** What a node says, and how large that is as JSON, about. */
interface Reading {
  readonly value: unknown;
  readonly characters: number;
  readonly depth: number;
}

const NOTHING: Reading = { value: null, characters: 4, depth: 0 };

/** Goes through a document once. The value behind several aliases is one object, so that time grows with the text. */
export class Unfolding {
  readonly faults: TextFault[] = [];
  /** Means nothing where there are faults. */
  readonly value: unknown;
  /** The last node of each name so far; without a reading while it is being read. */
  readonly #anchors = new Map<string, { reading?: Reading }>();
  #unfolded = 0;

  constructor(contents: unknown) {
    this.value = this.#read(contents, 0).value;
  }

  #read(node: unknown, level: number): Reading {
    if (isAlias(node)) return this.#readAlias(node.source, offsetOf(node), level);
    const { anchor } = (node ?? {}) as { anchor?: string };
    const named: { reading?: Reading } = {};
    if (anchor !== undefined) this.#anchors.set(anchor, named);
    named.reading = isCollection(node)
      ? this.#readCollection(node, level)
      : this.#readScalar(isScalar(node) ? node.value : null, offsetOf(node));
    return named.reading;
  }

  #readAlias(name: string, offset: number, level: number): Reading {
    const target = this.#anchors.get(name);
    if (!target) {
      this.#fault(offset, `no value above is named &${name}, which *${name} stands for`);
    } else if (!target.reading) {
      this.#fault(offset, `*${name} stands inside of &${name}, the value that it stands for, which so has no end`);
    } else if (target.reading.depth + level > MAX_DEPTH) {
      this.#fault(offset, TOO_DEEP);
    } else {
      const before = this.#unfolded;
      this.#unfolded += target.reading.characters;
      if (this.#unfolded <= MAX_UNFOLDED) return target.reading;
      if (before <= MAX_UNFOLDED)
        this.#fault(
          offset,
          `aliases up to *${name} unfold into more than ${MAX_UNFOLDED} characters; give a tool what is large as a file, or ` +
            "as a parameter that `$from` reads",
        );
    }
    return NOTHING;
  }

  #readScalar(value: unknown, offset: number): Reading {
    if (typeof value === "number" && !Number.isFinite(value))
      this.#fault(offset, `${value} is no number of JSON's; quote it where a text is meant`);
    return { value, characters: String(value).length + (typeof value === "string" ? 2 : 0), depth: 0 };
  }

  #readCollection(node: YAMLMap | YAMLSeq, level: number): Reading {
    let characters = 2;
    let depth = 0;
    const member = (item: unknown): unknown => {
      const reading = this.#read(item, level + 1);
      characters += reading.characters + 1;
      depth = Math.max(depth, reading.depth);
      return reading.value;
    };
    const field = ({ key, value }: Pair): [string, unknown] => {
      if (!isScalar(key)) this.#fault(offsetOf(key), "a field's name must be a text");
      const name = isScalar<string | number | boolean | null>(key) ? String(key.value ?? "") : "";
      characters += name.length + 3;
      return [name, member(value)];
    };
    // A field named __proto__ stays a field.
    const value = isMap(node) ? Object.fromEntries(node.items.map(field)) : node.items.map(member);
    return { value, characters, depth: depth + 1 };
  }

  #fault(offset: number, message: string): void {
    this.faults.push({ offset, message });
  }
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
