import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolFailure } from "../../tools/failure.js";
import { readLines } from "../../tools/json-lines.js";
import { fakeCall, rejectionOf, temporaryFolder } from "./fake-context.js";

describe("tools/json-lines", () => {
  let folder: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder, remove } = await temporaryFolder());
  });

  after(() => remove());

  async function linesOf(content: string | Buffer): Promise<[number, string][]> {
    const path = join(folder, "lines");
    await writeFile(path, content);
    const handle = await open(path);
    try {
      const found: [number, string][] = [];
      for await (const { number, text } of readLines(handle, content.length, fakeCall().context)) {
        found.push([number, text]);
      }
      return found;
    } finally {
      await handle.close();
    }
  }

  it("readLines() gives each line that is not blank, with its number", async () => {
    expect(await linesOf("\ufeffa\n\n b \r\n\t\nc")).to.deep.equal([
      [1, "a"],
      [3, " b \r"],
      [5, "c"],
    ]);
    expect(await linesOf("")).to.deep.equal([]);
    expect(await linesOf("a\n")).to.deep.equal([[1, "a"]]);
  });

  it("readLines() finds the lines of any text, wherever a read ends", async () => {
    const line = fc.tuple(fc.constantFrom("x", "é", "€", "😀"), fc.integer({ min: 1, max: 300_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 4 }), async (parts) => {
        const lines = parts.map(([character, count]) => character.repeat(count));
        const found = await linesOf(lines.join("\n"));
        expect(found.length).to.equal(lines.length);
        for (const [index, [number, text]] of found.entries()) {
          expect(number).to.equal(index + 1);
          expect(text === lines[index]).to.equal(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("readLines() says which line is no text or too long", async () => {
    const binary = await rejectionOf(linesOf(Buffer.from([97, 10, 0xff, 10])));
    expect(binary)
      .to.be.instanceOf(ToolFailure)
      .and.deep.include({ code: "BINARY_FILE", details: { line: 2 } });
    const long = await rejectionOf(linesOf(`a\n${"x".repeat(9 * 1024 * 1024)}\nb`));
    expect(long)
      .to.be.instanceOf(ToolFailure)
      .and.deep.include({ code: "TOO_LARGE", details: { line: 2 } });
  });
});
