/** Digests of one file, several at once, in one pass over its bytes. */
import { constants } from "node:fs";
import { createHash, type Hash } from "node:crypto";
import type { CancellationView } from "../src/tool.js";
import { shown, ToolFailure } from "./failure.js";
import { openFile } from "./open-file.js";
import type { Located } from "./paths.js";
import type { Output } from "./specs/hash-files.js";

/** Bytes read at once: a few milliseconds of work. */
const CHUNK_BYTES = 256 * 1024;

/** Digests by algorithm, as hexadecimal digits in lower case. */
export type Digests = Output["files"][number]["digests"];
/** The name of an algorithm. */
export type Algorithm = keyof Digests;

/**
 * Makes sure that Node has an algorithm; a build in FIPS mode lacks some.
 * @throws ToolFailure `NO_ALGORITHM`
 */
export function requireAlgorithm(algorithm: Algorithm): void {
  try {
    createHash(algorithm);
  } catch {
    throw new ToolFailure("NO_ALGORITHM", `This Node has no ${algorithm}; ask for another algorithm.`, { algorithm });
  }
}

/** Digests of a file and the number of bytes they are of. */
export interface FileDigest {
  readonly size: number;
  readonly digests: Digests;
}

/**
 * Reads a file to its end.
 * @param read is told the bytes of each read
 * @throws ToolFailure `CHANGED` where the file was written to meanwhile, `NOT_A_FILE`, and the system's errors
 */
export async function digestFile(
  located: Located,
  algorithms: readonly Algorithm[],
  token: CancellationView,
  read: (bytes: number) => void,
): Promise<FileDigest> {
  const { handle } = await openFile(located, constants.O_RDONLY);
  try {
    const hashes = algorithms.map((algorithm): [Algorithm, Hash] => [algorithm, createHash(algorithm)]);
    const before = await handle.stat({ bigint: true });
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let size = 0;
    // A file that grows faster than it is read would be read for ever.
    while (size <= before.size) {
      token.check();
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, size);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      for (const [, hash] of hashes) hash.update(chunk);
      size += bytesRead;
      read(bytesRead);
    }
    const after = await handle.stat({ bigint: true });
    if (BigInt(size) !== before.size || after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
      throw new ToolFailure("CHANGED", `${shown(located.path)} was written to while it was read; try again.`);
    }
    return { size, digests: Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest("hex")])) };
  } finally {
    await handle.close();
  }
}
