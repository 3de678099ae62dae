import { expect } from "chai";
import fc from "fast-check";
import { ToolFailure } from "../../tools/failure.js";
import { LineMatcher, type PatternOptions } from "../../tools/line-matcher.js";

const matcher = (pattern: string, options: Partial<PatternOptions> = {}): LineMatcher =>
  new LineMatcher({ pattern, literal: false, caseSensitive: true, wholeWord: false, ...options });

/** What matches, or undefined. */
function found(pattern: string, line: string, options: Partial<PatternOptions> = {}): string | undefined {
  const place = matcher(pattern, options).find(line);
  return place && line.slice(place.start, place.end);
}

describe("tools/line-matcher", () => {
  it("find() finds the first match of an expression", () => {
    expect(matcher("o+").find("foo bo")).to.deep.equal({ start: 1, end: 3 });
    expect(matcher("^b").find("ab")).to.equal(undefined);
    expect(found("[a-z]+$", "one two")).to.equal("two");
    expect(found("é.", "😀été")).to.equal("ét");
    expect(found("x*", "ab")).to.equal("");
    expect(found("STRASSE", "strasse", { caseSensitive: false })).to.equal("strasse");
    expect(found("äß", "ÄSS ÄẞX", { caseSensitive: false })).to.equal("Äẞ");
  });

  it("find() takes a literal as it is", () => {
    expect(found("a.c(", "abc a.c(", { literal: true })).to.equal("a.c(");
    expect(found("A.C", "abc xa.c", { literal: true, caseSensitive: false })).to.equal("a.c");
    expect(found("a.c", "a.cd a.c", { literal: true, wholeWord: true })).to.equal("a.c");
  });

  it("find() finds whole words of an expression whose quotation is open at its end", () => {
    expect(found(String.raw`\Qa.b`, "xa.b a.b", { wholeWord: true })).to.equal("a.b");
    expect(found(String.raw`a\Q.b`, "a.b", { wholeWord: true })).to.equal("a.b");
    expect(found(String.raw`\Qa.\Eb`, "a.b", { wholeWord: true })).to.equal("a.b");
    expect(found("\\Qa\\", "a\\ b", { wholeWord: true })).to.equal("a\\");
    expect(found(String.raw`\\Qa`, String.raw`\Qa`, { wholeWord: true })).to.equal(String.raw`\Qa`);
  });

  it("find() agrees with includes() for any literal", () => {
    const text = fc.string({ unit: fc.constantFrom("a", ".", "\\", "*", "é", "\\E", "$", "["), maxLength: 8 });
    fc.assert(
      fc.property(text, text, fc.boolean(), (pattern, line, caseSensitive) => {
        fc.pre(pattern !== "");
        const place = matcher(pattern, { literal: true, caseSensitive }).find(line);
        expect(place?.start ?? -1).to.equal(line.indexOf(pattern));
      }),
    );
  });

  it("find() finds whole words of any script", () => {
    const whole = { wholeWord: true };
    expect(matcher("foo|foobar", whole).find("foobar foo")).to.deep.equal({ start: 0, end: 6 });
    expect(matcher("foo", whole).find("xfoo foo_ foo")).to.deep.equal({ start: 10, end: 13 });
    expect(found("gr", "grün", whole)).to.equal(undefined);
    expect(found("(gr(ü)n)", "=grün=", whole)).to.equal("grün");
    expect(found("GRÜN", "grün", { ...whole, caseSensitive: false })).to.equal("grün");
  });

  it("LineMatcher() refuses what is no expression, or takes no bounded time", () => {
    const patterns = ["(", "a)(b", "a(?=b)", "(a)\\1", "a{1001}", "((a{100}){100}){100}", "[x-y]{900}".repeat(5)];
    for (const pattern of patterns) {
      for (const wholeWord of [false, true]) {
        expect(() => matcher(pattern, { wholeWord }), pattern)
          .to.throw(ToolFailure)
          .with.property("code", "INVALID_PATTERN");
      }
    }
    expect(() => matcher("a\nb", { literal: true })).to.throw(ToolFailure);
  });
});
