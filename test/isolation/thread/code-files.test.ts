import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { codeFiles } from "../../../src/isolation/thread/code-files.js";
import { temporaryFolder } from "../../fixtures/folder.js";

describe("codeFiles()", () => {
  const folder = temporaryFolder();

  /** What is found, relative to the folder. */
  const found = async (path: string, extra: string[] = []): Promise<string[]> => {
    const files = await codeFiles(pathToFileURL(path).href, extra);
    return [...files].map((file) => relative(folder().path, file)).sort();
  };

  it("finds a module alone", async () => {
    folder().write("beside.mjs", "");
    expect(await found(folder().write("tool.mjs", "export const execute = () => 1;"))).to.deep.equal(["tool.mjs"]);
  });

  it("follows imports of every form, and requires", async () => {
    for (const name of ["a", "b", "c", "d", "e", "f"]) folder().write(`${name}.mjs`, "");
    folder().write("g.cjs", `require("./h"); require('./i.json'); module.require("./not-followed.js");`);
    folder().write("h.js", "");
    folder().write("i.json", "{}");
    const path = folder().write(
      "tool.mjs",
      `import "./a.mjs"; import b from './b.mjs'; export * from "./c.mjs"; export { d } from "./d.mjs";
       const e = () => import("./e.mjs"); import "${pathToFileURL(folder().join("f.mjs")).href}"; import "./g.cjs";
       import "node:fs"; import "fs"; import "data:text/javascript,1";`,
    );
    expect(await found(path)).to.deep.equal([
      ...["a.mjs", "b.mjs", "c.mjs", "d.mjs", "e.mjs", "f.mjs", "g.cjs", "h.js", "i.json", "tool.mjs"],
    ]);
  });

  it("finds the package.json that says what a .js file is", async () => {
    folder().write("package.json", "{}");
    folder().write("deep/package.json", "{}");
    const path = folder().write("deep/er/tool.js", "");
    expect(await found(path)).to.deep.equal(["deep/er/tool.js", "deep/package.json"]);
  });

  it("finds the main file of a required folder, and its package.json", async () => {
    folder().write("folder/package.json", `{ "main": "lib/main.js" }`);
    folder().write("folder/lib/main.js", "");
    const path = folder().write("tool.cjs", `require("./folder");`);
    expect(await found(path)).to.include.members(["folder/lib/main.js", "folder/package.json", "tool.cjs"]);
  });

  it("follows circles once", async () => {
    folder().write("b.mjs", `import "./a.mjs";`);
    expect(await found(folder().write("a.mjs", `import "./b.mjs"; import "./a.mjs";`))).to.deep.equal([
      "a.mjs",
      "b.mjs",
    ]);
  });

  it("finds links and what they lead to", async () => {
    folder().write("real.mjs", "");
    folder().link("link.mjs", "real.mjs");
    expect(await found(folder().write("tool.mjs", `import "./link.mjs";`))).to.deep.equal([
      "link.mjs",
      "real.mjs",
      "tool.mjs",
    ]);
  });

  it("finds the folders of installed packages, of those that they depend on, and no others", async () => {
    folder().write(
      "node_modules/alpha/package.json",
      `{ "name": "alpha", "version": "1.0.0", "dependencies": { "beta": "1" }, "peerDependencies": { "@scope/gamma": "1" } }`,
    );
    folder().write("node_modules/alpha/node_modules/beta/package.json", `{ "name": "beta", "version": "1.0.0" }`);
    folder().write("node_modules/beta/package.json", `{ "name": "beta", "version": "2.0.0" }`);
    folder().write(
      "node_modules/@scope/gamma/package.json",
      `{ "name": "@scope/gamma", "version": "1.0.0", "dependencies": { "alpha": "1" } }`,
    );
    folder().write("node_modules/unused/package.json", `{ "name": "unused", "version": "1.0.0" }`);
    const path = folder().write("src/tool.mjs", `import "alpha/deep.js";`);
    expect(await found(path)).to.deep.equal([
      "node_modules/@scope/gamma",
      "node_modules/alpha",
      "node_modules/alpha/node_modules/beta",
      "src/tool.mjs",
    ]);
  });

  it("does not give the folder of a package under development away", async () => {
    folder().write(
      "lib/package.json",
      `{ "name": "lib", "version": "1.0.0", "type": "module", "exports": { "./a": "./a.js", ".": "./index.js" } }`,
    );
    folder().write("lib/index.js", `import "./inner.js";`);
    folder().write("lib/inner.js", "");
    folder().write("lib/a.js", "");
    folder().write("lib/.env", "SECRET=1");
    folder().link("app/node_modules/lib", folder().join("lib"));
    const files = await found(folder().write("app/tool.mjs", `import "lib";`));
    expect(files).to.include.members(["app/tool.mjs", "lib/index.js", "lib/inner.js", "lib/package.json"]);
    expect(files).not.to.include("lib").and.not.to.include("lib/a.js").and.not.to.include("lib/.env");
  });

  it("adds what is named beside it", async () => {
    folder().mkdir("data");
    expect(await found(folder().write("tool.mjs", ""), [folder().join("data"), folder().join("absent")])).to.deep.equal(
      ["absent", "data", "tool.mjs"],
    );
  });

  for (const [what, code] of [
    ["cannot be parsed", "import {{{"],
    ["imports what is not there", `import "./absent.mjs"; import "absent-package"; import "#absent";`],
    ["imports what is no specifier", `import("./" + name); import(name); require(name); import "";`],
    ["names strange things", `import "@scope"; import "..//../"; import "%zz"; import "./\\0.mjs";`],
    [
      "imports a URL of another scheme",
      `import "https://example.org/x.js"; import "blob:1"; import "file://host/x.js";`,
    ],
    ["imports a URL that is none", `import "file:%zz"; import "file:///%2F.mjs"; import "http://[";`],
  ] as const) {
    it(`lets Node tell what is wrong with a module that ${what}`, async () => {
      expect(await found(folder().write("tool.mjs", code))).to.include("tool.mjs");
    });
  }

  it("finds nothing more of a file that is not there", async () => {
    expect(await found(folder().join("absent.mjs"))).to.deep.equal(["absent.mjs"]);
  });

  it("is not led out of bounds by a package name", async () => {
    folder().write("secret/package.json", `{ "name": "x", "version": "1.0.0" }`);
    const path = folder().write("app/tool.mjs", `import "../secret/x"; import "a/../../../secret"; import "..";`);
    const files = await found(path);
    expect(files).not.to.include("secret");
    expect(files).not.to.include("");
  });
});
