/** The text of a plan file, YAML or JSON, and where in it each value stands. */
import { isMap, isPair, isScalar, isSeq, LineCounter, type Document, type Node } from "yaml";
import { Unfolding } from "./unfolding.js";
import { parseText } from "./yaml-document.js";

/** Where something stands in a file; both count from 1. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** Something that is wrong in a file. */
export interface Problem extends Position {
  /** What is wrong. */
  readonly message: string;
  /** JSON Pointer of the value that is meant. */
  readonly pointer: string;
}

/** Largest file in bytes of UTF-16 units; a plan that is larger is data. */
const MAX_LENGTH = 8 * 1024 * 1024;

/**
 * A plan file's text, parsed; it knows where in the text each value stands.
 * @example
 * ```ts
 * import { PlanSource } from "toolcell/plan";
 *
 * const source = new PlanSource("steps:\n  - id: one\n");
 * console.log(source.positionOf(["steps", 0, "id"])); // → { line: 2, column: 5 }
 * ```
 */
export class PlanSource {
  /** What the text says; undefined where it cannot be read. */
  readonly value: unknown;
  /** What keeps the text from being read. */
  readonly problems: readonly Problem[];
  readonly #lines = new LineCounter();
  readonly #document: Document | undefined;

  constructor(text: string) {
    if (text.length > MAX_LENGTH) {
      this.problems = [
        { line: 1, column: 1, pointer: "", message: `the file is larger than ${MAX_LENGTH} characters` },
      ];
      return;
    }
    const { document, faults: inSyntax } = parseText(text, this.#lines);
    this.#document = document;
    const unfolding = inSyntax.length === 0 ? new Unfolding(document?.contents) : undefined;
    const faults = unfolding?.faults ?? inSyntax;
    if (faults.length === 0) this.value = unfolding?.value;
    this.problems = faults.map(({ offset, message }) => ({ ...this.#positionAt(offset), pointer: "", message }));
  }

  /** Where the value stands that keys lead to; its nearest ancestor where there is no such value. */
  positionOf(keys: readonly (string | number)[]): Position {
    let node: unknown = this.#document?.contents;
    let offset = offsetOf(node) ?? 0;
    for (const key of keys) {
      const next = member(node, key);
      if (!next) break;
      offset = next.offset ?? offset;
      node = next.value;
    }
    return this.#positionAt(offset);
  }

  #positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

/** A member by its key; a problem with it is shown at the key. */
function member(node: unknown, key: string | number): { offset: number | undefined; value: unknown } | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(key)];
    return value === undefined ? undefined : { offset: offsetOf(value), value };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(key));
  return pair && { offset: offsetOf(pair.key), value: pair.value };
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | undefined)?.range?.[0];
}
