import { expect } from "chai";
import fc from "fast-check";
import { replaceExactly, type ExactEdit } from "../../tools/exact-edit.js";
import { ToolFailure } from "../../tools/failure.js";
import { thrownBy } from "../support/outcomes.js";
import { fakeCall } from "./fake-context.js";

const { cancellationToken } = fakeCall().context;
const replace = (text: string, edit: ExactEdit): string => replaceExactly(text, edit, 1_000, cancellationToken).text;
const failure = (text: string, edit: ExactEdit): ToolFailure => {
  const thrown = thrownBy(() => replace(text, edit));
  expect(thrown).to.be.instanceOf(ToolFailure);
  return thrown as ToolFailure;
};
/** Texts in which much occurs several times. */
const texts = (minLength = 0) =>
  fc.string({ unit: fc.constantFrom("a", "b", "\n", "$", "&"), minLength, maxLength: 20 });

describe("tools/exact-edit", () => {
  it("replaceExactly() replaces the only occurrence, as a naive replacement would", () => {
    fc.assert(
      fc.property(texts(), texts(1), texts(), (text, oldText, newText) => {
        const places = Array.from(text, (_, at) => at).filter((at) => text.startsWith(oldText, at));
        const [at = 0] = places;
        if (places.length === 1) {
          const expected = text.slice(0, at) + newText + text.slice(at + oldText.length);
          expect(replace(text, { oldText, newText })).to.equal(expected);
        } else {
          const code = places.length === 0 ? "NO_MATCH" : "AMBIGUOUS_MATCH";
          expect(failure(text, { oldText, newText }).code).to.equal(code);
        }
      }),
    );
  });

  it("replaceExactly() replaces all occurrences, as splitting and joining would", () => {
    fc.assert(
      fc.property(texts(), texts(1), texts(), (text, oldText, newText) => {
        const parts = text.split(oldText);
        fc.pre(parts.length > 1);
        const edited = replaceExactly(text, { oldText, newText, all: true }, 1_000, cancellationToken);
        expect(edited).to.deep.equal({ text: parts.join(newText), replacements: parts.length - 1 });
      }),
    );
  });

  it("replaceExactly() replaces the occurrence that starts on the line that is named", () => {
    fc.assert(
      fc.property(texts(), texts(1), texts(), fc.integer({ min: 1, max: 10 }), (text, oldText, newText, line) => {
        const places = Array.from(text, (_, at) => at).filter((at) => text.startsWith(oldText, at));
        const meant = places.filter((at) => text.slice(0, at).split("\n").length === line);
        const [at = 0] = meant;
        if (meant.length === 1) {
          const expected = text.slice(0, at) + newText + text.slice(at + oldText.length);
          expect(replace(text, { oldText, newText, line })).to.equal(expected);
        } else {
          const code = meant.length === 0 ? "NO_MATCH" : "AMBIGUOUS_MATCH";
          expect(failure(text, { oldText, newText, line }).code).to.equal(code);
        }
      }),
    );
  });

  it("replaceExactly() says on which lines the candidates are", () => {
    const text = "x = 1\ny\nx = 1\nx = 1 x = 1\n";
    const ambiguous = failure(text, { oldText: "x = 1", newText: "" });
    expect(ambiguous.details.lines).to.deep.equal([1, 3, 4, 4]);
    expect(ambiguous.message).to.include("4 times, on lines 1, 3, 4;");
    expect(failure(text, { oldText: "x = 1", newText: "", line: 2 }).message).to.include("but on lines 1, 3, 4;");
    expect(failure(text, { oldText: "x = 1", newText: "", line: 4 }).code).to.equal("AMBIGUOUS_MATCH");
    const many = failure("x\n".repeat(5_000), { oldText: "x", newText: "" });
    expect(many.message).to.include("more than 1000 times");
    expect(many.details.lines).to.have.length(20);
    expect(replace("x\n".repeat(5_000), { oldText: "x", newText: "y", line: 4_999 }).split("\n")[4_998]).to.equal("y");
  });

  it("replaceExactly() shows what is nearest where nothing matches", () => {
    const text = "function one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}\n";
    const nearest = (oldText: string): unknown => failure(text, { oldText, newText: "" }).details.nearest;
    expect(nearest("function two() {\n  return 3;\n}")).to.deep.equal({
      line: 6,
      found: "  return 2;",
      expected: "  return 3;",
    });
    expect(nearest("functoin two() {")).to.deep.include({ line: 5 });
    expect(nearest("two() {\n  return 2;\n}\nend")).to.deep.equal({ line: 8, found: "", expected: "end" });
    expect(nearest("\n\n\nfunction tow() {")).to.deep.include({ line: 5 });
    const { message } = failure(text, { oldText: "\treturn 1;", newText: "" });
    expect(message).to.include("line 2").and.to.include("only white space differs");
    expect(failure("", { oldText: "x", newText: "" }).message).to.include("The file is empty");
    expect(failure("a\nb", { oldText: "a\nb\nc", newText: "" }).message).to.include("ends before line 3");
  });
});
