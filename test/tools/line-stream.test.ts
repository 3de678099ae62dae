import { expect } from "chai";
import fc from "fast-check";
import { LineStream, type Line } from "../../tools/line-stream.js";

function linesOf(chunks: readonly string[]): Line[] {
  const stream = new LineStream();
  return [...chunks.flatMap((chunk) => [...stream.push(chunk)]), ...stream.end()];
}

describe("tools/line-stream", () => {
  it("LineStream() cuts any text into the same lines, however it comes in chunks", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "b", "\r", "\n", "\r\n", "😀"), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(piece), (chunks) => {
        const whole = chunks.join("");
        const ended = whole.split("\n");
        const last = ended.pop() ?? "";
        const wanted = ended.map((line) => line.replace(/\r$/, "")).concat(last === "" ? [] : [last]);
        const lines = linesOf(chunks);
        expect(lines.map(({ text }) => text)).to.deep.equal(wanted);
        expect(lines.map(({ number }) => number)).to.deep.equal(wanted.map((_, at) => at + 1));
        expect(lines.every(({ clipped }) => !clipped)).to.equal(true);
      }),
    );
  });

  it("LineStream() clips a long line and goes on after it", () => {
    const part = "x".repeat(200_000);
    const lines = linesOf([part, part, `${part}\r\nnext`]);
    expect(lines.map(({ text, clipped }) => [text.length, clipped])).to.deep.equal([
      [262_144, true],
      [4, false],
    ]);
    const exact = linesOf(["x".repeat(262_144), "\n", "y".repeat(262_145)]);
    expect(exact.map(({ text, clipped }) => [text.length, clipped])).to.deep.equal([
      [262_144, false],
      [262_144, true],
    ]);
  });
});
