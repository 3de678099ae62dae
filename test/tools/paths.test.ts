import { mkdir, readdir, realpath, rename, symlink, writeFile } from "node:fs/promises";
import { constants } from "node:fs";
import { join, resolve, sep } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { ToolFailure } from "../../tools/failure.js";
import { openFile } from "../../tools/open-file.js";
import { isInside, locate, openResource, relativePath, type OpenResource } from "../../tools/paths.js";
import { fakeCall, rejectionOf, temporaryFolder } from "./fake-context.js";

async function codeThrownBy(work: Promise<unknown>): Promise<string> {
  const error = await rejectionOf(work);
  return error instanceof ToolFailure ? error.code : String(error);
}

describe("tools/paths", () => {
  let base: string;
  let remove: () => Promise<void>;
  let root: string;
  let resource: OpenResource;

  const open = (path: string): Promise<OpenResource> => openResource(fakeCall({ path }).context, "repo");

  beforeEach(async () => {
    ({ folder: base, remove } = await temporaryFolder());
    root = join(base, "workspace");
    await mkdir(join(root, "sub", "deep"), { recursive: true });
    await mkdir(join(base, "workspace2"));
    await writeFile(join(root, "sub", "a.txt"), "a");
    await writeFile(join(base, "workspace2", "secret.txt"), "secret");
    const links = {
      in: "sub/a.txt",
      folder: "sub",
      absolute: join(root, "sub"),
      outside: "../workspace2/secret.txt",
      outsideFolder: join(base, "workspace2"),
      dangling: "sub/none.txt",
      danglingOutside: "../workspace2/none.txt",
      danglingOutsideAbsolute: join(base, "none.txt"),
      loop: "loop",
      loopWithEnd: "loopWithEnd/x",
      root: ".",
      up: "sub/../sub/deep/..",
      cycle: "sub/deep/back",
    };
    for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
    await symlink("../../cycle", join(root, "sub", "deep", "back"));
    await symlink("..", join(root, "sub", "deep", "parent"));
    resource = await open(root);
  });

  afterEach(() => remove());

  it("isInside() compares whole segments", () => {
    expect(isInside("/work", "/work")).to.equal(true);
    expect(isInside("/work", "/work/a")).to.equal(true);
    expect(isInside("/work", "/work/..a")).to.equal(true);
    expect(isInside("/work", "/work2")).to.equal(false);
    expect(isInside("/work", "/work/../work2")).to.equal(false);
    expect(isInside("/work/a", "/work")).to.equal(false);
    expect(isInside("/", "/anything")).to.equal(true);
  });

  it("isInside() agrees with a comparison of segments, for any two paths", () => {
    const path = fc.array(fc.constantFrom("a", "ab", "b", "..", ".", "..a", "...", " "), { maxLength: 6 });
    fc.assert(
      fc.property(path, path, (one, other) => {
        const segments = (parts: string[]): string[] => {
          const kept: string[] = [];
          for (const part of parts) {
            if (part === "..") kept.pop();
            else if (part !== ".") kept.push(part);
          }
          return kept;
        };
        const folder = segments(one);
        const inside = folder.every((part, at) => segments(other)[at] === part);
        expect(isInside(`/${one.join("/")}`, `/${other.join("/")}`)).to.equal(inside);
      }),
    );
  });

  it("relativePath() gives a dot for the folder itself", () => {
    expect(relativePath(root, root)).to.equal(".");
    expect(relativePath(root, join(root, "sub", "a.txt"))).to.equal("sub/a.txt");
  });

  it("openResource() refuses a resource without a path and one that does not exist", async () => {
    const { context } = fakeCall({ path: root });
    const pathless = { ...context, resource: () => ({ ...context.resource("repo"), path: undefined }) };
    expect(await codeThrownBy(openResource(pathless as unknown as typeof context, "repo"))).to.equal("NO_PATH");
    expect(await codeThrownBy(open(join(base, "none")))).to.equal("NOT_FOUND");
  });

  it("locate() accepts what lies inside, relative and absolute", async () => {
    const real = join(root, "sub", "a.txt");
    for (const path of ["sub/a.txt", "./sub//a.txt", "sub/deep/../a.txt", "none/../sub/a.txt", real]) {
      const located = await locate(resource, path);
      expect(located).to.include({ real, path: "sub/a.txt", realPath: "sub/a.txt", exists: true });
    }
    for (const path of ["", ".", "sub/..", root, `${root}/`]) {
      expect(await locate(resource, path)).to.include({ real: root, path: "." });
    }
  });

  it("locate() refuses what lies outside, by segments", async () => {
    const outside = ["..", "../workspace2", "../workspace2/secret.txt", "sub/../../workspace2", "/", "/etc/passwd"];
    for (const path of [...outside, join(base, "workspace2"), `${root}2/secret.txt`, "../none", "/none/x"]) {
      expect(await codeThrownBy(locate(resource, path)), path).to.equal("OUTSIDE_RESOURCE");
    }
  });

  it("locate() follows links that stay inside", async () => {
    expect(await locate(resource, "in")).to.include({ path: "in", realPath: "sub/a.txt", exists: true });
    expect(await locate(resource, "absolute/a.txt")).to.include({ realPath: "sub/a.txt", exists: true });
    expect(await locate(resource, "root/root/sub")).to.include({ realPath: "sub", exists: true });
    expect(await locate(resource, "sub/deep/parent/a.txt")).to.include({ realPath: "sub/a.txt", exists: true });
  });

  it("locate() refuses links that lead outside, also dangling ones", async () => {
    const links = ["outside", "outsideFolder", "outsideFolder/secret.txt", "outsideFolder/none", "danglingOutside"];
    for (const path of [...links, "danglingOutsideAbsolute", "folder/../outsideFolder/new/file", "danglingOutside/x"]) {
      expect(await codeThrownBy(locate(resource, path)), path).to.equal("OUTSIDE_RESOURCE");
    }
  });

  it("locate() resolves what does not exist yet, through links", async () => {
    const cases = [
      ["new", "new"],
      ["folder/new/er", "sub/new/er"],
      ["absolute/new", "sub/new"],
      ["dangling", "sub/none.txt"],
      ["dangling/below", "sub/none.txt/below"],
      ["up/new", "sub/new"],
      ["sub/deep/parent/new", "sub/new"],
    ] as const;
    for (const [path, realPath] of cases) {
      expect(await locate(resource, path)).to.include({ path, realPath, exists: false });
    }
  });

  it("locate() ends on links that go round", async () => {
    for (const path of ["loop", "loop/x", "loopWithEnd", "cycle", "cycle/x"]) {
      const error = await rejectionOf(locate(resource, path));
      expect((error as { code: string }).code, path).to.be.oneOf(["ELOOP", "SYMLINK_LOOP"]);
    }
    const chain = join(root, "chain");
    await mkdir(chain);
    for (let at = 0; at < 60; at++) await symlink(at === 0 ? "none" : `${at - 1}`, join(chain, `${at}`));
    expect(await locate(resource, "chain/30")).to.include({ realPath: "chain/none" });
    const error = await rejectionOf(locate(resource, "chain/59"));
    expect((error as { code: string }).code).to.be.oneOf(["ELOOP", "SYMLINK_LOOP"]);
  });

  it("locate() refuses NUL and takes a backslash as a character", async () => {
    expect(await codeThrownBy(locate(resource, "sub/a.txt\0.png"))).to.equal("INVALID_PATH");
    if (sep !== "/") return;
    expect(await locate(resource, "..\\secret.txt")).to.include({ path: "..\\secret.txt", exists: false });
    expect(await locate(resource, "sub\\a.txt")).to.include({ real: join(root, "sub\\a.txt"), exists: false });
  });

  it("locate() works in a root that is a link, by either of its names", async () => {
    const alias = join(base, "alias");
    await symlink("workspace", alias);
    await symlink(join(alias, "sub", "later.txt"), join(root, "byAlias"));
    const aliased = await open(alias);
    for (const path of ["sub/a.txt", join(alias, "sub/a.txt"), join(root, "sub/a.txt")]) {
      expect(await locate(aliased, path)).to.include({ real: join(root, "sub", "a.txt"), path: "sub/a.txt" });
    }
    expect(await locate(aliased, "byAlias")).to.include({ realPath: "sub/later.txt", exists: false });
    expect(await codeThrownBy(locate(aliased, "../workspace2/secret.txt"))).to.equal("OUTSIDE_RESOURCE");
  });

  it("locate() says where the root really is to who names it by a link that it does not know", async () => {
    const error = await locate(await open(root), join(base, "alias", "sub", "a.txt")).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.include({ code: "OUTSIDE_RESOURCE" });
    expect((error as Error).message).to.include(`real path is ${JSON.stringify(root)}; give a path relative to it`);
  });

  it("locate() names a single file by a dot, its name or its path", async () => {
    const path = join(root, "sub", "a.txt");
    const file = await open(path);
    for (const name of [".", "", "a.txt", "./a.txt", path]) {
      expect(await locate(file, name)).to.include({ real: path, path: "a.txt", realPath: "a.txt" });
    }
    for (const name of ["..", "b.txt", "a.txt/b", join(root, "sub"), "../sub", "deep"]) {
      expect(await codeThrownBy(locate(file, name)), name).to.equal("OUTSIDE_RESOURCE");
    }
  });

  it("locate() sees a root that was exchanged for a link", async () => {
    await rename(root, join(base, "moved"));
    await symlink("workspace2", root);
    expect(await codeThrownBy(locate(resource, "secret.txt"))).to.equal("OUTSIDE_RESOURCE");
  });

  it("openFile() does not follow a link that was put there after the check", async () => {
    const located = await locate(resource, "sub/a.txt");
    await rename(located.real, `${located.real}.old`);
    await symlink("../../workspace2/secret.txt", located.real);
    const error = await rejectionOf(openFile(located, constants.O_RDONLY));
    expect((error as { code: string }).code).to.be.oneOf(["ELOOP", "EMLINK"]);
  });

  it("openFile() refuses folders and paths that mean one", async () => {
    expect(await codeThrownBy(openFile(await locate(resource, "sub"), constants.O_RDONLY))).to.equal("NOT_A_FILE");
    expect(await codeThrownBy(openFile(await locate(resource, "sub/a.txt/"), constants.O_RDONLY))).to.match(
      /NOT_A_FILE|ENOTDIR/,
    );
  });

  it("locate() never leads out of the root and agrees with the system, for any path", async () => {
    const names = await readdir(root);
    const segment = fc.constantFrom(...names, "deep", "back", "parent", "a.txt", "secret.txt", "new", "..", ".", "");
    const path = fc.array(segment, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(path, fc.boolean(), async (relative, absolute) => {
        const asked = `${absolute ? root : "."}/${relative}`;
        const system = await realpath(resolve(join(root, relative))).catch(() => undefined);
        let located;
        try {
          located = await locate(resource, asked);
        } catch (error) {
          // Refused: then it is no path of the system, or one outside.
          if (system !== undefined) expect(isInside(root, system), `${asked} -> ${String(error)}`).to.equal(false);
          return;
        }
        expect(isInside(root, located.real)).to.equal(true);
        expect(located.exists).to.equal(system !== undefined);
        if (system !== undefined) expect(located.real).to.equal(system);
        else expect(await realpath(located.real).catch(() => undefined)).to.equal(undefined);
      }),
      { numRuns: 400 },
    );
  });
});
