import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { applyPatch } from "diff";
import fc from "fast-check";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/diff-text.js";
import type { Input, Output } from "../../tools/specs/diff-text.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder } from "./fake-context.js";

describe("tools/diff-text", () => {
  let root: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    await mkdir(join(root, "folder"));
    await writeFile(join(root, "a.txt"), "one\ntwo\n");
    await writeFile(join(root, "b.txt"), "one\n2\n");
    await writeFile(join(root, "marked.txt"), "\ufeffone\ntwo\n");
    await writeFile(join(root, "nul"), "a\0b");
    await writeFile(join(root, "large"), "");
    await truncate(join(root, "large"), 10 * 1024 * 1024 + 1);
    await symlink("/etc/passwd", join(root, "out"));
  });

  after(() => remove());

  const run = (input: Input): ReturnType<typeof execute> => execute(input, fakeCall({ path: root }).context);
  const texts = async (left: string, right: string, rest: Omit<Input, "left" | "right"> = {}): Promise<Output> =>
    outputOf(await execute({ left: { text: left }, right: { text: right }, ...rest }, fakeCall().context));
  const lines = (word: string, count: number): string =>
    Array.from({ length: count }, (_, at) => `${word}${at}\n`).join("");

  it("execute() compares files and texts", async () => {
    expect(outputOf(await run({ left: { path: "a.txt" }, right: { path: "b.txt" } }))).to.deep.equal({
      identical: false,
      complete: true,
      diff: "--- a.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
      truncated: false,
      added: 1,
      removed: 1,
    });
    const mixed = outputOf(await run({ left: { text: "one\n" }, right: { path: "a.txt" } }));
    expect(mixed.diff).to.equal("--- left\n+++ a.txt\n@@ -1,1 +1,2 @@\n one\n+two\n");
    expect(outputOf(await run({ left: { path: "a.txt" }, right: { path: "marked.txt" } })).identical).to.equal(true);
  });

  it("execute() gives a diff that makes one text of the other", async () => {
    const text = fc
      .tuple(fc.array(fc.constantFrom("a", "b", "", " c", "-d"), { maxLength: 12 }), fc.boolean())
      .map(([parts, ends]) => parts.join("\n") + (ends ? "\n" : ""));
    await fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 0, max: 5 }), async (left, right, contextLines) => {
        const { diff, identical } = await texts(left, right, { contextLines });
        expect(identical).to.equal(left === right);
        if (!identical) expect(applyPatch(left, diff)).to.equal(right);
      }),
    );
  });

  it("execute() shows as much around a change as it is asked for", async () => {
    const left = lines("x", 20);
    const right = left.replace("x10\n", "y\n");
    for (const contextLines of [0, 1, 5]) {
      const { diff } = await texts(left, right, { contextLines });
      expect(diff.match(/^ x\d/gm) ?? [], `${contextLines}`).to.have.length(2 * contextLines);
    }
  });

  it("execute() ignores white space and case where it is asked to", async () => {
    const equal = async (left: string, right: string, rest: object): Promise<boolean> =>
      (await texts(left, right, rest)).identical;
    expect(await equal("a  b\n", "\ta b \n", { ignoreWhitespace: true })).to.equal(true);
    expect(await equal("a  b\n", "a b\n", {})).to.equal(false);
    expect(await equal("ab\n", "a b\n", { ignoreWhitespace: true })).to.equal(false);
    expect(await equal("Ab\n", "aB\n", { ignoreCase: true })).to.equal(true);
    expect(await equal("A  b\r\n", "a B\n", { ignoreCase: true, ignoreWhitespace: true })).to.equal(true);
    expect(await equal("a b c", "A\tB  C", { by: "word", ignoreCase: true, ignoreWhitespace: true })).to.equal(true);
  });

  it("execute() marks words in the lines they stand on", async () => {
    const left = "first\nthe quick fox\nlast\n";
    expect(await texts(left, "first\nthe slow red fox\nlast\n", { by: "word", contextLines: 0 })).to.deep.include({
      diff: "--- left\n+++ right\n@@ 2 @@\nthe [-quick-]{+slow+} {+red +}fox\n",
      added: 2,
      removed: 1,
    });
    expect((await texts(left, "first\nlast\n", { by: "word", contextLines: 1 })).diff).to.equal(
      "--- left\n+++ right\n@@ 1 @@\nfirst\n[-the quick fox↵-]\nlast\n",
    );
    const far = await texts(`a\n${"x\n".repeat(9)}b\n`, `A\n${"x\n".repeat(9)}B\n`, { by: "word", contextLines: 1 });
    expect(far.diff).to.equal("--- left\n+++ right\n@@ 1 @@\n[-a-]{+A+}\nx\n@@ 10 @@\nx\n[-b-]{+B+}\n");
    expect(await texts(left, left, { by: "word" })).to.include({ identical: true, diff: "" });
  });

  it("execute() cuts a long diff after a line and says so", async () => {
    for (const by of ["line", "word"] as const) {
      const { diff, truncated, complete } = await texts(lines("x", 100), lines("y", 100), { by, maxLength: 200 });
      expect({ truncated, complete }).to.deep.equal({ truncated: true, complete: true });
      expect(diff.length).to.be.within(150, 200);
      expect(diff.endsWith("\n")).to.equal(true);
      const tiny = await texts("x", "y", { by, maxLength: 1 });
      expect(tiny).to.include({ diff: "", truncated: true, identical: false });
    }
  });

  it("execute() gives up in time and says so", async () => {
    for (const by of ["line", "word"] as const) {
      const answer = await texts(lines("x", 20_000), lines("y", 20_000), { by, timeoutMs: 1 });
      expect(answer).to.deep.equal({ identical: false, complete: false, diff: "", truncated: true });
    }
  });

  it("execute() stops when cancelled", async () => {
    for (const by of ["line", "word"] as const) {
      const call = fakeCall({ onPoll: (polls, cancel) => (polls === 3 ? cancel() : undefined) });
      const input = { left: { text: lines("x", 2_000) }, right: { text: lines("y", 2_000) }, by };
      expect(await rejectionOf(execute(input, call.context))).to.be.instanceOf(ToolCancelledError);
      expect(call.polls()).to.equal(3);
    }
  });

  it("execute() says which side it cannot read", async () => {
    const failing = async (left: Input["left"], right: Input["right"] = { path: "a.txt" }) =>
      (await run({ left, right })).error;
    expect(await failing({})).to.include({ code: "INVALID_INPUT" });
    expect(await failing({ text: "a", path: "a.txt" })).to.include({ code: "INVALID_INPUT" });
    expect(await failing({ text: "é".repeat(6 * 1024 * 1024) })).to.include({ code: "TOO_LARGE" });
    for (const [path, code] of [
      ["none", "NOT_FOUND"],
      ["folder", "NOT_A_FILE"],
      ["nul", "BINARY_FILE"],
      ["large", "TOO_LARGE"],
      ["out", "OUTSIDE_RESOURCE"],
      ["../x", "OUTSIDE_RESOURCE"],
    ] as const) {
      const error = await failing({ path: "a.txt" }, { path });
      expect(error, path).to.include({ code });
      expect(error?.details, path).to.include({ path });
    }
    expect(codeOf(await run({ left: { text: "" }, right: { text: "" } }))).to.equal("success");
  });
});
