import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import fs, { chmod, link, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import sinon from "sinon";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/move-file.js";
import type { Input } from "../../tools/specs/move-file.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

const ELSEWHERE = Object.assign(new Error("another file system"), { code: "EXDEV" });

describe("tools/move-file", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "outside"));
    await writeFile(join(root, "a.txt"), "a");
    await writeFile(join(root, "b.txt"), "b");
    await writeFile(join(root, "sub", "c.txt"), "c");
  });

  afterEach(async () => {
    sinon.restore();
    syncBuiltinESMExports();
    await remove();
  });

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);
  const text = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  /** Lets each of the calls fail as between file systems, but for those within one folder. */
  const elsewhere = (): void => {
    for (const name of ["rename", "link"] as const) {
      const original = fs[name];
      sinon.stub(fs, name).callsFake(async (from, to) => {
        if (!String(from).includes(".toolcell-")) throw ELSEWHERE;
        await original(from, to);
      });
    }
    syncBuiltinESMExports();
  };

  /** Lets each of the calls find what is there by any case, and lets a new name be as it is given. */
  const ignoringCase = (): void => {
    const found = (path: string): string => {
      const name = basename(path);
      const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
      return join(dirname(path), names.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name);
    };
    for (const name of ["lstat", "realpath", "unlink"] as const) {
      const original = fs[name] as (path: string) => Promise<unknown>;
      sinon.stub(fs, name).callsFake(((path: string) => original(found(path))) as never);
    }
    for (const name of ["rename", "link"] as const) {
      const original = fs[name];
      sinon.stub(fs, name).callsFake(async (from, to) => {
        const old = found(String(from));
        const other = found(String(to));
        if (name === "link" && existsSync(other)) throw Object.assign(new Error("there is one"), { code: "EEXIST" });
        // As Linux does, where both are one entry.
        if (old !== other) await original(old, other);
      });
    }
    syncBuiltinESMExports();
  };

  it("execute() moves a file and records both places", async () => {
    await chmod(join(root, "a.txt"), 0o640);
    const { ino } = await lstat(join(root, "a.txt"));
    const answer = await run({ from: "a.txt", to: "sub/d.txt" });
    expect(outputOf(answer)).to.deep.equal({ from: "a.txt", to: "sub/d.txt", type: "file", overwritten: false });
    expect(answer.changes).to.deep.equal([
      { operation: "delete", resourceId: "repo-1", path: "a.txt" },
      { operation: "create", resourceId: "repo-1", path: "sub/d.txt" },
    ]);
    expect(await readdir(root)).to.have.members(["b.txt", "sub"]);
    const moved = await lstat(join(root, "sub", "d.txt"));
    expect([moved.ino, moved.mode & 0o777, moved.nlink]).to.deep.equal([ino, 0o640, 1]);
  });

  it("execute() moves a folder with all in it", async () => {
    expect(outputOf(await run({ from: "sub/", to: "other/" })).type).to.equal("directory");
    expect(await text("other/c.txt")).to.equal("c");
    expect(await readdir(root)).to.have.members(["a.txt", "b.txt", "other"]);
  });

  it("execute() creates folders only when asked, and records them", async () => {
    const input = { from: "a.txt", to: "x/y/a.txt" };
    expect(codeOf(await run(input))).to.equal("NOT_FOUND");
    const call = fakeCall({ path: root });
    outputOf(await execute({ ...input, createFolders: true }, call.context));
    expect(call.changes.map(({ path }) => path)).to.deep.equal(["x", "x/y"]);
    expect(await text("x/y/a.txt")).to.equal("a");
  });

  it("execute() overwrites a file only when told to, and never a folder", async () => {
    const refused = await run({ from: "a.txt", to: "b.txt" });
    expect(refused.error).to.deep.include({ code: "ALREADY_EXISTS", details: { path: "b.txt" } });
    expect(await text("b.txt")).to.equal("b");
    expect(codeOf(await run({ from: "a.txt", to: "sub" }))).to.equal("ALREADY_EXISTS");
    expect(codeOf(await run({ from: "a.txt", to: "sub", overwrite: true }))).to.equal("NOT_A_FILE");
    expect(codeOf(await run({ from: "sub", to: "a.txt", overwrite: true }))).to.equal("NOT_A_FILE");
    await mkdir(join(root, "empty"));
    expect(codeOf(await run({ from: "sub", to: "empty", overwrite: true }))).to.equal("NOT_A_FILE");
    const answer = await run({ from: "a.txt", to: "b.txt", overwrite: true });
    expect(outputOf(answer).overwritten).to.equal(true);
    expect(answer.changes.map(({ operation }) => operation)).to.deep.equal(["delete", "modify"]);
    expect(await text("b.txt")).to.equal("a");
  });

  it("execute() leaves a file that comes to exist meanwhile", async () => {
    const onPoll = (): void => writeFileSync(join(root, "new.txt"), "somebody else's");
    expect(codeOf(await run({ from: "a.txt", to: "new.txt" }, { onPoll }))).to.equal("ALREADY_EXISTS");
    expect(await text("new.txt")).to.equal("somebody else's");
    expect(await text("a.txt")).to.equal("a");
  });

  it("execute() ends with one name where both are the same file", async () => {
    await link(join(root, "a.txt"), join(root, "twin"));
    outputOf(await run({ from: "a.txt", to: "twin", overwrite: true }));
    expect(await readdir(root)).to.have.members(["b.txt", "sub", "twin"]);
    expect(await text("twin")).to.equal("a");
  });

  it("execute() renames a file or folder where upper and lower case are one name", async () => {
    ignoringCase();
    const answer = await run({ from: "a.txt", to: "A.txt" });
    expect(outputOf(answer)).to.deep.equal({ from: "a.txt", to: "A.txt", type: "file", overwritten: false });
    expect(answer.changes.map(({ operation }) => operation)).to.deep.equal(["delete", "create"]);
    outputOf(await run({ from: "b.txt", to: "B.TXT", overwrite: true }));
    outputOf(await run({ from: "sub", to: "SUB" }));
    sinon.restore();
    syncBuiltinESMExports();
    expect(await readdir(root)).to.have.members(["A.txt", "B.TXT", "SUB"]);
    expect([await text("A.txt"), await text("B.TXT"), await text("SUB/c.txt")]).to.deep.equal(["a", "b", "c"]);
  });

  it("execute() leaves two hard links as they are without overwrite, also where they differ in case alone", async () => {
    await link(join(root, "a.txt"), join(root, "A.txt"));
    await link(join(root, "b.txt"), join(root, "twin"));
    expect(codeOf(await run({ from: "a.txt", to: "A.txt" }))).to.equal("ALREADY_EXISTS");
    expect(codeOf(await run({ from: "b.txt", to: "twin" }))).to.equal("ALREADY_EXISTS");
    expect(await readdir(root)).to.have.members(["A.txt", "a.txt", "b.txt", "sub", "twin"]);
  });

  it("execute() keeps a file whose folder or name is mounted a second time", async function () {
    await mkdir(join(root, "again"));
    await writeFile(join(root, "name"), "under the mount");
    const mounts = [
      [join(root, "sub"), join(root, "again")],
      [join(root, "a.txt"), join(root, "name")],
    ] as const;
    const mounted: string[] = [];
    try {
      for (const [from, to] of mounts) {
        const { status } = spawnSync("mount", ["--bind", from, to]);
        // To mount takes root's rights, which few hosts of tests give.
        if (status !== 0) return this.skip();
        mounted.push(to);
      }
      expect(codeOf(await run({ from: "sub/c.txt", to: "again/c.txt", overwrite: true }))).to.equal("INVALID_INPUT");
      expect(codeOf(await run({ from: "a.txt", to: "name", overwrite: true }))).to.equal("BUSY");
      expect(codeOf(await run({ from: "sub", to: "again", overwrite: true }))).to.equal("ALREADY_EXISTS");
    } finally {
      for (const each of mounted) spawnSync("umount", [each]);
    }
    expect(await readdir(root)).to.have.members(["a.txt", "again", "b.txt", "name", "sub"]);
    expect([await text("sub/c.txt"), await text("a.txt"), await text("name")]).to.deep.equal([
      "c",
      "a",
      "under the mount",
    ]);
  });

  it("execute() moves a link itself, also one that leads out", async () => {
    await symlink("../outside", join(root, "out"));
    expect(outputOf(await run({ from: "out", to: "sub/out" })).type).to.equal("symlink");
    expect(await readlink(join(root, "sub", "out"))).to.equal("../outside");
    expect(await readdir(join(base, "outside"))).to.deep.equal([]);
  });

  it("execute() refuses what cannot be moved", async () => {
    for (const [from, to, code] of [
      ["none", "x", "NOT_FOUND"],
      ["none/none", "x", "NOT_FOUND"],
      ["a.txt", "./a.txt", "INVALID_INPUT"],
      ["sub", "sub/sub", "INVALID_PATH"],
      ["sub", "sub/x/y", "INVALID_PATH"],
      [".", "x", "INVALID_PATH"],
      ["a.txt", ".", "INVALID_PATH"],
      ["a.txt", "x/", "NOT_A_FILE"],
      ["a.txt/", "x", "NOT_A_FOLDER"],
      ["a.txt", "b.txt/x", "NOT_A_FOLDER"],
    ] as const) {
      expect(codeOf(await run({ from, to })), `${from} to ${to}`).to.equal(code);
    }
    expect(codeOf(await run({ from: "a.txt", to: "x" }, { access: "read_only" }))).to.equal("READ_ONLY");
    expect(codeOf(await run({ from: ".", to: "x" }, { path: join(root, "a.txt") }))).to.equal("NOT_A_FOLDER");
    expect(await readdir(root)).to.have.members(["a.txt", "b.txt", "sub"]);
  });

  it("execute() never moves out or in through a link", async () => {
    await writeFile(join(base, "outside", "secret.txt"), "secret");
    await symlink("../outside", join(root, "out"));
    await symlink("../outside/none", join(root, "dangling"));
    for (const path of ["out/x", "out/secret.txt", "dangling/x", "../outside/x", `${root}2/x`]) {
      for (const input of [
        { from: "a.txt", to: path },
        { from: path, to: "x" },
      ]) {
        const code = codeOf(await run({ ...input, createFolders: true, overwrite: true }));
        expect(code, JSON.stringify(input)).to.equal("OUTSIDE_RESOURCE");
      }
    }
    expect(await readdir(join(base, "outside"))).to.deep.equal(["secret.txt"]);
    expect(await text("a.txt")).to.equal("a");
  });

  it("execute() does not move through a folder that became a link since it looked", async () => {
    await writeFile(join(base, "outside", "c.txt"), "secret");
    for (const input of [
      { from: "a.txt", to: "sub/x" },
      { from: "sub/c.txt", to: "x" },
    ]) {
      const onPoll = (): void => {
        renameSync(join(root, "sub"), join(root, "old"));
        symlinkSync("../outside", join(root, "sub"));
      };
      expect(codeOf(await run(input, { onPoll })), JSON.stringify(input)).to.equal("OUTSIDE_RESOURCE");
      expect(await readdir(join(base, "outside"))).to.deep.equal(["c.txt"]);
      await fs.unlink(join(root, "sub"));
      await fs.rename(join(root, "old"), join(root, "sub"));
    }
  });

  it("execute() does not replace a file that is closed to writing", async () => {
    await chmod(join(root, "b.txt"), 0o444);
    const call = (from: string, to: string) =>
      ({ tool: "move-file", input: { from, to, overwrite: true }, path: root }) as const;
    const answers = await asNobody(base, [call("a.txt", "b.txt"), call("b.txt", "c.txt")]);
    expect(answers.map(codeOf)).to.deep.equal(["ACCESS_DENIED", "success"]);
    expect([await text("a.txt"), await text("c.txt")]).to.deep.equal(["a", "b"]);
  });

  it("execute() copies a file to another file system and deletes the old one", async () => {
    elsewhere();
    await chmod(join(root, "a.txt"), 0o600);
    await writeFile(join(root, "a.txt"), "x".repeat(2 * 1024 * 1024 + 5));
    const call = fakeCall({ path: root });
    outputOf(await execute({ from: "a.txt", to: "sub/a.txt" }, call.context));
    expect(call.progress.at(-1)).to.deep.equal([2 * 1024 * 1024 + 5, 2 * 1024 * 1024 + 5]);
    expect(await text("sub/a.txt")).to.have.length(2 * 1024 * 1024 + 5);
    expect((await lstat(join(root, "sub", "a.txt"))).mode & 0o777).to.equal(0o600);
    outputOf(await run({ from: "b.txt", to: "sub/c.txt", overwrite: true }));
    expect(await text("sub/c.txt")).to.equal("b");
    expect(codeOf(await run({ from: "sub", to: "other" }))).to.equal("OTHER_FILE_SYSTEM");
    expect(await readdir(root)).to.have.members(["sub"]);
    expect(await readdir(join(root, "sub"))).to.have.members(["a.txt", "c.txt"]);
  });

  it("execute() leaves the file where it is when cancelled", async () => {
    const input = { from: "a.txt", to: "sub/a.txt" };
    const cancelled = async (stop: number): Promise<void> => {
      const call = fakeCall({ path: root, onPoll: (polls, cancel) => (polls === stop ? cancel() : undefined) });
      expect(await rejectionOf(execute(input, call.context))).to.be.instanceOf(ToolCancelledError);
    };
    await cancelled(1);
    elsewhere();
    for (let stop = 1; stop <= 4; stop++) await cancelled(stop);
    expect(await text("a.txt")).to.equal("a");
    expect(await readdir(join(root, "sub"))).to.deep.equal(["c.txt"]);
  });
});
