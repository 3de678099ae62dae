/** What files are expected to be, and whether they are. */
import type { Algorithm, FileDigest } from "./file-digest.js";
import type { Input } from "./specs/hash-files.js";

type Expected = NonNullable<Input["expected"]>[number];

/** Expectations by path; each is met once. */
export class ExpectedDigests {
  readonly #byPath = new Map<string, Expected>();
  readonly #open = new Set<string>();

  constructor(expected: readonly Expected[]) {
    for (const each of expected) {
      this.#byPath.set(each.path, each);
      this.#open.add(each.path);
    }
  }

  /** Paths that no file was compared with so far. */
  get open(): readonly string[] {
    return [...this.#open];
  }

  /** Algorithms that the expectation of a path asks for. */
  algorithmsOf(path: string): Algorithm[] {
    return Object.keys(this.#byPath.get(path)?.digests ?? {}) as Algorithm[];
  }

  /** Marks a path as met, whatever came of it. */
  meet(path: string): void {
    this.#open.delete(path);
  }

  /** Whether a file is what is expected; undefined where nothing is. */
  verify(path: string, { size, digests }: FileDigest): boolean | undefined {
    const expected = this.#byPath.get(path);
    if (!expected) return undefined;
    if (expected.size !== undefined && expected.size !== size) return false;
    return this.algorithmsOf(path).every((name) => expected.digests[name]?.toLowerCase() === digests[name]);
  }
}
