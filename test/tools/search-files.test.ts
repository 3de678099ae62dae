import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { unlinkSync } from "node:fs";
import { chmod, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError, type ToolAnswer } from "../../src/tool.js";
import { execute } from "../../tools/search-files.js";
import type { Input, Output } from "../../tools/specs/search-files.js";
import { asNobody } from "./as-nobody.js";
import {
  codeOf,
  fakeCall,
  filesOpenBelow,
  outputOf,
  rejectionOf,
  temporaryFolder,
  type FakeOptions,
} from "./fake-context.js";

const MIB = 1024 * 1024;

describe("tools/search-files", () => {
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: root, remove } = await temporaryFolder());
  });

  afterEach(() => remove());

  const write = async (files: Record<string, string | Uint8Array>): Promise<void> => {
    for (const [file, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), content);
    }
  };
  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const search = async (input: Input): Promise<Output> => outputOf(await run(input));
  const places = ({ matches }: Output): string[] =>
    matches.map(({ path, line, column }) => `${path}:${line}:${column}`);

  it("execute() gives each line that matches, in order", async () => {
    await write({ "b.txt": "none\n", "a/z.txt": "x two\r\ntwo two\nthree", "a-b.txt": "two", empty: "" });
    expect(await search({ pattern: "two|three$" })).to.deep.equal({
      matches: [
        { path: "a/z.txt", line: 1, column: 3, text: "x two", match: "two" },
        { path: "a/z.txt", line: 2, column: 1, text: "two two", match: "two" },
        { path: "a/z.txt", line: 3, column: 1, text: "three", match: "three" },
        { path: "a-b.txt", line: 1, column: 1, text: "two", match: "two" },
      ],
      files: 4,
      filesWithMatches: 2,
      bytes: 28,
      binaryFiles: 0,
      clippedLines: 0,
      truncated: false,
      unreadable: [],
    });
  });

  it("execute() takes the options of the pattern", async () => {
    await write({ a: "a.c abc ABC\nabcd" });
    expect(places(await search({ pattern: "a.c", literal: true }))).to.deep.equal(["a:1:1"]);
    expect(places(await search({ pattern: "^ABC", caseSensitive: false }))).to.deep.equal(["a:2:1"]);
    expect(places(await search({ pattern: "abc", wholeWord: true }))).to.deep.equal(["a:1:5"]);
    expect(codeOf(await run({ pattern: "(" }))).to.equal("INVALID_PATTERN");
  });

  it("execute() takes globs, hidden names, skipped folders and ignore files into account", async () => {
    const names = ["a.ts", "a.js", "lib/b.ts", "lib/gen/c.ts", ".env", "node_modules/d.ts", "out/e.ts"];
    await write({ ...Object.fromEntries(names.map((name) => [name, "hit"])), ".gitignore": "out/\n" });
    const paths = async (input: Partial<Input>): Promise<string[]> =>
      (await search({ pattern: "hit", ...input })).matches.map(({ path }) => path);
    expect(await paths({})).to.deep.equal(["a.js", "a.ts", "lib/b.ts", "lib/gen/c.ts"]);
    expect(await paths({ include: ["*.js", "lib/**"], exclude: ["lib/gen"] })).to.deep.equal(["a.js", "lib/b.ts"]);
    expect(await paths({ exclude: ["**/*.ts"] })).to.deep.equal(["a.js"]);
    expect(await paths({ path: "lib", include: ["*"] })).to.deep.equal(["lib/b.ts"]);
    expect(await paths({ path: "lib/b.ts", exclude: ["**"] })).to.deep.equal(["lib/b.ts"]);
    expect(await paths({ include: ["*.js", ".*"], includeHidden: true })).to.deep.equal([".env", "a.js"]);
    const all = await paths({ useIgnoreFiles: false, skipFolders: [] });
    expect(all).to.include.members(["node_modules/d.ts", "out/e.ts"]);
  });

  it("execute() gives the lines around a match, as far as there are any", async () => {
    await write({ a: "1\n2\nhit 3\n4\nhit 5\n6\n7", b: "hit" });
    const { matches } = await search({ pattern: "hit", before: 2, after: 2 });
    expect(matches.map(({ before, after }) => [before, after])).to.deep.equal([
      [
        ["1", "2"],
        ["4", "hit 5"],
      ],
      [
        ["hit 3", "4"],
        ["6", "7"],
      ],
      [[], []],
    ]);
  });

  it("execute() stops at a limit and says at which, with the last match's lines complete", async () => {
    await write({ a: "hit 1\nhit 2\nhit 3\nlast", b: "hit" });
    const few = await search({ pattern: "hit", maxMatches: 2, after: 2 });
    expect(few).to.include({ truncated: true, limit: "maxMatches" });
    expect(few.matches.map(({ after }) => after)).to.deep.equal([
      ["hit 2", "hit 3"],
      ["hit 3", "last"],
    ]);
    const small = await search({ pattern: "hit", maxBytes: 9 });
    expect(small).to.include({ truncated: true, limit: "maxBytes" });
    expect(places(small)).to.deep.equal(["a:1:1"]);
    expect(await search({ pattern: "hit", maxMatches: 5 })).to.include({ truncated: false });
  });

  it("execute() passes over binary files and counts them, also where the NUL byte comes late", async () => {
    await write({
      a: "hit\0",
      b: `hit\n${"x".repeat(MIB)}\n\0hit`,
      c: "hit",
      "wide.txt": Buffer.from("\ufeffno\nhit grün", "utf16le"),
      latin1: Buffer.from("grün hit", "latin1"),
      marked: "\ufeffhit",
    });
    const output = await search({ pattern: "^hit|.*hit$" });
    expect(output).to.include({ binaryFiles: 2, files: 4, filesWithMatches: 4, truncated: false });
    expect(places(output)).to.deep.equal(["c:1:1", "latin1:1:1", "marked:1:1", "wide.txt:2:1"]);
    expect(output.matches[1]?.text).to.equal("gr\ufffdn hit");
    // A limit that a binary file reached does not end the search.
    expect(places(await search({ pattern: "hit", maxMatches: 1, after: 50 }))).to.deep.equal(["c:1:1"]);
  });

  it("execute() searches a huge line in bounded memory, and says how much of it", async () => {
    const line = `${"x".repeat(200_000)}hit${"y".repeat(20 * MIB)}hit`;
    await write({ a: `${line}\nhit` });
    const { matches, clippedLines } = await search({ pattern: "hit" });
    expect(clippedLines).to.equal(1);
    expect(matches.map(({ line: number, column, clipped }) => [number, column, clipped])).to.deep.equal([
      [1, 200_001, true],
      [2, 1, undefined],
    ]);
    expect(matches[0]?.text).to.equal(`${"x".repeat(100)}hit${"y".repeat(397)}`);
    const long = await search({ pattern: "x+", maxMatches: 1 });
    expect(long.matches[0]).to.include({ text: "x".repeat(500), match: "x".repeat(500) });
  });

  it("execute() reads a sparse file of 2 GB no further than it must", async () => {
    await write({ sparse: "hit\n" });
    await truncate(join(root, "sparse"), 2 ** 31);
    const before = process.memoryUsage().rss;
    expect(await search({ pattern: "hit" })).to.include({ binaryFiles: 1, files: 0, bytes: 0 });
    expect(process.memoryUsage().rss - before).to.be.lessThan(64 * MIB);
  });

  it("execute() finds what a naive search finds, for any files", async () => {
    const word = fc.constantFrom("ab", "b", "é", "\n", "\r\n", " ", "AB");
    const text = fc.string({ unit: word, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), fc.boolean(), async (texts, caseSensitive) => {
        await write(Object.fromEntries(texts.map((each, at) => [`f${at}`, each])));
        const wanted = texts.flatMap((each, at) =>
          each.split("\n").flatMap((line, number) => {
            const column = new RegExp("ab?é|b$", caseSensitive ? "" : "i").exec(line.replace(/\r$/, ""))?.index;
            return column === undefined ? [] : [`f${at}:${number + 1}:${column + 1}`];
          }),
        );
        const include = texts.map((_, at) => `f${at}`);
        expect(places(await search({ pattern: "ab?é|b$", caseSensitive, include }))).to.deep.equal(wanted);
      }),
      { numRuns: 50 },
    );
  });

  it("execute() does not follow links, and refuses those that lead out", async () => {
    await write({ "in/a": "root:hit" });
    await symlink("/etc", join(root, "out"));
    await symlink("in", join(root, "link"));
    await symlink("in/a", join(root, "file"));
    expect(places(await search({ pattern: "root:" }))).to.deep.equal(["in/a:1:1"]);
    expect(places(await search({ pattern: "hit", path: "link" }))).to.deep.equal(["link/a:1:6"]);
    expect(places(await search({ pattern: "hit", path: "file" }))).to.deep.equal(["file:1:6"]);
    for (const path of ["out", "out/passwd", ".."]) {
      expect(codeOf(await run({ pattern: "root:", path })), path).to.equal("OUTSIDE_RESOURCE");
    }
  });

  it("execute() answers what it cannot search, and takes a single file", async () => {
    await write({ a: "hit" });
    expect(codeOf(await run({ pattern: "x", path: "none" }))).to.equal("NOT_FOUND");
    expect(codeOf(await run({ pattern: "x", path: "a/" }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ pattern: "x", path: "a/b" }))).to.equal("NOT_A_FOLDER");
    expect(places(outputOf(await run({ pattern: "hit" }, { path: join(root, "a") })))).to.deep.equal(["a:1:1"]);
  });

  it("execute() waits on no pipe and no socket", async function () {
    if (process.platform === "win32") return this.skip();
    await write({ a: "hit" });
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    await once(server, "listening");
    expect(places(await search({ pattern: "hit" }))).to.deep.equal(["a:1:1"]);
    expect(codeOf(await run({ pattern: "hit", path: "pipe" }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ pattern: "hit", path: "socket" }))).to.equal("NOT_A_FILE");
    server.close();
    await once(server, "close");
  });

  it("execute() names what it may not read and what vanished, and goes on", async () => {
    await write({ "a/closed": "hit", "b/x": "hit", c: "hit" });
    await chmod(join(root, "a", "closed"), 0);
    await chmod(join(root, "b"), 0);
    const call = { tool: "search-files" as const, input: { pattern: "hit" }, path: root };
    const [answer] = await asNobody(root, [call]);
    await chmod(join(root, "b"), 0o755);
    const output = outputOf(answer as ToolAnswer<Output>);
    expect([...output.unreadable].sort()).to.deep.equal(["a/closed", "b"]);
    expect(places(output)).to.deep.equal(["c:1:1"]);
    // The files of a folder are known before the first of them is opened.
    const gone: FakeOptions = { onPoll: (polls) => (polls === 3 ? unlinkSync(join(root, "c")) : undefined) };
    const after = outputOf(await run({ pattern: "hit", include: ["*"] }, gone));
    expect(after).to.deep.include({ unreadable: ["c"], matches: [] });
  });

  it("execute() names what has no name in UTF-8", async function () {
    try {
      await writeFile(Buffer.concat([Buffer.from(join(root, "q")), Buffer.from([0xff])]), "hit");
    } catch {
      // A file system that knows no such name has nothing to test.
      return this.skip();
    }
    expect(await search({ pattern: "hit" })).to.deep.include({ unreadable: ["q\ufffd"], matches: [] });
  });

  it("execute() stops within a file when cancelled, and leaves no file open", async () => {
    await write(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}`, "hit\n".repeat(50_000)])));
    const call = fakeCall({ path: root, onProgress: (done, cancel) => (done > 300_000 ? cancel() : undefined) });
    const error = await rejectionOf(execute({ pattern: "none" }, call.context));
    expect(error).to.be.instanceOf(ToolCancelledError);
    expect(call.progress.at(-1)?.[0]).to.be.within(300_000, 1_000_000);
    const done = call.progress.map(([bytes]) => bytes);
    expect(done).to.deep.equal([...done].sort((one, other) => one - other));
    const polls = fakeCall({ path: root, onPoll: (count, cancel) => (count === 60_000 ? cancel() : undefined) });
    expect(await rejectionOf(execute({ pattern: "none" }, polls.context))).to.be.instanceOf(ToolCancelledError);
    expect(polls.polls()).to.equal(60_000);
    expect(await filesOpenBelow(root)).to.deep.equal([]);
  });
});
