import { expect } from "chai";
import fc from "fast-check";
import { unifyLineEndings } from "../../tools/line-endings.js";

describe("tools/line-endings", () => {
  it("unifyLineEndings() gives back what it took", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\r", "\n", "\r\n"), maxLength: 12 }), (text) => {
        const unified = unifyLineEndings(text);
        expect(unified.leave(unified.text)).to.equal(text);
        expect(unified.enter(unified.text)).to.equal(unified.text);
      }),
    );
  });

  it("unifyLineEndings() lets what enters have the ends of the text", () => {
    const crlf = unifyLineEndings("a\r\nb\r\n");
    expect(crlf.text).to.equal("a\nb\n");
    expect([crlf.enter("x\r\ny\n"), crlf.leave("x\ny\n")]).to.deep.equal(["x\ny\n", "x\r\ny\r\n"]);
    const lf = unifyLineEndings("a\nb\n");
    expect([lf.enter("x\r\n"), lf.leave("x\n")]).to.deep.equal(["x\n", "x\n"]);
    for (const text of ["a\r\nb\n", "a\rb\n", "a\r\r\n", "a", ""]) {
      const other = unifyLineEndings(text);
      expect([other.text, other.enter("x\r\ny\n")], text).to.deep.equal([text, "x\r\ny\n"]);
    }
  });
});
