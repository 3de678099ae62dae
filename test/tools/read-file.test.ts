import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { appendFile, chmod, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/read-file.js";
import type { Input, Output } from "../../tools/specs/read-file.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

const MIB = 1024 * 1024;

describe("tools/read-file", () => {
  let root: string;
  let remove: () => Promise<void>;

  before(async () => {
    ({ folder: root, remove } = await temporaryFolder());
    await chmod(root, 0o755);
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
        // A byte order mark is left out, which has a test of its own.
        const whole = text
          .replaceAll("\0", "-")
          .replace(/\p{Cs}/gu, "-")
          .replace(/^\ufeff/, "-");
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

  it("execute() leaves a byte order mark out and says so", async () => {
    expect(await read("bom")).to.include({ content: "x", bom: true, offset: 3, bytes: 1, size: 4, truncated: false });
    expect(await read("bom", { encoding: "utf8" })).to.include({ content: "x", bom: true });
    expect(await read("bom", { encoding: "latin1" }))
      .to.include({ content: "ï»¿x", offset: 0 })
      .and.not.have.key("bom");
    expect(await read("bom", { encoding: "base64" })).to.include({ content: "77u/eA==", offset: 0, bytes: 4 });
    expect(await read("bom", { offset: 1 })).to.include({ content: "x", offset: 3 });
    expect(await read("bom", { length: 2 })).to.include({ bytes: 0, nextOffset: 2 });
    await writeFile(join(root, "marked-binary"), Buffer.from([0xef, 0xbb, 0xbf, 0]));
    expect(await read("marked-binary")).to.include({ encoding: "base64", content: "77u/AA==", offset: 0 });
  });

  it("execute() reads UTF-16 by its mark or by request, and Latin-1 by request", async () => {
    await writeFile(join(root, "wide"), "\ufeffgrün\n😀", "utf16le");
    await writeFile(join(root, "unmarked"), "😀a\n", "utf16le");
    expect(await read("wide")).to.include({ content: "grün\n😀", encoding: "utf16le", bom: true, offset: 2 });
    expect(await read("wide", { encoding: "utf8" })).to.include({ encoding: "base64", offset: 0 });
    expect(await read("unmarked", { encoding: "utf16le" })).to.include({ content: "😀a\n", encoding: "utf16le" });
    expect(await read("unmarked")).to.include({ encoding: "base64" });
    expect(await read("latin1", { encoding: "latin1" })).to.include({ content: "grün", encoding: "latin1" });
    await writeFile(join(root, "lone"), "\ud83d", "utf16le");
    expect(await read("lone", { encoding: "utf16le" })).to.include({ encoding: "base64" });
  });

  it("execute() reads UTF-16 whole when the caller goes on at nextOffset, for any text and length", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.integer({ min: 4, max: 9 }), async (text, length) => {
        const whole = text.replace(/\p{Cs}/gu, "-").replace(/^\ufeff/, "-");
        await writeFile(join(root, "anyWide"), whole, "utf16le");
        let content = "";
        let offset: number | undefined = 0;
        while (offset !== undefined) {
          const part: Output = await read("anyWide", { offset, length, encoding: "utf16le" });
          expect(part).to.include({ encoding: "utf16le", offset });
          content += part.content;
          offset = part.nextOffset;
        }
        expect(content).to.equal(whole);
      }),
      { numRuns: 50 },
    );
  });

  it("execute() gives whole lines and says where to read on", async () => {
    await writeFile(join(root, "lines"), "one\r\ntwo\n\nfour");
    expect(await read("lines", { firstLine: 2, lineCount: 2 })).to.deep.equal({
      path: "lines",
      content: "two\n\n",
      encoding: "utf8",
      size: 14,
      offset: 5,
      bytes: 5,
      firstLine: 2,
      lineCount: 2,
      truncated: true,
      nextOffset: 10,
      nextLine: 4,
    });
    expect(await read("lines", { lineCount: 1 })).to.include({ content: "one\r\n", nextLine: 2, nextOffset: 5 });
    expect(await read("lines", { firstLine: 4 })).to.include({ content: "four", lineCount: 1, truncated: false });
    expect(await read("lines", { firstLine: 5 })).to.include({ content: "", lineCount: 0, truncated: false });
    expect(await read("empty", { firstLine: 1 })).to.include({ content: "", lineCount: 0, truncated: false });
    expect(await read("lines", { offset: 5, firstLine: 2, lineCount: 1 })).to.include({ content: "\n", offset: 9 });
    expect(await read("lines", { firstLine: 2, lineCount: 1, encoding: "base64" })).to.include({ content: "dHdvCg==" });
  });

  it("execute() leaves a line that does not fit for the next call, and cuts one that never fits", async () => {
    await writeFile(join(root, "long"), "a\nbcdefgh\ni");
    expect(await read("long", { firstLine: 1, length: 5 })).to.include({ content: "a\n", lineCount: 1, nextLine: 2 });
    const cut = await read("long", { firstLine: 2, length: 5 });
    expect(cut)
      .to.include({ content: "bcdef", lineCount: 1, truncated: true, nextOffset: 7 })
      .and.not.have.key("nextLine");
    expect(await read("long", { offset: 7, firstLine: 1, lineCount: 1 })).to.include({ content: "gh\n", nextLine: 2 });
  });

  it("execute() reads lines as a naive reader does, in any encoding and cut anywhere", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\u0a0a", "\u010a", "\n", "\r\n"), maxLength: 30 });
    const encoding = fc.constantFrom("utf8" as const, "utf16le" as const, "latin1" as const);
    const line = fc.integer({ min: 1, max: 8 });
    await fc.assert(
      fc.asyncProperty(text, encoding, line, line, fc.boolean(), async (any, as, firstLine, lineCount, marked) => {
        const whole = as === "latin1" ? Buffer.from(any, "latin1").toString("latin1") : any;
        const bom = marked && as !== "latin1";
        await writeFile(join(root, "naive"), (bom ? "\ufeff" : "") + whole, as);
        const lines = whole.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const wanted = lines.slice(firstLine - 1, firstLine - 1 + lineCount);
        const output = await read("naive", { firstLine, lineCount, encoding: as });
        expect(output).to.include({ content: wanted.join(""), encoding: as, lineCount: wanted.length });
        const more = lines.length > firstLine - 1 + lineCount;
        expect(output.truncated).to.equal(more);
        expect(output.nextLine).to.equal(more ? firstLine + lineCount : undefined);
      }),
      { numRuns: 200 },
    );
  });

  it("execute() finds a line beyond any number of others, and the end of a file, without reading all of it into memory", async () => {
    const path = join(root, "huge");
    await writeFile(path, "first\n");
    await truncate(path, 2 ** 31 - 6);
    await appendFile(path, "\nlast\n");
    const before = process.memoryUsage().rss;
    const end = await read("huge", { offset: 2 ** 31 - 5, length: 100 });
    expect(end).to.include({ content: "last\n", bytes: 5, truncated: false });
    expect(await read("huge", { offset: 2 ** 31 - 1000, firstLine: 2 })).to.include({
      content: "last\n",
      lineCount: 1,
    });
    expect(process.memoryUsage().rss - before).to.be.lessThan(64 * MIB);
  });

  it("execute() passes over lines in bounded memory, and stops there when cancelled", async () => {
    await writeFile(join(root, "many"), "x".repeat(99).concat("\n").repeat(80_000));
    expect(await read("many", { firstLine: 79_999 })).to.include({ lineCount: 2, offset: 7_999_800, truncated: false });
    const onProgress: FakeOptions["onProgress"] = (done, cancel) => (done > MIB ? cancel() : undefined);
    const call = fakeCall({ path: root, onProgress });
    const error = await rejectionOf(execute({ path: "many", firstLine: 79_999 }, call.context));
    expect(error).to.be.instanceOf(ToolCancelledError);
    expect(call.progress.at(-1)?.[0]).to.be.lessThan(2 * MIB);
  });

  it("execute() gives what is there when the file becomes shorter while it is read", async () => {
    const path = join(root, "shrinking");
    await writeFile(path, "x".repeat(3 * MIB));
    const call = fakeCall({ path: root, onProgress: () => truncateSync(path, MIB) });
    expect(outputOf(await execute({ path: "shrinking", length: 3 * MIB }, call.context))).to.include({ bytes: MIB });
  });

  it("execute() answers ACCESS_DENIED for a file that is closed to it", async () => {
    await mkdir(join(root, "closed"));
    await writeFile(join(root, "closed", "file"), "secret", { mode: 0 });
    const [answer] = await asNobody(join(root, "closed"), [
      { tool: "read-file", input: { path: "file" }, path: join(root, "closed") },
    ]);
    expect(answer && codeOf(answer)).to.equal("ACCESS_DENIED");
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
