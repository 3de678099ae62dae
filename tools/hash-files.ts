/** `builtin/hash-files`: digests of files, several read at once, none held in memory. */
import { lstat } from "node:fs/promises";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { HASH_CONCURRENCY, MAX_HASHED, SKIPPED_FOLDERS } from "./defaults.js";
import { ExpectedDigests } from "./expected-digests.js";
import { answering, failureOf, shown, ToolFailure } from "./failure.js";
import { digestFile, requireAlgorithm, type Algorithm, type FileDigest } from "./file-digest.js";
import { FolderWalk } from "./folder-walk.js";
import { locate, openResource, type Located, type OpenResource } from "./paths.js";
import { readAhead } from "./read-ahead.js";
import type { Input, Output } from "./specs/hash-files.js";

const ERRORS_LISTED = 1_000;

/** Hashes files of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  return answering(input.path, async () => {
    const resource = await openResource(context, "repo");
    const hashing = new Hashing(input, context);
    await hashing.run(resource);
    return toolResult({ output: hashing.output });
  });
}

/** A file to hash. */
interface Chosen {
  /** As the caller knows it. */
  readonly path: string;
  /** Absent where the path is still to be looked up. */
  readonly located?: Located;
}

type Hashed =
  { readonly path: string; readonly digest: FileDigest } | { readonly path: string; readonly failure: ToolFailure };

class Hashing {
  readonly output: Output = {
    files: [],
    errors: [],
    failed: 0,
    mismatched: 0,
    bytes: 0,
    truncated: false,
    unreadable: [],
  };
  readonly #input: Input;
  readonly #context: ToolContext;
  readonly #algorithms: readonly Algorithm[];
  readonly #expected: ExpectedDigests;

  constructor(input: Input, context: ToolContext) {
    this.#input = input;
    this.#context = context;
    this.#algorithms = input.algorithms ?? [];
    this.#expected = new ExpectedDigests(input.expected ?? []);
  }

  async run(resource: OpenResource): Promise<void> {
    const { concurrency = HASH_CONCURRENCY } = this.#input;
    for (const algorithm of this.#algorithms) requireAlgorithm(algorithm);
    const hashed = readAhead(this.#chosen(resource), {
      ahead: concurrency,
      work: (chosen) => this.#hash(resource, chosen),
    });
    for await (const each of hashed) this.#take(each);
    // A search that ended early says nothing on the files that it did not come to.
    if (this.output.truncated) return;
    for (const path of this.#expected.open) {
      const words = `${shown(path)} is expected and not among the files; check the path and the globs.`;
      this.#fail(path, new ToolFailure("NOT_SELECTED", words));
    }
  }

  async *#chosen(resource: OpenResource): AsyncGenerator<Chosen> {
    const { maxFiles = MAX_HASHED } = this.#input;
    let count = 0;
    for await (const chosen of this.#all(resource)) {
      if (count++ === maxFiles) {
        this.output.truncated = true;
        return;
      }
      yield chosen;
    }
  }

  async *#all(resource: OpenResource): AsyncGenerator<Chosen> {
    const { paths, path, expected } = this.#input;
    if (paths || (expected && path === undefined)) {
      for (const each of new Set(paths ?? expected?.map((one) => one.path))) yield { path: each };
      return;
    }
    const folder = await locate(resource, path ?? ".");
    if (!(await lstat(folder.real)).isDirectory()) {
      yield { path: folder.path, located: folder };
      return;
    }
    const { include = ["**"], exclude = [], includeHidden = false } = this.#input;
    const { skipFolders = [...SKIPPED_FOLDERS], useIgnoreFiles = true } = this.#input;
    const walk = new FolderWalk({ include, exclude, includeHidden, skipFolders, useIgnoreFiles }, this.#context);
    this.output.unreadable = walk.unreadable;
    for await (const entry of walk.entries(resource, folder)) {
      if (entry.type !== "file") continue;
      const { path: name, real } = entry;
      yield { path: name, located: { path: name, real, realPath: name, exists: true, meansFolder: false } };
    }
  }

  async #hash(resource: OpenResource, { path, located }: Chosen): Promise<Hashed> {
    try {
      const algorithms = new Set([...this.#algorithms, ...this.#expected.algorithmsOf(path)]);
      if (algorithms.size === 0) algorithms.add("sha256");
      for (const algorithm of algorithms) requireAlgorithm(algorithm);
      const file = located ?? (await locate(resource, path));
      const digest = await digestFile(file, [...algorithms], this.#context.cancellationToken, (bytes) => {
        this.output.bytes += bytes;
        this.#context.progress(this.output.bytes, undefined, path);
      });
      return { path, digest };
    } catch (error) {
      const failure = failureOf(error, path);
      if (!failure) throw error;
      return { path, failure };
    }
  }

  #take(hashed: Hashed): void {
    const { path } = hashed;
    this.#expected.meet(path);
    if ("failure" in hashed) {
      this.#fail(path, hashed.failure);
      return;
    }
    const verified = this.#expected.verify(path, hashed.digest);
    if (verified === false) this.output.mismatched++;
    this.output.files.push({ path, ...hashed.digest, ...(verified !== undefined && { verified }) });
  }

  #fail(path: string, { code, message }: ToolFailure): void {
    this.output.failed++;
    if (this.output.errors.length < ERRORS_LISTED) this.output.errors.push({ path, code, message });
  }
}
