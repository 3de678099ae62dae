import type { BigIntStats } from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { entryOf, isUnchanged, lineOf, seenOf, type FileEntry, type TreeEntry } from "../../src/checkpoints/tree.js";

const DIGEST = "0123456789abcdef".repeat(4);
const FILE: FileEntry = { kind: "file", path: "a", mode: 0o644, mtimeNs: 1n, size: 2, digest: DIGEST, seen: undefined };

describe("checkpoints/tree", () => {
  const bytes = (options: object) =>
    fc.uint8Array({ minLength: 1, maxLength: 8, ...options }).map((each) => Buffer.from(each).toString("latin1"));
  const name = bytes({ min: 1 }).filter((each) => !each.includes("/") && each !== "." && each !== "..");
  const path = fc.array(name, { maxLength: 3 }).map((names) => names.join("/"));
  const mtimeNs = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
  const mode = fc.nat({ max: 0o7777 });

  it("entryOf() reads what lineOf() writes, names that are no UTF-8 included", () => {
    const entry = fc.oneof<fc.Arbitrary<TreeEntry>[]>(
      fc.record({ kind: fc.constant("folder" as const), path, mode, mtimeNs }),
      fc.record({ kind: fc.constant("link" as const), path, target: bytes({}), mtimeNs }),
      fc.record({
        kind: fc.constant("file" as const),
        path,
        mode,
        mtimeNs,
        size: fc.maxSafeNat(),
        digest: fc.constant(DIGEST),
        seen: fc.option(fc.string(), { nil: undefined }),
      }),
      fc.constant({ kind: "absent" as const, path: "" }),
    );
    fc.assert(
      fc.property(entry, (each) => {
        const line = lineOf(each);
        expect(line.indexOf("\n")).to.equal(line.length - 1);
        expect(entryOf(line.trimEnd())).to.deep.equal(each);
      }),
      { numRuns: 500 },
    );
  });

  it("entryOf() refuses what leads out of its root, and what is no entry", () => {
    const wrong = [
      ...["..", "a/../b", "/a", "a//b", "a/", ".", "a\0"].map((each) => ({ path: each })),
      { path: 1 },
      { kind: "device" },
      { mode: -1 },
      { mode: 0o10000 },
      { mtimeNs: 1 },
      { size: 0.5 },
      { digest: "../../x" },
    ].map((change) => JSON.stringify({ ...FILE, mtimeNs: "1", ...change }));
    for (const line of [...wrong, "", "null", "{}", '{"kind":"absent","path":"a"}']) {
      expect(entryOf(line), line).to.equal(undefined);
    }
    expect(entryOf(JSON.stringify({ ...FILE, mtimeNs: "1" }))).to.deep.equal(FILE);
  });

  it("seenOf() trusts no file that may have changed in the tick in which it was read", () => {
    const at = (ctimeNs: bigint): BigIntStats => ({ dev: 1n, ino: 2n, ctimeNs, mtimeNs: 1n, size: 2n }) as BigIntStats;
    const now = 10_000_000_001n;
    expect(seenOf(at(now - 50_000_000n), now)).to.be.a("string");
    expect(seenOf(at(now - 49_999_999n), now)).to.equal(undefined);
    // A file system that knows whole seconds only.
    expect(seenOf(at(8_000_000_000n), now)).to.be.a("string");
    expect(seenOf(at(9_000_000_000n), now)).to.equal(undefined);
    const seen = seenOf(at(1n), now);
    expect(isUnchanged({ ...FILE, seen }, at(1n))).to.equal(true);
    for (const change of [{ ino: 3n }, { dev: 3n }, { ctimeNs: 2n }, { mtimeNs: 2n }, { size: 3n }]) {
      expect(isUnchanged({ ...FILE, seen }, { ...at(1n), ...change })).to.equal(false);
    }
    expect(isUnchanged(FILE, at(1n))).to.equal(false);
  });
});
