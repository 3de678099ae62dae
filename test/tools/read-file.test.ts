import { execFileSync } from "node:child_process";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/read-file.js";
import type { Input } from "../../tools/specs/read-file.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

const MIB = 1024 * 1024;

describe("tools/read-file", () => {
  let root: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    await mkdir(join(root, "folder"));
    await writeFile(join(root, "text.txt"), "héllo wörld");
    await writeFile(join(root, "empty"), "");
    await writeFile(join(root, "euros"), "€".repeat(10));
    await writeFile(join(root, "bom"), "\ufeffx");
    await writeFile(join(root, "nul"), "a\0b");
    await writeFile(join(root, "latin1"), Buffer.from("grün", "latin1"));
    await writeFile(join(root, "cut"), Buffer.from("€").subarray(0, 2));
    await writeFile(join(root, "sparse"), "start");
    await truncate(join(root, "sparse"), 2 ** 40);
    await writeFile(join(root, "large"), "x".repeat(3 * MIB));
    await symlink("text.txt", join(root, "link"));
    await symlink("/etc/passwd", join(root, "out"));
  });

  after(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const read = async (path: string, rest: Omit<Input, "path"> = {}) => outputOf(await run({ path, ...rest }));

  it("execute() reads text", async () => {
    expect(await read("text.txt")).to.deep.equal({
      path: "text.txt",
      content: "héllo wörld",
      encoding: "utf8",
      size: 13,
      offset: 0,
      bytes: 13,
      truncated: false,
    });
    expect(await read("empty")).to.include({ content: "", encoding: "utf8", size: 0, bytes: 0, truncated: false });
    expect(await read("link")).to.include({ path: "link", content: "héllo wörld" });
    expect((await read("bom")).content).to.equal("\ufeffx");
  });

  it("execute() gives base64 when asked, and for what is not text", async () => {
    expect(await read("text.txt", { encoding: "base64" })).to.include({
      content: Buffer.from("héllo wörld").toString("base64"),
      encoding: "base64",
    });
    for (const path of ["nul", "latin1", "cut"]) {
      for (const encoding of ["utf8", "base64"] as const) {
        expect(await read(path, { encoding })).to.include({ encoding: "base64", offset: 0 });
      }
    }
    expect(Buffer.from((await read("latin1")).content, "base64").toString("latin1")).to.equal("grün");
  });

  it("execute() reads a range and says where to read on", async () => {
    expect(await read("text.txt", { offset: 3, length: 3 })).to.deep.include({
      content: "llo",
      offset: 3,
      bytes: 3,
      truncated: true,
      nextOffset: 6,
    });
    expect(await read("text.txt", { offset: 10, length: 100 })).to.include({ content: "rld", truncated: false });
    expect(await read("text.txt", { offset: 500 })).to.include({ content: "", bytes: 0, size: 13, truncated: false });
  });

  it("execute() never cuts a character in half", async () => {
    expect(await read("euros", { length: 10 })).to.include({ content: "€€€", bytes: 9, nextOffset: 9 });
    expect(await read("euros", { offset: 1, length: 10 })).to.include({ content: "€€", offset: 3, bytes: 6 });
    expect(await read("euros", { offset: 0, length: 2 })).to.include({ encoding: "base64", bytes: 2, nextOffset: 2 });
  });

  it("execute() caps at 1 MiB unless asked for more, and marks it", async () => {
    expect(await read("large")).to.include({ bytes: MIB, size: 3 * MIB, truncated: true, nextOffset: MIB });
    expect(await read("large", { length: 3 * MIB })).to.include({ bytes: 3 * MIB, truncated: false });
  });

  it("execute() loads no more than the range", async () => {
    const before = process.memoryUsage().rss;
    expect(await read("sparse", { length: 5 })).to.include({ content: "start", size: 2 ** 40, truncated: true });
    expect(await read("sparse", { offset: 2 ** 40 - 1 })).to.include({ bytes: 1, encoding: "base64" });
    expect(process.memoryUsage().rss - before).to.be.lessThan(64 * MIB);
  });

  it("execute() reads a file whole when the caller goes on at nextOffset, for any text and length", async () => {
    const path = join(root, "any");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.integer({ min: 4, max: 9 }), async (text, length) => {
        const whole = text.replaceAll("\0", "-").replace(/\p{Cs}/gu, "-");
        await writeFile(path, whole);
        let content = "";
        let offset: number | undefined = 0;
        while (offset !== undefined) {
          const part: Awaited<ReturnType<typeof read>> = await read("any", { offset, length });
          expect(part).to.include({ encoding: "utf8", offset });
          content += part.content;
          offset = part.nextOffset;
        }
        expect(content).to.equal(whole);
      }),
      { numRuns: 50 },
    );
  });

  it("execute() answers what it cannot read", async () => {
    expect(codeOf(await run({ path: "none" }))).to.equal("NOT_FOUND");
    expect(codeOf(await run({ path: "folder" }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ path: "text.txt/" }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ path: "text.txt/x" }))).to.equal("NOT_A_FOLDER");
    expect(codeOf(await run({ path: "../x" }))).to.equal("OUTSIDE_RESOURCE");
    expect(codeOf(await run({ path: "out" }))).to.equal("OUTSIDE_RESOURCE");
    expect(codeOf(await run({ path: "a\0b" }))).to.equal("INVALID_PATH");
    expect(codeOf(await run({ path: "x".repeat(5_000) }))).to.equal("INVALID_PATH");
    const { error } = await run({ path: "none" });
    expect(error?.message).to.include('"none"').and.not.include(root);
    expect(error?.details).to.deep.equal({ path: "none", errno: "ENOENT" });
  });

  it("execute() does not wait on a pipe", async function () {
    if (process.platform === "win32") return this.skip();
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(codeOf(await run({ path: "pipe" }))).to.equal("NOT_A_FILE");
  });

  it("execute() reads a single-file resource", async () => {
    const path = join(root, "text.txt");
    expect(outputOf(await run({ path: "." }, { path }))).to.include({ path: "text.txt", size: 13 });
    expect(codeOf(await run({ path: "euros" }, { path }))).to.equal("OUTSIDE_RESOURCE");
  });

  it("execute() stops when cancelled, and reports progress on long reads", async () => {
    const onProgress: FakeOptions["onProgress"] = (done, cancel) => (done === MIB ? cancel() : undefined);
    const call = fakeCall({ path: root, onProgress });
    const error = await rejectionOf(execute({ path: "large", length: 3 * MIB }, call.context));
    expect(error).to.be.instanceOf(ToolCancelledError);
    expect(call.progress).to.deep.equal([[MIB, 3 * MIB]]);
  });
});
