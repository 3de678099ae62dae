/** A tree as the store has it. */
import { failure } from "./failure.js";
import type { ObjectStore } from "./object-store.js";
import { entryOf, type TreeEntry } from "./tree.js";

/**
 * Reads a tree, folders before what is in them, the root first.
 * @throws ToolRuntimeError `CHECKPOINT_FAILED` where it is missing or damaged
 */
export async function readTree(objects: ObjectStore, digest: string): Promise<[TreeEntry, ...TreeEntry[]]> {
  const entries: TreeEntry[] = [];
  const folders = new Set<string>();
  for await (const line of linesOf(objects.read(digest))) {
    const entry = entryOf(line);
    const at = entry?.path.lastIndexOf("/") ?? -1;
    const isPlaced = entry && (entry.path === "") === (entries.length === 0);
    if (!isPlaced || (entry.path !== "" && !folders.has(entry.path.slice(0, Math.max(0, at))))) {
      throw failure(`Tree ${digest} of the store holds what is no entry.`, { digest, problem: "damaged" });
    }
    if (entry.kind === "folder") folders.add(entry.path);
    entries.push(entry);
  }
  const [root, ...rest] = entries;
  if (!root) throw failure(`Tree ${digest} of the store is empty.`, { digest, problem: "damaged" });
  return [root, ...rest];
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // A character may be cut in two where a piece ends; a line feed is never part of one.
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    let bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield bytes.toString("utf8", 0, end);
      bytes = bytes.subarray(end + 1);
    }
    // The piece's memory is used again.
    rest = Buffer.from(bytes);
  }
  if (rest.length > 0) yield rest.toString("utf8");
}
