import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { ToolCancelledError, type ToolAnswer } from "../../src/tool.js";
import { execute } from "../../tools/list-files.js";
import type { Input, Output } from "../../tools/specs/list-files.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

describe("tools/list-files", () => {
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    const files = [
      "README.md",
      "a-b/x.ts",
      "a.txt",
      "a/b/c.ts",
      "a/b/d.js",
      "a/z.ts",
      ".hidden/x.ts",
      ".env",
      ".git/config",
      "node_modules/dep/index.js",
      "a/node_modules/dep/index.js",
    ];
    for (const file of files) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), file);
    }
    await symlink("/", join(root, "link"));
    await symlink("..", join(root, "a", "up"));
  });

  afterEach(() => remove());

  const run = (input: Input = {}, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const list = async (input: Input = {}): Promise<string[]> => pathsOf(outputOf(await run(input)));
  const listAsNobody = async (): Promise<Output> => {
    try {
      const [answer] = await asNobody(root, [{ tool: "list-files", input: {}, path: root }]);
      return outputOf(answer as ToolAnswer<Output>);
    } finally {
      await chmod(join(root, "a"), 0o755);
    }
  };
  const pathsOf = (output: Output): string[] => output.files.map(({ path }) => path);

  it("execute() lists in order, without hidden names and without what others made", async () => {
    const output = outputOf(await run());
    expect(output.files).to.deep.equal([
      { path: "README.md", size: 9, type: "file" },
      { path: "a", size: 0, type: "directory" },
      { path: "a/b", size: 0, type: "directory" },
      { path: "a/b/c.ts", size: 8, type: "file" },
      { path: "a/b/d.js", size: 8, type: "file" },
      { path: "a/up", size: 0, type: "symlink" },
      { path: "a/z.ts", size: 6, type: "file" },
      { path: "a-b", size: 0, type: "directory" },
      { path: "a-b/x.ts", size: 8, type: "file" },
      { path: "a.txt", size: 5, type: "file" },
      { path: "link", size: 0, type: "symlink" },
    ]);
    expect(output).to.include({ truncated: false });
    expect(output.unreadable).to.deep.equal([]);
  });

  it("execute() lists hidden names and skipped folders when asked", async () => {
    const all = await list({ includeHidden: true, skipFolders: [] });
    expect(all).to.include.members([".env", ".git/config", ".hidden/x.ts", "node_modules/dep/index.js"]);
    expect(await list({ includeHidden: true }))
      .to.include(".env")
      .and.not.include(".git");
    expect(await list({ path: "node_modules" })).to.deep.equal(["node_modules/dep", "node_modules/dep/index.js"]);
  });

  it("execute() matches a glob below the listed folder", async () => {
    expect(await list({ glob: "**/*.ts" })).to.deep.equal(["a/b/c.ts", "a/z.ts", "a-b/x.ts"]);
    expect(await list({ path: "a", glob: "*.ts" })).to.deep.equal(["a/z.ts"]);
    expect(await list({ glob: "{a/b,a-b}/*.{js,ts}" })).to.deep.equal(["a/b/c.ts", "a/b/d.js", "a-b/x.ts"]);
    expect(await list({ glob: "*" })).to.deep.equal(["README.md", "a", "a-b", "a.txt", "link"]);
  });

  it("execute() gives the first entries when there are too many", async () => {
    const all = await list();
    for (let maxEntries = 1; maxEntries <= all.length; maxEntries++) {
      const output = outputOf(await run({ maxEntries }));
      expect(pathsOf(output)).to.deep.equal(all.slice(0, maxEntries));
      expect(output.truncated).to.equal(maxEntries < all.length);
    }
    await mkdir(join(root, "many"));
    const names = Array.from({ length: 300 }, (_, at) => `${at}`);
    await Promise.all(names.map((name) => writeFile(join(root, "many", name), "")));
    const first = names.sort().slice(0, 5);
    expect(await list({ path: "many", maxEntries: 5 })).to.deep.equal(first.map((name) => `many/${name}`));
  });

  it("execute() does not follow links, and refuses those that lead out", async () => {
    expect(codeOf(await run({ path: "link" }))).to.equal("OUTSIDE_RESOURCE");
    expect(codeOf(await run({ path: "link/etc" }))).to.equal("OUTSIDE_RESOURCE");
    expect(codeOf(await run({ path: ".." }))).to.equal("OUTSIDE_RESOURCE");
    expect(await list({ path: "a/up", glob: "*.md" })).to.deep.equal(["a/up/README.md"]);
  });

  it("execute() answers what is missing or no folder", async () => {
    expect(codeOf(await run({ path: "none" }))).to.equal("NOT_FOUND");
    expect(codeOf(await run({ path: "a.txt" }))).to.equal("NOT_A_FOLDER");
    expect(codeOf(await run({ path: "a.txt/x" }))).to.equal("NOT_A_FOLDER");
    expect(codeOf(await run({}, { path: join(root, "none") }))).to.equal("NOT_FOUND");
    const answer = await run({ path: "none" });
    expect(answer.error?.message).to.include("none").and.not.include(root);
  });

  describe("with ignore files", () => {
    const write = async (files: Record<string, string>): Promise<void> => {
      for (const [file, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, file)), { recursive: true });
        await writeFile(join(root, file), text);
      }
    };
    const TS = { glob: "**/*.{ts,js}" };

    it("execute() leaves out what they say, the nearest having the last word", async () => {
      await write({ ".gitignore": "*.js\r\n/a-b/\n# *.md\n", "a/.gitignore": "!d.js\nz.*\n" });
      expect(await list(TS)).to.deep.equal(["a/b/c.ts", "a/b/d.js"]);
      expect(await list({ ...TS, useIgnoreFiles: false })).to.deep.equal([
        "a/b/c.ts",
        "a/b/d.js",
        "a/z.ts",
        "a-b/x.ts",
      ]);
    });

    it("execute() takes a byte order mark for no part of the first rule", async () => {
      await write({ ".gitignore": "*.js\n", "a/.gitignore": "!d.js\n" });
      const without = await list(TS);
      await write({ ".gitignore": "\ufeff*.js\n", "a/.gitignore": "\ufeff!d.js\n" });
      expect(await list(TS))
        .to.deep.equal(without)
        .and.to.include("a/b/d.js");
      // Three ** between folders are one too many, also where the mark stands before the first.
      await write({ ".gitignore": "\ufeff**/a/**/b/**/d.js\n", "a/.gitignore": "" });
      expect(await list(TS)).to.include("a/b/d.js");
    });

    it("execute() lets .ignore have its word after .gitignore", async () => {
      await write({ ".gitignore": "*.ts\n", ".ignore": "!c.ts\na.txt\n" });
      expect(await list(TS)).to.deep.equal(["a/b/c.ts", "a/b/d.js"]);
      expect(await list()).to.not.include("a.txt");
    });

    it("execute() holds the rules above the listed folder, and lists it though they leave it out", async () => {
      await write({ ".gitignore": "a/*\nz.ts\nb/d.js\n", "a/.gitignore": "/b/c.ts\n" });
      expect(await list({ ...TS, path: "a/b" })).to.deep.equal(["a/b/d.js"]);
      expect(await list({ path: "a" })).to.deep.equal([]);
      await write({ ".gitignore": "a\n" });
      expect(await list({ ...TS, path: "a" })).to.deep.equal(["a/b/d.js", "a/z.ts"]);
      expect(await list(TS)).to.deep.equal(["a-b/x.ts"]);
    });

    it("execute() holds every rule against what is in a folder that a nearer file takes in again", async () => {
      await write({ ".gitignore": "b/\n*.js\n", "a/.gitignore": "!b/\n", "a/b/b/e.ts": "", "a/b/[b]/f.ts": "" });
      expect(await list(TS)).to.deep.equal(["a/b/[b]/f.ts", "a/b/b/e.ts", "a/b/c.ts", "a/z.ts", "a-b/x.ts"]);
      await write({ "a/.gitignore": "!/b/\n" });
      expect(await list(TS)).to.deep.equal(["a/b/[b]/f.ts", "a/b/c.ts", "a/z.ts", "a-b/x.ts"]);
    });

    it("execute() keeps to the first entries where a file leaves out many", async () => {
      const names = Array.from({ length: 400 }, (_, at) => `${1_000 + at}`);
      await write({ "many/.ignore": "*[02468]\n", ...Object.fromEntries(names.map((name) => [`many/${name}`, ""])) });
      const output = outputOf(await run({ path: "many", maxEntries: 3 }));
      expect(pathsOf(output)).to.deep.equal(["many/1001", "many/1003", "many/1005"]);
      expect(output.truncated).to.equal(true);
    });

    it("execute() takes no link for one, and names one that it may not read", async () => {
      await write({ "rules.txt": "*.ts\n", "a/.gitignore": "z.ts\n" });
      await symlink("rules.txt", join(root, ".gitignore"));
      await mkdir(join(root, "a-b", ".ignore"));
      expect(await list({ glob: "**/*.ts" })).to.deep.equal(["a/b/c.ts", "a-b/x.ts"]);
      await chmod(join(root, "a", ".gitignore"), 0);
      const [answer] = await asNobody(root, [{ tool: "list-files", input: {}, path: root }]);
      const output = outputOf(answer as ToolAnswer<Output>);
      expect(output.unreadable).to.deep.equal(["a/.gitignore"]);
      expect(pathsOf(output)).to.include("a/z.ts");
    });

    it("execute() answers for any lines of one", async () => {
      const line = fc.string({ unit: fc.constantFrom(...Array.from("ab*?[]!-^\\/ #.:\ufeff\r")), maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 4 }), async (lines) => {
          await write({ ".gitignore": lines.join("\n") });
          const all = await list({ useIgnoreFiles: false });
          expect(all).to.include.members(await list());
        }),
        { numRuns: 100 },
      );
    });

    it("execute() leaves out a line that would take time without end, and says so", async () => {
      await write({ ".gitignore": "**/a/**/a/**/a/**/b\nz.ts" });
      const call = fakeCall({ path: root });
      const warn = sinon.spy(call.context.log, "warn");
      outputOf(await execute({}, call.context));
      expect(warn.args.map(([message]) => message)).to.have.length(1);
      expect(warn.args[0]?.[0]).to.include('".gitignore", line 1');
    });
  });

  it("execute() names what has no name in UTF-8", async function () {
    const name = Buffer.concat([Buffer.from(join(root, "a", "q")), Buffer.from([0xff])]);
    try {
      await writeFile(name, "");
    } catch {
      // A file system that knows no such name has nothing to test.
      return this.skip();
    }
    expect(outputOf(await run({ path: "a" })).unreadable).to.deep.equal(["a/q\ufffd"]);
  });

  it("execute() gives a name once where others look like it and are not UTF-8", async function () {
    const look = join(root, "a", "r\ufffd");
    try {
      for (const byte of [0xfe, 0xff]) {
        await mkdir(Buffer.concat([Buffer.from(join(root, "a", "r")), Buffer.from([byte])]));
      }
    } catch {
      // A file system that knows no such name has nothing to test.
      return this.skip();
    }
    await writeFile(look, "look");
    const { files, unreadable } = outputOf(await run({ path: "a", glob: "r*" }));
    expect(files).to.deep.equal([{ path: "a/r\ufffd", size: 4, type: "file" }]);
    expect(unreadable).to.deep.equal(["a/r\ufffd", "a/r\ufffd"]);
  });

  it("execute() lists a single-file resource", async () => {
    const output = outputOf(await run({}, { path: join(root, "a.txt") }));
    expect(output.files).to.deep.equal([{ path: "a.txt", size: 5, type: "file" }]);
  });

  it("execute() lists a root that is a link", async () => {
    await symlink("a", join(root, "alias"));
    expect(pathsOf(outputOf(await run({ glob: "*.ts" }, { path: join(root, "alias") })))).to.deep.equal(["z.ts"]);
  });

  it("execute() leaves out sockets and pipes", async function () {
    if (process.platform === "win32") return this.skip();
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await list()).to.not.include("pipe");
  });

  it("execute() names the folders that it may not read", async () => {
    await chmod(join(root, "a"), 0);
    const output = await listAsNobody();
    expect(output.unreadable).to.deep.equal(["a"]);
    expect(pathsOf(output)).to.include("a-b/x.ts").and.not.include("a/z.ts");
  });

  it("execute() names what lies in a folder that it may read but not enter", async () => {
    await chmod(join(root, "a"), 0o444);
    const output = await listAsNobody();
    expect(output.unreadable).to.deep.equal(["a/b", "a/z.ts"]);
    expect(pathsOf(output)).to.include.members(["a/b", "a-b/x.ts"]).and.not.include("a/z.ts");
  });

  it("execute() stops when cancelled, and polls at every entry", async () => {
    const error = await rejectionOf(run({}, { onPoll: (polls, cancel) => (polls === 3 ? cancel() : undefined) }));
    expect(error).to.be.instanceOf(ToolCancelledError);
  });

  it("execute() reports progress", async () => {
    await mkdir(join(root, "many"));
    const names = Array.from({ length: 1_001 }, (_, at) => `${at}`);
    await Promise.all(names.map((name) => writeFile(join(root, "many", name), "")));
    const { context, progress } = fakeCall({ path: root });
    outputOf(await execute({}, context));
    expect(progress).to.deep.equal([[1_000, undefined]]);
  });
});
