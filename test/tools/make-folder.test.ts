import { renameSync, symlinkSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ToolCancelledError } from "../../src/tool.js";
import { execute } from "../../tools/make-folder.js";
import type { Input } from "../../tools/specs/make-folder.js";
import { asNobody } from "./as-nobody.js";
import { codeOf, fakeCall, outputOf, rejectionOf, temporaryFolder, type FakeOptions } from "./fake-context.js";

describe("tools/make-folder", () => {
  let base: string;
  let root: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "outside"));
    await writeFile(join(root, "a.txt"), "a");
  });

  afterEach(() => remove());

  const run = (input: Input, options: FakeOptions = {}): ReturnType<typeof execute> =>
    execute(input, fakeCall({ path: root, ...options }).context);

  it("execute() makes a folder and records it", async () => {
    const call = fakeCall({ path: root });
    const output = outputOf(await execute({ path: "sub/new/" }, call.context));
    expect(output).to.deep.equal({ path: "sub/new", created: true, folders: ["sub/new"] });
    expect(call.changes).to.deep.equal([{ operation: "create", resourceId: "repo-1", path: "sub/new" }]);
    expect((await lstat(join(root, "sub", "new"))).isDirectory()).to.equal(true);
  });

  it("execute() makes the folders above only when asked", async () => {
    expect(codeOf(await run({ path: "x/y/z" }))).to.equal("NOT_FOUND");
    const call = fakeCall({ path: root });
    const output = outputOf(await execute({ path: "x/y/z", createFolders: true }, call.context));
    expect(output.folders).to.deep.equal(["x", "x/y", "x/y/z"]);
    expect(call.changes.map(({ path }) => path)).to.deep.equal(output.folders);
  });

  it("execute() leaves a folder that is there", async () => {
    await symlink("sub", join(root, "link"));
    for (const path of ["sub", ".", "link"]) {
      const call = fakeCall({ path: root });
      expect(outputOf(await execute({ path }, call.context))).to.deep.include({ created: false, folders: [] });
      expect(call.changes).to.deep.equal([]);
    }
    const both = await Promise.all([1, 2, 3, 4].map(() => run({ path: "p/q", createFolders: true })));
    expect(both.map(codeOf)).to.deep.equal(both.map(() => "success"));
    expect(both.flatMap((answer) => outputOf(answer).folders).sort()).to.deep.equal(["p", "p/q"]);
  });

  it("execute() refuses where no folder can be", async () => {
    await symlink("../outside", join(root, "out"));
    await symlink("../outside/none", join(root, "dangling"));
    for (const [path, code] of [
      ["a.txt", "ALREADY_EXISTS"],
      ["a.txt/x", "NOT_A_FOLDER"],
      ["out", "OUTSIDE_RESOURCE"],
      ["out/x", "OUTSIDE_RESOURCE"],
      ["dangling", "OUTSIDE_RESOURCE"],
      ["dangling/x", "OUTSIDE_RESOURCE"],
      ["../outside/x", "OUTSIDE_RESOURCE"],
      ["x".repeat(300), "INVALID_PATH"],
    ] as const) {
      expect(codeOf(await run({ path, createFolders: true })), path).to.equal(code);
    }
    expect(codeOf(await run({ path: "x" }, { access: "read_only" }))).to.equal("READ_ONLY");
    expect(await readdir(join(base, "outside"))).to.deep.equal([]);
  });

  it("execute() does not make a folder through one that became a link since it looked", async () => {
    for (const createFolders of [false, true]) {
      const onPoll = (): void => {
        renameSync(join(root, "sub"), join(root, `old${createFolders}`));
        symlinkSync("../outside", join(root, "sub"));
      };
      await mkdir(join(root, "sub"), { recursive: true });
      const path = createFolders ? "sub/x/y" : "sub/x";
      expect(codeOf(await run({ path, createFolders }, { onPoll }))).to.equal("OUTSIDE_RESOURCE");
      expect(await readdir(join(base, "outside"))).to.deep.equal([]);
      await unlink(join(root, "sub"));
    }
  });

  it("execute() makes none in a folder that is closed to writing, and none when cancelled", async () => {
    await chmod(join(root, "sub"), 0o555);
    const [answer] = await asNobody(base, [{ tool: "make-folder", input: { path: "sub/x" }, path: root }]);
    expect(answer && codeOf(answer)).to.equal("ACCESS_DENIED");
    await chmod(join(root, "sub"), 0o755);
    const call = fakeCall({ path: root, onPoll: (_, cancel) => cancel() });
    expect(await rejectionOf(execute({ path: "x" }, call.context))).to.be.instanceOf(ToolCancelledError);
    expect(await readdir(root)).to.have.members(["a.txt", "sub"]);
  });
});
