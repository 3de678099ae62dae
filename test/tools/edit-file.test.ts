import { createHash } from "node:crypto";
import { readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import sinon from "sinon";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/edit-file.js";
import type { Input } from "../../tools/specs/edit-file.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("tools/edit-file", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "outside"));
    await writeFile(join(root, "a.txt"), "one\ntwo\nthree\n");
  });

  afterEach(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const edit = (...edits: Input["edits"]): Input => ({ path: "a.txt", edits });
  const text = (path = "a.txt"): Promise<string> => readFile(join(root, path), "utf8");

  it("execute() replaces a text that occurs once and says what changed", async () => {
    const answer = await run(edit({ oldText: "two", newText: "2" }));
    expect(outputOf(answer)).to.deep.equal({
      path: "a.txt",
      changed: true,
      replacements: 1,
      addedLines: 1,
      removedLines: 1,
      bytes: 12,
      sha256: sha256("one\n2\nthree\n"),
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      diffTruncated: false,
    });
    expect(answer.changes).to.deep.equal([{ operation: "modify", resourceId: "repo-1", path: "a.txt" }]);
    expect(await text()).to.equal("one\n2\nthree\n");
  });

  it("execute() applies edits in order, exact ones and patches", async () => {
    const call = fakeCall({ path: root });
    const edits = [
      { oldText: "one", newText: "two" },
      { oldText: "two", newText: "2", line: 2 },
      { patch: "@@ -1,3 +1,3 @@\n two\n 2\n-three\n+drei\n" },
    ];
    expect(outputOf(await execute({ path: "a.txt", edits }, call.context)).replacements).to.equal(3);
    expect(call.progress).to.deep.include.members([
      [1, 3],
      [3, 3],
    ]);
    expect(await text()).to.equal("two\n2\ndrei\n");
  });

  it("execute() leaves the file for a patch for another file, or one that deletes it", async () => {
    const hunk = "@@ -1 +1 @@\n-one\n+1\n";
    expect(codeOf(await run(edit({ patch: `--- a/b.txt\n+++ b/b.txt\n${hunk}` })))).to.equal("INVALID_PATCH");
    const deletion = await run(edit({ patch: "--- a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n" }));
    expect(deletion.error?.message).to.include("use delete-file");
    expect(await text()).to.equal("one\ntwo\nthree\n");
    expect(codeOf(await run(edit({ patch: `--- a/x/a.txt\n+++ b/x/a.txt\n${hunk}` })))).to.equal("success");
  });

  it("execute() applies all edits or none", async () => {
    const answer = await run(edit({ oldText: "one", newText: "1" }, { oldText: "four", newText: "4" }));
    expect(answer.error?.message).to.match(/^Edit 2 of 2: /);
    expect(answer.error?.details).to.include({ edit: 2 });
    expect(codeOf(answer)).to.equal("NO_MATCH");
    expect(await text()).to.equal("one\ntwo\nthree\n");
    expect((await readdir(root)).sort()).to.deep.equal(["a.txt", "sub"]);
  });

  it("execute() gives the diff alone on a dry run, also of what may not be written", async () => {
    const answer = await run({ ...edit({ oldText: "one", newText: "1" }), dryRun: true }, { access: "read_only" });
    expect(outputOf(answer)).to.include({ changed: true, sha256: sha256("1\ntwo\nthree\n") });
    expect(outputOf(answer).diff).to.include("\n+1\n");
    expect(answer.changes).to.deep.equal([]);
    expect(await text()).to.equal("one\ntwo\nthree\n");
    expect(codeOf(await run(edit({ oldText: "one", newText: "1" }), { access: "read_only" }))).to.equal("READ_ONLY");
  });

  it("execute() refuses a file that is not the one that was read", async () => {
    const edits = [{ oldText: "one", newText: "1" }];
    const answer = await run({ path: "a.txt", edits, expectedSha256: sha256("other") });
    expect(answer.error).to.deep.include({ code: "CHANGED" });
    expect(answer.error?.details).to.include({ sha256: sha256("one\ntwo\nthree\n") });
    const expectedSha256 = sha256("one\ntwo\nthree\n").toUpperCase();
    expect(codeOf(await run({ path: "a.txt", edits, expectedSha256 }))).to.equal("success");
  });

  it("execute() refuses a file that somebody else changes while it works", async () => {
    for (let change = 1; ; change++) {
      await writeFile(join(root, "a.txt"), "one\ntwo\nthree\n");
      let polls = 0;
      const onPoll = (at: number): void => {
        polls = at;
        if (at === change) writeFileSync(join(root, "a.txt"), "somebody else's");
      };
      const answer = await run(edit({ oldText: "two", newText: "2" }), { onPoll });
      if (polls < change) break;
      // What is changed before it is read is simply read.
      expect(codeOf(answer)).to.be.oneOf(["CHANGED", "NO_MATCH"]);
      expect(await text()).to.equal("somebody else's");
    }
    expect(await readdir(root)).to.have.members(["a.txt", "sub"]);
  });

  it("execute() keeps mode, line ends and byte order mark", async () => {
    for (const [before, after] of [
      ["\ufeffone\r\ntwo\r\n", "\ufeff1\r\neins\r\ntwo\r\n"],
      ["one\r\ntwo", "1\r\neins\r\ntwo"],
      ["\ufeffone\ntwo\n", "\ufeff1\neins\ntwo\n"],
    ] as const) {
      for (const edits of [
        [{ oldText: "one\n", newText: "1\neins\n" }],
        [{ oldText: "one\r\n", newText: "1\r\neins\r\n" }],
        [{ patch: "@@ -1 +1,2 @@\n-one\n+1\n+eins\n" }],
        [{ patch: "@@ -1 +1,2 @@\r\n-one\r\n+1\r\n+eins\r\n" }],
      ]) {
        await writeFile(join(root, "a.txt"), before);
        await chmod(join(root, "a.txt"), 0o640);
        expect(outputOf(await run({ path: "a.txt", edits }))).to.include({ sha256: sha256(after) });
        expect(await text()).to.equal(after);
        expect((await lstat(join(root, "a.txt"))).mode & 0o777).to.equal(0o640);
      }
    }
  });

  it("execute() leaves mixed line ends as they are", async () => {
    await writeFile(join(root, "a.txt"), "one\r\ntwo\nthree\r\n");
    expect(codeOf(await run(edit({ oldText: "one\n", newText: "1\n" })))).to.equal("NO_MATCH");
    outputOf(await run(edit({ oldText: "one\r\n", newText: "1\n" })));
    expect(await text()).to.equal("1\ntwo\nthree\r\n");
  });

  it("execute() writes nothing where edits make no difference", async () => {
    const { ino } = await lstat(join(root, "a.txt"));
    const answer = await run(edit({ oldText: "one", newText: "1" }, { oldText: "1", newText: "one" }));
    expect(outputOf(answer)).to.include({ changed: false, replacements: 2, diff: "", diffTruncated: false });
    expect(answer.changes).to.deep.equal([]);
    expect((await lstat(join(root, "a.txt"))).ino).to.equal(ino);
  });

  it("execute() says when it gives a part of the diff", async () => {
    const line = `${"x".repeat(40)}\n`;
    await writeFile(join(root, "a.txt"), line.repeat(2_000));
    const input = edit({ oldText: line, newText: `${line}y\n`, all: true });
    const { diff, diffTruncated, addedLines } = outputOf(await run(input));
    expect(diffTruncated).to.equal(true);
    expect(diff.length).to.be.within(60_000, 64 * 1024);
    expect(diff.endsWith("\n")).to.equal(true);
    expect(addedLines).to.equal(2_000);
  });

  it("execute() leaves the diff out where it would take too long, and says so", async () => {
    let now = 0;
    const clock = sinon.stub(Date, "now").callsFake(() => (now += 1_500));
    try {
      const output = outputOf(await run(edit({ oldText: "two", newText: "2" }, { oldText: "one", newText: "1" })));
      expect(output).to.include({ changed: true, replacements: 2, diff: "", diffTruncated: true });
      expect(output).to.not.have.any.keys("addedLines", "removedLines");
    } finally {
      clock.restore();
    }
    expect(await text()).to.equal("1\n2\nthree\n");
  });

  it("execute() refuses edits that say too much or too little", async () => {
    for (const wrong of [
      {},
      { oldText: "one" },
      { newText: "one" },
      { oldText: "one", newText: "one" },
      { oldText: "one", newText: "1", patch: "x" },
      { oldText: "one", newText: "1", all: true, line: 1 },
      { oldText: "one", newText: "1", fuzz: 1 },
      { patch: "@@ -1 +1 @@\n-one\n+1\n", all: true },
    ]) {
      expect(codeOf(await run(edit(wrong))), JSON.stringify(wrong)).to.equal("INVALID_INPUT");
    }
    expect(codeOf(await run(edit({ oldText: "one", newText: "\ud800" })))).to.equal("INVALID_CONTENT");
  });

  it("execute() refuses what is no text, no file or too large", async () => {
    await writeFile(join(root, "nul"), "one\0two");
    await writeFile(join(root, "latin1"), Buffer.from("grün", "latin1"));
    await writeFile(join(root, "large"), "one");
    await truncate(join(root, "large"), 10 * 1024 * 1024 + 1);
    await writeFile(join(root, "almost"), "x".repeat(10 * 1024 * 1024));
    const edits = [{ oldText: "x", newText: "1" }];
    const code = async (path: string): Promise<unknown> => codeOf(await run({ path, edits }));
    expect(await code("nul")).to.equal("BINARY_FILE");
    expect(await code("latin1")).to.equal("BINARY_FILE");
    expect(await code("large")).to.equal("TOO_LARGE");
    expect(await code("sub")).to.equal("NOT_A_FILE");
    expect(await code("a.txt/")).to.equal("NOT_A_FILE");
    expect(await code("none")).to.equal("NOT_FOUND");
    expect(codeOf(await run({ path: "almost", edits: [{ oldText: "x", newText: "xx", all: true }] }))).to.equal(
      "TOO_LARGE",
    );
    const long = { oldText: "one", newText: `one${"x".repeat(6 * 1024 * 1024)}` };
    expect((await run(edit(long, long, long))).error)
      .to.deep.include({ code: "TOO_LARGE" })
      .and.nested.include({ "details.edit": 2 });
    expect(codeOf(await run(edit({ oldText: "one", newText: "é".repeat(6 * 1024 * 1024) })))).to.equal("TOO_LARGE");
  });

  it("execute() edits through links inside and never outside", async () => {
    await writeFile(join(base, "outside", "secret.txt"), "one");
    await symlink("a.txt", join(root, "link"));
    await symlink("../outside/secret.txt", join(root, "out"));
    await symlink("../outside", join(root, "folderOut"));
    const edits = [{ oldText: "one", newText: "1" }];
    const answer = await run({ path: "link", edits });
    expect(outputOf(answer).path).to.equal("link");
    expect(answer.changes[0]?.path).to.equal("a.txt");
    expect((await lstat(join(root, "link"))).isSymbolicLink()).to.equal(true);
    for (const path of ["out", "folderOut/secret.txt", "../outside/secret.txt", "sub/../../outside/secret.txt"]) {
      expect(codeOf(await run({ path, edits })), path).to.equal("OUTSIDE_RESOURCE");
    }
    expect(await readFile(join(base, "outside", "secret.txt"), "utf8")).to.equal("one");
  });

  it("execute() does not write through a folder that becomes a link while it works", async () => {
    await writeFile(join(base, "outside", "f.txt"), "one");
    for (let swap = 1; ; swap++) {
      await mkdir(join(root, `s${swap}`));
      await writeFile(join(root, `s${swap}`, "f.txt"), "one");
      let polls = 0;
      const onPoll = (at: number): void => {
        polls = at;
        if (at !== swap) return;
        renameSync(join(root, `s${swap}`), join(root, `old${swap}`));
        symlinkSync("../outside", join(root, `s${swap}`));
      };
      const answer = await run({ path: `s${swap}/f.txt`, edits: [{ oldText: "one", newText: "1" }] }, { onPoll });
      if (polls < swap) break;
      // Exchanged after the last look at the folder, the temporary file is not where it was: nothing is written.
      expect(codeOf(answer)).to.be.oneOf(["OUTSIDE_RESOURCE", "NOT_FOUND", "CHANGED"]);
      expect(readFileSync(join(base, "outside", "f.txt"), "utf8")).to.equal("one");
      expect(await readdir(join(base, "outside"))).to.deep.equal(["f.txt"]);
    }
  });

  it("execute() does not edit a file that is closed to writing", async () => {
    await chmod(join(root, "a.txt"), 0o444);
    const input = edit({ oldText: "one", newText: "1" });
    const [answer] = await asNobody(base, [{ tool: "edit-file", input, path: root }]);
    expect(answer && codeOf(answer)).to.equal("ACCESS_DENIED");
    expect(await text()).to.equal("one\ntwo\nthree\n");
  });

  it("execute() leaves the file and nothing else when cancelled", async () => {
    for (let stop = 1; ; stop++) {
      const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === stop ? cancel() : undefined) });
      const work = execute(edit({ oldText: "one", newText: "1" }), call.context);
      if (stop > 1 && (await text()) !== "one\ntwo\nthree\n") break;
      const error = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) {
        expect(stop).to.be.above(3);
        break;
      }
      expect(error).to.be.instanceOf(ToolCancelledError);
      expect(await text()).to.equal("one\ntwo\nthree\n");
      expect((await readdir(root)).sort()).to.deep.equal(["a.txt", "sub"]);
    }
  });

  it("execute() stops comparing when cancelled", async () => {
    const lines = (word: string): string => Array.from({ length: 4_000 }, (_, at) => `${word}${at}\n`).join("");
    await writeFile(join(root, "a.txt"), lines("x"));
    const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls > 20 ? cancel() : undefined) });
    const work = execute(edit({ oldText: "x", newText: "y", all: true }), call.context);
    expect(await rejectionOf(work)).to.be.instanceOf(ToolCancelledError);
    expect(await text()).to.equal(lines("x"));
  });

  it("execute() edits a single-file resource in place", async () => {
    const path = join(root, "a.txt");
    const { ino } = await lstat(path);
    for (const [oldText, newText] of [
      ["one", "a longer first line"],
      ["a longer first line\n", ""],
    ] as const) {
      const answer = await run({ path: ".", edits: [{ oldText, newText }] }, { path });
      expect(outputOf(answer).path).to.equal("a.txt");
      expect(answer.changes[0]).to.include({ operation: "modify", path: "a.txt" });
    }
    expect(await text()).to.equal("two\nthree\n");
    expect((await lstat(path)).ino).to.equal(ino);
  });
});
