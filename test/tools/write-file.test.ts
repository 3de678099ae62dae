import { rmdirSync, symlinkSync } from "node:fs";
import fs, { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { ToolCancelledError } from "../../src/tool.js";
import type { Input } from "../../tools/specs/write-file.js";
import { execute } from "../../tools/write-file.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

describe("tools/write-file", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "outside"));
    await writeFile(join(root, "old.txt"), "old");
  });

  afterEach(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const text = (path: string): Promise<string> => readFile(join(root, path), "utf8");

  it("execute() creates a file and says so", async () => {
    const answer = await run({ path: "sub/new.txt", content: "héllo" });
    expect(outputOf(answer)).to.deep.equal({ path: "sub/new.txt", bytes: 6, created: true });
    expect(answer.changes).to.deep.equal([{ operation: "create", resourceId: "repo-1", path: "sub/new.txt" }]);
    expect(await text("sub/new.txt")).to.equal("héllo");
    const plain = await lstat(join(root, "old.txt"));
    expect((await lstat(join(root, "sub/new.txt"))).mode).to.equal(plain.mode);
    expect(await readdir(join(root, "sub"))).to.deep.equal(["new.txt"]);
  });

  it("execute() replaces a file, keeps its mode and says so", async () => {
    for (const mode of [0o666, 0o600, 0o755, 0o640]) {
      await chmod(join(root, "old.txt"), mode);
      const answer = await run({ path: "old.txt", content: "new" });
      expect(outputOf(answer)).to.deep.equal({ path: "old.txt", bytes: 3, created: false });
      expect(answer.changes).to.deep.equal([{ operation: "modify", resourceId: "repo-1", path: "old.txt" }]);
      expect((await lstat(join(root, "old.txt"))).mode & 0o777).to.equal(mode);
    }
    expect(await text("old.txt")).to.equal("new");
    expect((await readdir(root)).sort()).to.deep.equal(["old.txt", "sub"]);
  });

  it("execute() writes bytes from base64", async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    await run({ path: "bytes", content: bytes.toString("base64"), encoding: "base64" });
    expect(await readFile(join(root, "bytes"))).to.deep.equal(bytes);
    expect(outputOf(await run({ path: "bytes", content: "", encoding: "base64" })).bytes).to.equal(0);
  });

  it("execute() writes exactly what it is given, for any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (content) => {
        fc.pre(!/\p{Cs}/u.test(content));
        outputOf(await run({ path: "any", content }));
        expect(await text("any")).to.equal(content);
      }),
      { numRuns: 30 },
    );
  });

  it("execute() refuses content that it would have to change", async () => {
    for (const content of ["a", "a===", "YQ", "YQ==\n", "Y Q==", "YR==", "é"]) {
      expect(codeOf(await run({ path: "x", content, encoding: "base64" })), content).to.equal("INVALID_CONTENT");
    }
    expect(codeOf(await run({ path: "x", content: "\ud800" }))).to.equal("INVALID_CONTENT");
    expect((await readdir(root)).sort()).to.deep.equal(["old.txt", "sub"]);
  });

  it("execute() refuses a resource that is bound read-only, before anything else", async () => {
    expect(codeOf(await run({ path: "../x", content: "" }, { access: "read_only" }))).to.equal("READ_ONLY");
    expect(codeOf(await run({ path: "old.txt", content: "" }, { access: "read_only" }))).to.equal("READ_ONLY");
    expect(await text("old.txt")).to.equal("old");
  });

  it("execute() creates folders only when asked, and records them", async () => {
    const input = { path: "a/b/c.txt", content: "x" };
    expect(codeOf(await run(input))).to.equal("NOT_FOUND");
    expect(await readdir(root)).to.not.include("a");
    const call = fakeCall({ path: root });
    outputOf(await execute({ ...input, createFolders: true }, call.context));
    expect(call.changes.map(({ path }) => path)).to.deep.equal(["a", "a/b"]);
    expect(await text("a/b/c.txt")).to.equal("x");
    const again = fakeCall({ path: root });
    outputOf(await execute({ ...input, createFolders: true }, again.context));
    expect(again.changes).to.deep.equal([]);
  });

  it("execute() leaves what exists when overwrite is false", async () => {
    expect(codeOf(await run({ path: "old.txt", content: "new", overwrite: false }))).to.equal("ALREADY_EXISTS");
    expect(await text("old.txt")).to.equal("old");
    expect(outputOf(await run({ path: "new.txt", content: "new", overwrite: false })).created).to.equal(true);
    expect((await lstat(join(root, "new.txt"))).nlink).to.equal(1);
    expect((await readdir(root)).sort()).to.deep.equal(["new.txt", "old.txt", "sub"]);
  });

  it("execute() leaves a file that came while it wrote when overwrite is false", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => run({ path: "race", content: `${at}`.repeat(9), overwrite: false })),
    );
    const codes = answers.map(codeOf);
    expect(codes.filter((code) => code === "success")).to.have.length(1);
    expect(codes.filter((code) => code === "ALREADY_EXISTS")).to.have.length(7);
    expect(await text("race")).to.equal(`${codes.indexOf("success")}`.repeat(9));
    expect((await readdir(root)).sort()).to.deep.equal(["old.txt", "race", "sub"]);
  });

  it("execute() creates a file when overwrite is false where the file system has no hard links", async () => {
    const link = sinon.stub(fs, "link").rejects(Object.assign(new Error("no links"), { code: "EPERM" }));
    syncBuiltinESMExports();
    try {
      outputOf(await run({ path: "new.txt", content: "new", overwrite: false }));
    } finally {
      link.restore();
      syncBuiltinESMExports();
    }
    expect(link.callCount).to.equal(1);
    expect(await text("new.txt")).to.equal("new");
    expect((await readdir(root)).sort()).to.deep.equal(["new.txt", "old.txt", "sub"]);
  });

  it("execute() shows readers the old file or the new one, never a part", async () => {
    const contents = ["a", "b"].map((letter) => letter.repeat(300_000));
    await run({ path: "shared", content: contents[0] ?? "" });
    let writing = true;
    const writer = (async () => {
      for (let at = 0; at < 20; at++) await run({ path: "shared", content: contents[at % 2] ?? "" });
      writing = false;
    })();
    while (writing) expect(contents.includes(await text("shared"))).to.equal(true);
    await writer;
  });

  it("execute() writes through links inside and records where it wrote", async () => {
    await symlink("old.txt", join(root, "link"));
    await symlink("sub/none.txt", join(root, "dangling"));
    const answer = await run({ path: "link", content: "new" });
    expect(outputOf(answer).path).to.equal("link");
    expect(answer.changes[0]).to.include({ operation: "modify", path: "old.txt" });
    expect((await lstat(join(root, "link"))).isSymbolicLink()).to.equal(true);
    expect(await text("old.txt")).to.equal("new");
    expect((await run({ path: "dangling", content: "x" })).changes[0]).to.include({ path: "sub/none.txt" });
    expect(await text("sub/none.txt")).to.equal("x");
  });

  it("execute() never writes outside, whatever the link", async () => {
    const links = [
      "../outside",
      join(base, "outside"),
      "../outside/none",
      join(base, "outside", "none"),
      "../../root/../outside",
      "sub/../../outside/x",
    ];
    for (const [at, target] of links.entries()) {
      await symlink(target, join(root, `l${at}`));
      for (const path of [`l${at}`, `l${at}/x`, `l${at}/y/z`, `sub/../l${at}/x`]) {
        const code = codeOf(await run({ path, content: "x", createFolders: true }));
        expect(code, `${target} as ${path}`).to.equal("OUTSIDE_RESOURCE");
      }
    }
    expect(codeOf(await run({ path: "../outside/x", content: "x" }))).to.equal("OUTSIDE_RESOURCE");
    expect(codeOf(await run({ path: `${root}2`, content: "x" }))).to.equal("OUTSIDE_RESOURCE");
    expect(await readdir(join(base, "outside"))).to.deep.equal([]);
    expect((await readdir(base)).sort()).to.deep.equal(["outside", "root"]);
  });

  it("execute() does not write through a folder that became a link since it looked", async () => {
    const onPoll = (): void => {
      rmdirSync(join(root, "sub"));
      symlinkSync("../outside", join(root, "sub"));
    };
    expect(codeOf(await run({ path: "sub/new.txt", content: "x" }, { onPoll }))).to.equal("OUTSIDE_RESOURCE");
    expect(await readdir(join(base, "outside"))).to.deep.equal([]);
  });

  it("execute() answers where no file can be", async () => {
    for (const path of ["sub", ".", "old.txt/", "new/"]) {
      expect(codeOf(await run({ path, content: "x" })), path).to.be.oneOf(["NOT_A_FILE", "NOT_A_FOLDER"]);
    }
    expect(codeOf(await run({ path: "old.txt/x", content: "x", createFolders: true }))).to.equal("NOT_A_FOLDER");
    expect(codeOf(await run({ path: "x".repeat(300), content: "x" }))).to.equal("INVALID_PATH");
  });

  it("execute() does not replace a file that is closed to writing", async () => {
    await chmod(join(root, "old.txt"), 0o444);
    const answers = await asNobody(
      base,
      ["old.txt", "new.txt"].map((path) => ({ tool: "write-file", input: { path, content: "new" }, path: root })),
    );
    expect(answers.map(codeOf)).to.deep.equal(["ACCESS_DENIED", "success"]);
    expect(await text("old.txt")).to.equal("old");
  });

  it("execute() leaves the old file and nothing else when cancelled", async () => {
    const content = "x".repeat(100);
    for (let stop = 1; stop <= 3; stop++) {
      const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === stop ? cancel() : undefined) });
      expect(await rejectionOf(execute({ path: "old.txt", content }, call.context))).to.be.instanceOf(
        ToolCancelledError,
      );
      expect(call.polls()).to.equal(stop);
    }
    expect(await text("old.txt")).to.equal("old");
    expect((await readdir(root)).sort()).to.deep.equal(["old.txt", "sub"]);
  });

  it("execute() overwrites a single-file resource in place", async () => {
    const path = join(root, "old.txt");
    const { ino } = await lstat(path);
    for (const content of ["longer than before", "x", ""]) {
      const answer = await run({ path: "old.txt", content }, { path });
      expect(outputOf(answer)).to.include({ path: "old.txt", created: false });
      expect(answer.changes[0]).to.include({ operation: "modify", path: "old.txt" });
      expect(await text("old.txt")).to.equal(content);
    }
    expect((await lstat(path)).ino).to.equal(ino);
    expect(codeOf(await run({ path: "other.txt", content: "x" }, { path }))).to.equal("OUTSIDE_RESOURCE");
  });
});
