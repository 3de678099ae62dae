import { expect } from "chai";
import fc from "fast-check";
import { PairTable, WordTable } from "../../tools/word-table.js";
import { WordTally } from "../../tools/word-tally.js";
import { fakeCall } from "./fake-context.js";

function unitsOf(word: string): [Uint16Array, number] {
  return [Uint16Array.from(word, (character) => character.charCodeAt(0)), word.length];
}

describe("tools/word-tally", () => {
  it("WordTable() counts as a Map does, for any words", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 3 })), (words) => {
        const table = new WordTable(1_000_000);
        const counts = new Map<string, number>();
        for (const word of words) {
          counts.set(word, (counts.get(word) ?? 0) + 1);
          expect(table.word(table.add(...unitsOf(word)))).to.equal(word);
        }
        expect(table.size).to.equal(counts.size);
        for (let number = 0; number < table.size; number++) {
          expect(table.counts[number]).to.equal(counts.get(table.word(number)));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("WordTable() and PairTable() keep all through their growth", () => {
    const table = new WordTable(1_000_000);
    const pairs = new PairTable(1_000_000);
    for (let round = 0; round < 2; round++) {
      for (let at = 0; at < 20_000; at++) {
        expect(table.add(...unitsOf(`word${at}`))).to.equal(at);
        pairs.add(at, at * 7);
      }
    }
    expect(table).to.include({ size: 20_000, overflowed: false });
    expect(pairs).to.include({ size: 20_000, overflowed: false });
    for (let at = 0; at < 20_000; at += 997) {
      expect(table.word(at)).to.equal(`word${at}`);
      expect([pairs.first(at), pairs.second(at), pairs.counts[at], table.counts[at]]).to.deep.equal([at, at * 7, 2, 2]);
    }
  });

  it("WordTable() orders by code units", () => {
    const table = new WordTable(10);
    const [b, ab, a] = ["b", "ab", "a"].map((word) => table.add(...unitsOf(word))) as [number, number, number];
    expect(table.compare(a, ab)).to.be.lessThan(0);
    expect(table.compare(b, ab)).to.be.greaterThan(0);
    expect(table.compare(a, a)).to.equal(0);
  });

  it("finish() says when there was more than is kept apart", () => {
    const options = { minLength: 1, caseSensitive: false, maxWords: 2, maxPairs: 10 };
    const tally = new WordTally(options, fakeCall().context.cancellationToken);
    tally.push("a b c a b");
    const statistics = tally.finish(10);
    expect(statistics).to.include({ words: 5, uniqueWords: 2, complete: false });
    expect(statistics.top).to.deep.equal([
      { word: "a", count: 2 },
      { word: "b", count: 2 },
    ]);
    expect(statistics.topBigrams).to.deep.equal([{ words: ["a", "b"], count: 2 }]);
    const few = new WordTally({ ...options, maxPairs: 1 }, fakeCall().context.cancellationToken);
    few.push("a b a");
    expect(few.finish(10)).to.include({ uniqueWords: 2, complete: false });
  });

  it("WordTable() bounds what long words may take", () => {
    const table = new WordTable(4);
    expect(table.add(...unitsOf("x".repeat(65)))).to.equal(-1);
    expect(table.add(...unitsOf("x".repeat(64)))).to.equal(0);
    expect(table.add(...unitsOf("y"))).to.equal(-1);
    expect(table.overflowed).to.equal(true);
  });
});
