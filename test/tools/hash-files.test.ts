import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, unlinkSync } from "node:fs";
import { chmod, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError, type ToolAnswer } from "../../src/tool.js";
import { execute } from "../../tools/hash-files.js";
import type { Input, Output } from "../../tools/specs/hash-files.js";
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
const ALGORITHMS = ["md5", "sha1", "sha256", "sha512", "blake2b512"] as const;

function digest(content: string | Uint8Array, algorithm: string = "sha256"): string {
  return createHash(algorithm).update(content).digest("hex");
}

describe("tools/hash-files", () => {
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
  const run = (input: Input = {}, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const hash = async (input: Input = {}): Promise<Output> => outputOf(await run(input));
  const paths = ({ files }: Output): string[] => files.map(({ path }) => path);
  const errors = (output: Output): string[] => output.errors.map(({ path, code }) => `${path} ${code}`);

  it("execute() hashes the files of a folder in order", async () => {
    await write({ "b.txt": "b", "a/c.txt": "c", empty: "" });
    expect(await hash()).to.deep.equal({
      files: [
        { path: "a/c.txt", size: 1, digests: { sha256: digest("c") } },
        { path: "b.txt", size: 1, digests: { sha256: digest("b") } },
        { path: "empty", size: 0, digests: { sha256: digest("") } },
      ],
      errors: [],
      failed: 0,
      mismatched: 0,
      bytes: 2,
      truncated: false,
      unreadable: [],
    });
  });

  it("execute() uses several algorithms at once, for any bytes", async () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.subarray([...ALGORITHMS], { minLength: 1 }), async (content, algorithms) => {
        await write({ a: content });
        const wanted = Object.fromEntries(algorithms.map((each) => [each, digest(content, each)]));
        expect((await hash({ algorithms })).files[0]?.digests).to.deep.equal(wanted);
      }),
      { numRuns: 30 },
    );
    const large = Buffer.alloc(3 * MIB + 1, "large");
    await write({ a: large });
    expect((await hash({ paths: ["a"] })).files[0]?.digests.sha256).to.equal(digest(large));
  });

  it("execute() takes a list, and globs, hidden names, skipped folders and ignore files", async () => {
    const names = ["a.ts", "a.js", "lib/b.ts", ".env", "node_modules/d.ts", "out/e.ts"];
    await write({ ...Object.fromEntries(names.map((name) => [name, name])), ".gitignore": "out/\n" });
    expect(paths(await hash())).to.deep.equal(["a.js", "a.ts", "lib/b.ts"]);
    expect(paths(await hash({ include: ["**/*.ts"], exclude: ["lib"] }))).to.deep.equal(["a.ts"]);
    expect(paths(await hash({ path: "lib" }))).to.deep.equal(["lib/b.ts"]);
    expect(paths(await hash({ path: "a.js" }))).to.deep.equal(["a.js"]);
    expect(paths(await hash({ paths: ["out/e.ts", ".env", "out/e.ts"] }))).to.deep.equal(["out/e.ts", ".env"]);
    expect(paths(await hash({ includeHidden: true, useIgnoreFiles: false }))).to.include.members([".env", "out/e.ts"]);
    expect(paths(await hash({ skipFolders: [] }))).to.include("node_modules/d.ts");
  });

  it("execute() gives the same whatever the concurrency, and marks where it stopped", async () => {
    await write(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}`, "x".repeat(at * 20_000)])));
    const one = await hash({ concurrency: 1 });
    expect(one.files).to.have.length(40);
    for (const concurrency of [2, 5, 32]) expect(await hash({ concurrency })).to.deep.equal(one);
    const few = await hash({ maxFiles: 3 });
    expect(few).to.deep.include({ truncated: true, files: one.files.slice(0, 3) });
    expect(await hash({ maxFiles: 40 })).to.include({ truncated: false });
  });

  it("execute() compares with what is expected", async () => {
    await write({ a: "a", b: "b", c: "c" });
    const sha256 = digest("a").toUpperCase();
    const expected: Input["expected"] = [
      { path: "a", digests: { sha256, md5: digest("a", "md5") } },
      { path: "b", digests: { sha256: digest("other") } },
      { path: "c", size: 2, digests: {} },
      { path: "none", digests: {} },
    ];
    const output = await hash({ expected });
    expect(output.files.map(({ path, verified }) => [path, verified])).to.deep.equal([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
    expect(output.files[0]?.digests).to.have.all.keys("sha256", "md5");
    expect(output.mismatched).to.equal(2);
    expect(errors(output)).to.deep.equal(["none NOT_FOUND"]);
    const some = await hash({ expected, path: ".", include: ["[ab]", "a"], algorithms: ["sha1"] });
    expect(some.files).to.deep.equal([
      {
        path: "a",
        size: 1,
        digests: { sha1: digest("a", "sha1"), sha256: digest("a"), md5: digest("a", "md5") },
        verified: true,
      },
    ]);
    expect(errors(some)).to.deep.equal(["b NOT_SELECTED", "c NOT_SELECTED", "none NOT_SELECTED"]);
    const again = await hash({ expected: (await hash()).files });
    expect(again.files.every(({ verified }) => verified)).to.equal(true);
  });

  it("execute() reports what it cannot hash and goes on", async function () {
    if (process.platform === "win32") return this.skip();
    await write({ a: "a", "sub/b": "b" });
    await symlink("/etc/passwd", join(root, "out"));
    await symlink("a", join(root, "link"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    await once(server, "listening");
    const list = ["none", "a", "sub", "../x", "out", "pipe", "socket", "a/x", "link", "a\0"];
    const output = await hash({ paths: list });
    expect(paths(output)).to.deep.equal(["a", "link"]);
    expect(errors(output)).to.deep.equal([
      "none NOT_FOUND",
      "sub NOT_A_FILE",
      "../x OUTSIDE_RESOURCE",
      "out OUTSIDE_RESOURCE",
      "pipe NOT_A_FILE",
      "socket NOT_A_FILE",
      "a/x NOT_A_FOLDER",
      "a\0 INVALID_PATH",
    ]);
    expect(output.failed).to.equal(8);
    expect(JSON.stringify(output.errors)).to.not.include(root);
    // A walk gives neither links nor what is no file.
    expect(paths(await hash())).to.deep.equal(["a", "sub/b"]);
    server.close();
    await once(server, "close");
  });

  it("execute() reports what it may not read", async () => {
    await write({ a: "a", "b/c": "c", d: "d" });
    await chmod(join(root, "a"), 0);
    await chmod(join(root, "b"), 0);
    const [answer] = await asNobody(root, [{ tool: "hash-files", input: {}, path: root }]);
    await chmod(join(root, "b"), 0o755);
    const output = outputOf(answer as ToolAnswer<Output>);
    expect(errors(output)).to.deep.equal(["a ACCESS_DENIED"]);
    expect(output.unreadable).to.deep.equal(["b"]);
    expect(paths(output)).to.deep.equal(["d"]);
  });

  it("execute() reports a file that changes while it is read, and one that vanished before", async () => {
    await write({ grows: "x".repeat(MIB), stays: "s", vanishes: "v" });
    let done = false;
    const onProgress = (): void => {
      if (done) return;
      done = true;
      appendFileSync(join(root, "grows"), "more");
      unlinkSync(join(root, "vanishes"));
    };
    const output = outputOf(await run({ concurrency: 1 }, { onProgress }));
    expect(errors(output)).to.deep.equal(["grows CHANGED", "vanishes NOT_FOUND"]);
    expect(paths(output)).to.deep.equal(["stays"]);
  });

  it("execute() ends for a file that grows faster than it is read", async () => {
    await write({ log: "x".repeat(MIB) });
    const onProgress = (): void => appendFileSync(join(root, "log"), "x".repeat(MIB));
    expect(errors(outputOf(await run({}, { onProgress })))).to.deep.equal(["log CHANGED"]);
  });

  it("execute() answers where nothing can be hashed", async () => {
    await write({ a: "a" });
    expect(codeOf(await run({ path: "none" }))).to.equal("NOT_FOUND");
    expect(codeOf(await run({ path: ".." }))).to.equal("OUTSIDE_RESOURCE");
    const single = { path: join(root, "a") };
    expect(outputOf(await run({}, single)).files).to.deep.equal([
      { path: "a", size: 1, digests: { sha256: digest("a") } },
    ]);
    expect(paths(outputOf(await run({ paths: ["a"] }, single)))).to.deep.equal(["a"]);
  });

  it("execute() holds no file in memory", async () => {
    await write({ a: "", b: "" });
    for (const name of ["a", "b"]) await truncate(join(root, name), 128 * MIB);
    const before = process.memoryUsage().rss;
    const { bytes } = await hash({ algorithms: ["sha1"], concurrency: 2 });
    expect(bytes).to.equal(256 * MIB);
    expect(process.memoryUsage().rss - before).to.be.lessThan(64 * MIB);
  });

  it("execute() stops within a file when cancelled, and leaves no file open", async () => {
    await write(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`${at}`, "x".repeat(2 * MIB)])));
    const call = fakeCall({ path: root, onProgress: (done, cancel) => (done > 3 * MIB ? cancel() : undefined) });
    expect(await rejectionOf(execute({}, call.context))).to.be.instanceOf(ToolCancelledError);
    expect(call.progress.at(-1)?.[0]).to.be.within(3 * MIB, 6 * MIB);
    expect(await filesOpenBelow(root)).to.deep.equal([]);
  });
});
