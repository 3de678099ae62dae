import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/delete-file.js";
import type { Input } from "../../tools/specs/delete-file.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

describe("tools/delete-file", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub", "deep"), { recursive: true });
    await mkdir(join(root, "empty"));
    await mkdir(join(base, "outside"));
    await writeFile(join(base, "outside", "secret.txt"), "secret");
    await writeFile(join(root, "a.txt"), "a");
    await writeFile(join(root, "sub", "b.txt"), "b");
    await writeFile(join(root, "sub", "deep", "c.txt"), "c");
  });

  afterEach(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);

  it("execute() deletes a file, an empty folder or a link, and records it", async () => {
    await symlink("sub", join(root, "link"));
    for (const [path, type] of [
      ["a.txt", "file"],
      ["empty/", "directory"],
      ["link", "symlink"],
    ] as const) {
      const call = fakeCall({ path: root });
      const name = path.replace("/", "");
      expect(outputOf(await execute({ path }, call.context))).to.deep.equal({ path: name, type, deleted: 1 });
      expect(call.changes).to.deep.equal([{ operation: "delete", resourceId: "repo-1", path: name }]);
    }
    expect(await readdir(root)).to.deep.equal(["sub"]);
  });

  it("execute() deletes a folder with all in it only when told to", async () => {
    expect(codeOf(await run({ path: "sub" }))).to.equal("NOT_EMPTY");
    expect(await readdir(join(root, "sub"))).to.have.members(["b.txt", "deep"]);
    const call = fakeCall({ path: root });
    expect(outputOf(await execute({ path: "sub", recursive: true }, call.context)).deleted).to.equal(4);
    expect(call.changes.map(({ path }) => path)).to.have.members(["sub/b.txt", "sub/deep/c.txt", "sub/deep", "sub"]);
    expect(call.changes.at(-1)?.path).to.equal("sub");
    expect(await readdir(root)).to.have.members(["a.txt", "empty"]);
  });

  it("execute() deletes what has no name in UTF-8, and never through a link", async function () {
    const odd = Buffer.concat([Buffer.from(join(root, "sub", "q")), Buffer.from([0xff])]);
    const within = (name: string): Buffer => Buffer.concat([odd, Buffer.from(`/${name}`)]);
    try {
      await mkdir(odd);
    } catch {
      // A file system that knows no such name has nothing to test.
      return this.skip();
    }
    await writeFile(within("é.txt"), "");
    await symlink("../../../outside", within("link"));
    const call = fakeCall({ path: root });
    expect(outputOf(await execute({ path: "sub", recursive: true }, call.context)).deleted).to.equal(7);
    expect(call.changes.map(({ path }) => path)).to.include.members(["sub/q\ufffd", "sub/q\ufffd/é.txt"]);
    expect(await readdir(root)).to.have.members(["a.txt", "empty"]);
    expect(await readdir(join(base, "outside"))).to.deep.equal(["secret.txt"]);
  });

  it("execute() tells how far it is", async () => {
    for (let at = 0; at < 250; at++) await writeFile(join(root, "empty", `${at}`), "");
    const call = fakeCall({ path: root });
    expect(outputOf(await execute({ path: "empty", recursive: true }, call.context)).deleted).to.equal(251);
    expect(call.progress.map(([done]) => done)).to.deep.equal([100, 200]);
  });

  it("execute() deletes links, never what they lead to", async () => {
    await symlink("../outside", join(root, "out"));
    await symlink(join(base, "outside"), join(root, "sub", "out"));
    await symlink("none", join(root, "sub", "dangling"));
    expect(outputOf(await run({ path: "out" })).type).to.equal("symlink");
    expect(outputOf(await run({ path: "sub", recursive: true })).deleted).to.equal(6);
    expect(await readdir(join(base, "outside"))).to.deep.equal(["secret.txt"]);
  });

  it("execute() refuses what it may not delete", async () => {
    await symlink("../outside", join(root, "out"));
    for (const [path, code] of [
      ["none", "NOT_FOUND"],
      ["none/none", "NOT_FOUND"],
      [".", "INVALID_PATH"],
      ["sub/..", "INVALID_PATH"],
      ["a.txt/", "NOT_A_FOLDER"],
      ["a.txt/x", "NOT_A_FOLDER"],
      ["out/", "NOT_A_FOLDER"],
      ["out/secret.txt", "OUTSIDE_RESOURCE"],
      ["../outside/secret.txt", "OUTSIDE_RESOURCE"],
      ["..", "OUTSIDE_RESOURCE"],
    ] as const) {
      expect(codeOf(await run({ path, recursive: true })), path).to.equal(code);
    }
    expect(codeOf(await run({ path: "a.txt" }, { access: "read_only" }))).to.equal("READ_ONLY");
    expect(codeOf(await run({ path: "." }, { path: join(root, "a.txt") }))).to.equal("NOT_A_FOLDER");
    expect(await readdir(join(base, "outside"))).to.deep.equal(["secret.txt"]);
    expect(await readdir(root)).to.have.members(["a.txt", "empty", "out", "sub"]);
  });

  it("execute() does not delete through a folder that becomes a link while it works", async () => {
    await writeFile(join(base, "outside", "b.txt"), "secret");
    await mkdir(join(base, "outside", "deep"));
    for (const [input, swapAt] of [
      [{ path: "sub/b.txt" }, 1],
      [{ path: "sub", recursive: true }, 1],
    ] as const) {
      const onPoll = (polls: number): void => {
        if (polls !== swapAt) return;
        renameSync(join(root, "sub"), join(root, "old"));
        symlinkSync("../outside", join(root, "sub"));
      };
      expect(codeOf(await run(input, { onPoll }))).to.equal("OUTSIDE_RESOURCE");
      expect(await readFile(join(base, "outside", "b.txt"), "utf8")).to.equal("secret");
      expect(await readdir(join(base, "outside"))).to.have.members(["b.txt", "deep", "secret.txt"]);
      await unlink(join(root, "sub"));
      await rename(join(root, "old"), join(root, "sub"));
    }
  });

  it("execute() does not delete a file that is closed to writing", async () => {
    await chmod(join(root, "a.txt"), 0o444);
    const call = { tool: "delete-file", input: { path: "a.txt" }, path: root } as const;
    const answers = await asNobody(base, [call]);
    expect(answers.map(codeOf)).to.deep.equal(["ACCESS_DENIED"]);
    expect(await readFile(join(root, "a.txt"), "utf8")).to.equal("a");
  });

  it("execute() says how much is gone where it cannot go on", async () => {
    await chmod(join(root, "sub", "deep"), 0o555);
    const call = { tool: "delete-file", input: { path: "sub", recursive: true }, path: root } as const;
    const [answer] = await asNobody(base, [call]);
    expect(answer?.error?.code).to.equal("ACCESS_DENIED");
    expect(answer?.error?.message).to.include('"sub/deep"').and.to.include("Entries deleted before that: ");
    expect(answer?.error?.details.deleted).to.be.oneOf([0, 1]);
    await chmod(join(root, "sub", "deep"), 0o755);
  });

  it("execute() leaves what somebody puts into a folder meanwhile", async () => {
    const onPoll = (polls: number): void => {
      if (polls === 2) writeFileSync(join(root, "sub", "new.txt"), "new");
    };
    const { error } = await run({ path: "sub", recursive: true }, { onPoll });
    expect(error).to.include({ code: "NOT_EMPTY" });
    expect(error?.details).to.include({ deleted: 3 });
    expect(await readdir(join(root, "sub"))).to.deep.equal(["new.txt"]);
  });

  it("execute() stops when cancelled and has recorded what is gone", async () => {
    const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === 1 ? cancel() : undefined) });
    expect(await rejectionOf(execute({ path: "a.txt" }, call.context))).to.be.instanceOf(ToolCancelledError);
    expect(await readFile(join(root, "a.txt"), "utf8")).to.equal("a");
    for (let at = 0; at < 5; at++) await writeFile(join(root, "empty", `${at}`), "");
    const tree = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === 4 ? cancel() : undefined) });
    const work = execute({ path: "empty", recursive: true }, tree.context);
    expect(await rejectionOf(work)).to.be.instanceOf(ToolCancelledError);
    expect(tree.changes).to.have.length(2);
    expect(await readdir(join(root, "empty"))).to.have.length(3);
  });
});
