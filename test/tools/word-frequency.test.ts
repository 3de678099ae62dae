import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError } from "../../src/tool.js";
import type { Input } from "../../tools/specs/word-frequency.js";
import { execute } from "../../tools/word-frequency.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

describe("tools/word-frequency", () => {
  let root: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    await writeFile(join(root, "a.txt"), "The cat and the hat.\nThe end");
    await writeFile(join(root, "empty"), "");
    await writeFile(join(root, "nul"), "a\0b");
    await writeFile(join(root, "latin1"), Buffer.from("grün", "latin1"));
    await writeFile(join(root, "cut"), Buffer.from("a €").subarray(0, 4));
    await writeFile(join(root, "large"), "one two three ".repeat(100_000));
  });

  after(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const count = async (text: string, rest: Input = {}) => outputOf(await run({ text, ...rest }));

  it("execute() counts the words of a file", async () => {
    const output = outputOf(await run({ path: "a.txt", top: 2 }));
    const entropy = -(3 / 7) * Math.log2(3 / 7) - (4 / 7) * Math.log2(1 / 7);
    expect(output.entropyBits).to.be.closeTo(entropy, 1e-12);
    expect({ ...output, entropyBits: 0 }).to.deep.equal({
      words: 7,
      uniqueWords: 5,
      hapaxes: 4,
      characters: 28,
      lines: 2,
      bytes: 28,
      averageWordLength: 3,
      typeTokenRatio: 5 / 7,
      entropyBits: 0,
      longestWord: "the",
      top: [
        { word: "the", count: 3 },
        { word: "and", count: 1 },
      ],
      topBigrams: [
        { words: ["and", "the"], count: 1 },
        { words: ["cat", "and"], count: 1 },
      ],
      complete: true,
    });
  });

  it("execute() counts nothing in an empty text", async () => {
    for (const output of [await count(""), outputOf(await run({ path: "empty" }))]) {
      expect(output).to.include({ words: 0, lines: 0, averageWordLength: 0, typeTokenRatio: 0, entropyBits: 0 });
      expect(output.top).to.deep.equal([]);
    }
    expect(await count("\n\n")).to.include({ words: 0, lines: 2, characters: 2 });
    expect(await count("x x x")).to.include({ entropyBits: 0 });
  });

  it("execute() knows the words of any script", async () => {
    const words = async (text: string, rest: Input = {}): Promise<string[]> =>
      (await count(text, { top: 1_000, ...rest })).top.map(({ word }) => word);
    expect(await words("don't ‘quoted’ rock’n’roll it''s '90s end'")).to.have.members([
      "don't",
      "quoted",
      "rock’n’roll",
      "it",
      "s",
      "90s",
      "end",
    ]);
    expect(await words("Größe ΟΔΟΣ Привет नमस्ते 東京 𝒳𝒴 x²")).to.have.members([
      "größe",
      "οδος",
      "привет",
      "नमस्ते",
      "東京",
      "𝒳𝒴",
      "x²",
    ]);
    expect(await words("e\u0301 é É")).to.deep.equal(["é"]);
    expect(await words("snake_case kebab-case a.b 😀x")).to.have.members(["snake", "case", "kebab", "a", "b", "x"]);
    expect(await words("The the THE", { caseSensitive: true })).to.deep.equal(["THE", "The", "the"]);
    expect(await words("É é", { caseSensitive: true })).to.deep.equal(["É", "é"]);
    expect(await count("𝒳𝒴 😀")).to.include({ characters: 4, averageWordLength: 2 });
    expect((await count("İ".repeat(2_500))).words).to.equal(3);
  });

  it("execute() passes over words that are too short", async () => {
    const output = await count("a big b cat", { minLength: 2 });
    expect(output).to.include({ words: 2, uniqueWords: 2 });
    expect(output.topBigrams).to.deep.equal([{ words: ["big", "cat"], count: 1 }]);
    expect((await count("𝒳 ab", { minLength: 2 })).top).to.deep.equal([{ word: "ab", count: 1 }]);
  });

  it("execute() agrees with a count by regular expression, for any text", async () => {
    const unit = fc.constantFrom(...Array.from("aaabBé’'  \n.-"), "e\u0301", "ß", "𝒳", "😀", "Σ", "数", "\r", "ǅ");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, maxLength: 60 }), fc.boolean(), async (text, caseSensitive) => {
        const found = text.match(/[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
        const words = found.map((word) =>
          caseSensitive ? word.normalize("NFC") : word.normalize("NFC").toLowerCase(),
        );
        const counts = new Map<string, number>();
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
        const ranked = [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
        const output = await count(text, { caseSensitive, top: 3 });
        expect(output.words).to.equal(words.length);
        expect(output.uniqueWords).to.equal(counts.size);
        expect(output.top.map(({ word, count: times }) => [word, times])).to.deep.equal(ranked.slice(0, 3));
        expect(output.characters).to.equal([...text].length);
        expect(output.lines).to.equal(text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0));
        expect(
          output.topBigrams.every((each) => `\0${words.join("\0")}\0`.includes(`\0${each.words.join("\0")}\0`)),
        ).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });

  it("execute() counts a text of many chunks as one", async () => {
    const text = "größe €uro word ".repeat(60_000);
    await writeFile(join(root, "chunks"), text);
    const fromFile = outputOf(await run({ path: "chunks" }));
    expect(fromFile).to.deep.equal(await count(text));
    expect(fromFile).to.include({ words: 180_000, uniqueWords: 3, characters: text.length });
    expect(fromFile.top).to.deep.equal([
      { word: "größe", count: 60_000 },
      { word: "uro", count: 60_000 },
      { word: "word", count: 60_000 },
    ]);
  });

  it("execute() takes a word without end in pieces", async () => {
    const output = await count("x".repeat(1_000_000));
    expect(output).to.include({ words: 1_000, uniqueWords: 1, averageWordLength: 1_000 });
  });

  it("execute() wants a path or a text", async () => {
    expect(codeOf(await run({}))).to.equal("INVALID_INPUT");
    expect(codeOf(await run({ path: "a.txt", text: "x" }))).to.equal("INVALID_INPUT");
  });

  it("execute() needs no resource for a text", async () => {
    expect(outputOf(await execute({ text: "a b" }, fakeCall().context)).words).to.equal(2);
  });

  it("execute() answers what it cannot count", async () => {
    for (const path of ["nul", "latin1", "cut"]) expect(codeOf(await run({ path })), path).to.equal("BINARY_FILE");
    expect(codeOf(await run({ path: "none" }))).to.equal("NOT_FOUND");
    expect(codeOf(await run({ path: "." }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ path: "../x" }))).to.equal("OUTSIDE_RESOURCE");
  });

  it("execute() reports progress in bytes, the whole at the end", async () => {
    const { context, progress } = fakeCall({ path: root });
    await execute({ path: "large" }, context);
    expect(progress.at(-1)).to.deep.equal([1_400_000, 1_400_000]);
    const done = progress.map(([bytes]) => bytes);
    expect(done).to.deep.equal([...done].sort((one, other) => one - other));
  });

  it("execute() lets the event loop turn, so that a cancel from outside gets in", async () => {
    for (const input of [{ path: "large" }, { text: "one two three ".repeat(100_000) }]) {
      const call = fakeCall({ path: root });
      setImmediate(call.cancel);
      expect(await rejectionOf(execute(input, call.context))).to.be.instanceOf(ToolCancelledError);
    }
  });

  it("execute() polls every few thousand words", async () => {
    const call = fakeCall();
    outputOf(await execute({ text: "a ".repeat(60_000) }, call.context));
    expect(call.polls()).to.be.at.least(60_000 / 4_096);
  });
});
