import { expect } from "chai";
import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { ToolFailure } from "../../tools/failure.js";
import { replaceByPatch } from "../../tools/patch-edit.js";
import { thrownBy } from "../support/outcomes.js";
import { fakeCall } from "./fake-context.js";

const { cancellationToken } = fakeCall().context;
const patched = (text: string, patch: string, fuzz = 0): string =>
  replaceByPatch(text, patch, fuzz, cancellationToken).text;
const failure = (text: string, patch: string, fuzz = 0): ToolFailure => {
  const thrown = thrownBy(() => patched(text, patch, fuzz));
  expect(thrown).to.be.instanceOf(ToolFailure);
  return thrown as ToolFailure;
};
/** Texts of lines that repeat, with and without a line feed at the end, with odd characters in them. */
const texts = fc
  .tuple(
    fc.array(fc.constantFrom("a", "b", "", "-", "+x", " y", "@@", "\\", "c\r", "\u2028"), { maxLength: 12 }),
    fc.boolean(),
  )
  .map(([lines, ends]) => lines.join("\n") + (ends ? "\n" : ""));

describe("tools/patch-edit", () => {
  it("replaceByPatch() makes one text of another by their diff", () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        fc.pre(before !== after);
        const patch = createTwoFilesPatch("a/x", "b/x", before, after, undefined, undefined, { context });
        expect(patched(before, patch)).to.equal(after);
      }),
      { numRuns: 500 },
    );
  });

  it("replaceByPatch() finds a hunk that has moved, and those after it", () => {
    const text = "new\nnew\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const patch = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -7,3 +7,3 @@\n 7\n-8\n+eight\n 9\n";
    expect(patched(text, patch)).to.equal("new\nnew\n1\ntwo\n3\n4\n5\n6\n7\neight\n9\n");
  });

  it("replaceByPatch() refuses a hunk that fits on several lines, none of them its own", () => {
    const text = "a\n}\nb\n}\nc\n";
    const wrong = failure(text, "@@ -1 +1 @@\n-}\n+};\n");
    expect(wrong.code).to.equal("AMBIGUOUS_MATCH");
    expect(wrong.details).to.deep.equal({ hunk: 1, lines: [2, 4] });
    expect(patched(text, "@@ -4 +4 @@\n-}\n+};\n")).to.equal("a\n}\nb\n};\nc\n");
  });

  it("replaceByPatch() says which hunk does not apply and why", () => {
    const text = "1\n2\n3\n4\n5\n";
    const second = failure(text, "@@ -1 +1 @@\n-1\n+one\n@@ -3,3 +3,3 @@\n 3\n-four\n+4\n 5\n");
    expect(second.code).to.equal("PATCH_CONFLICT");
    expect(second.details).to.deep.equal({ hunk: 2 });
    expect(second.message).to.equal(
      'Hunk 2 (line 3) does not apply. Nearest is line 4, "4", where "four" is expected.',
    );
    expect(failure(text, "@@ -9,0 +10 @@\n+x\n").message).to.include("The file has 5 lines.");
    expect(failure("", "@@ -1 +1 @@\n-x\n+y\n").message).to.include("The file is empty.");
  });

  it("replaceByPatch() takes the end of the file at the patch's word", () => {
    expect(patched("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n")).to.equal("a\nc\n");
    const wrong = failure("a\nb\n", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n");
    expect(wrong.code).to.equal("PATCH_CONFLICT");
    expect(wrong.message).to.include("last line ends with a line feed");
    // A line feed at the end begins no line that could be deleted.
    expect(failure("a\n", "@@ -1,2 +1 @@\n-a\n-\n+b\n").code).to.equal("PATCH_CONFLICT");
  });

  it("replaceByPatch() lets context differ only as far as it is told to", () => {
    const patch = "@@ -1,4 +1,4 @@\n zero\n 2\n-3\n+three\n 4\n";
    expect(failure("1\n2\n3\n4\n", patch).code).to.equal("PATCH_CONFLICT");
    expect(patched("1\n2\n3\n4\n", patch, 1)).to.equal("1\n2\nthree\n4\n");
    // What is deleted must be there in any case.
    expect(failure("1\n2\nx\n4\n", patch, 2).code).to.equal("PATCH_CONFLICT");
    expect(failure("1\n2\nx\n4\n", patch, 2).details).to.deep.equal({ hunk: 1 });
  });

  it("replaceByPatch() refuses what is no diff of one file", () => {
    const hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (const [patch, why] of [
      ["hello", "no hunk"],
      ["--- a\n+++ b\n", "no hunk"],
      [`--- a\n+++ a\n${hunk}--- b\n+++ b\n${hunk}`, "several files"],
      ["@@ -1,3 +1,3 @@\n-a\n+b\n", "at line 1"],
      ["@@ -1 +1 @@\n-a\nb\n", "invalid line"],
      ["@@ somewhere @@\n-a\n+b\n", ""],
      [`${hunk}${hunk}`, "before the end"],
      [`diff --git a/x b/y\nrename from x\nrename to y\n${hunk}`, "renames"],
      [`diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`, "use delete-file"],
      ["--- x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "use delete-file"],
    ] as const) {
      const wrong = failure("a\n", patch);
      expect(wrong.code, patch).to.equal("INVALID_PATCH");
      expect(wrong.message, patch).to.include(why);
    }
  });

  it("replaceByPatch() refuses a header that names another file, and passes over labels and folders", () => {
    const apply = (from: string, to: string): string =>
      replaceByPatch("a\n", `--- ${from}\n+++ ${to}\n@@ -1 +1 @@\n-a\n+b\n`, 0, cancellationToken, ["sub/a.txt"]).text;
    for (const [from, to] of [
      ["a/sub/a.txt", "b/sub/a.txt"],
      ["a.txt", "a.txt\t2026-01-01 00:00:00"],
      ["a.txt.orig", "a.txt"],
      ["old/a.txt", "new/a.txt"],
      ["original", "modified"],
      ["original", "a.txt"],
      ["C:\\work\\a.txt", "C:\\work\\a.txt"],
    ] as const) {
      expect(apply(from, to), to).to.equal("b\n");
    }
    for (const [from, to] of [
      ["a/sub/b.txt", "b/sub/b.txt"],
      ["b.txt", "b.txt"],
      ["original", "b/Makefile"],
      ["xa.txt", "xa.txt"],
    ] as const) {
      expect(
        thrownBy(() => apply(from, to)),
        to,
      ).to.include({ code: "INVALID_PATCH" });
    }
    expect(thrownBy(() => apply("a/b.txt", "b/b.txt")))
      .to.have.property("message")
      .that.includes('is for "b/b.txt"');
  });

  it("replaceByPatch() takes odd line breaks in a header for what they are", () => {
    for (const odd of ["\r", "\u2028", "\u2029"]) {
      expect(patched("a\n", `--- x${odd}x\n+++ y${odd}y\n@@ -1 +1 @@\n-a\n+b\n`)).to.equal("b\n");
    }
  });
});
