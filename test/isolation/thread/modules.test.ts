import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { ToolActivationError } from "../../../src/index.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { fixtureSpec, fixtureUrl } from "../../fixtures/tools.js";
import { rejection, type Loose } from "../../contract/recorder.js";
import { ThreadBed } from "./thread-bed.js";

const TOOL = "made/tool";

describe("thread tier modules", () => {
  const bed = new ThreadBed();
  const folder = temporaryFolder();

  /** Registers a module and runs it once. */
  const outputOf = async (path: string | URL, options: Parameters<ThreadBed["module"]>[1] = {}): Promise<unknown> => {
    bed.module(path, options);
    return (await bed.plan().execute(TOOL, { given: 1 })).output;
  };
  const failureOf = (path: string | URL, options: Parameters<ThreadBed["module"]>[1] = {}): Promise<Loose> =>
    rejection(outputOf(path, options));
  const simple = (value: string): string => `export const execute = () => ${JSON.stringify(value)};`;

  it("a module may be named by URL, by its text or by a path", async () => {
    const path = folder().write("tool.mjs", simple("ran"));
    for (const name of [path, pathToFileURL(path), pathToFileURL(path).href]) {
      expect(await outputOf(name)).to.equal("ran");
      bed.runtime.unregister(TOOL);
    }
  });

  for (const name of [
    "with space",
    "ünïcödé 文件",
    "100%",
    "%41",
    "#hash",
    "question?",
    "a,b",
    "a=b",
    "quote'\"",
    "new\nline",
  ]) {
    it(`a module in a folder named ${JSON.stringify(name)} runs, with its sibling`, async () => {
      folder().write(`${name}/sibling.mjs`, `export const word = "from the sibling";`);
      const path = folder().write(
        `${name}/tool.mjs`,
        `import { word } from "./sibling.mjs"; export const execute = () => word;`,
      );
      expect(await outputOf(path)).to.equal("from the sibling");
    });
  }

  it("two tools may share a module and name different files beside it", async () => {
    const data = folder().write("data.txt", "read");
    const path = folder().write(
      "tool.mjs",
      `import { readFile } from "node:fs/promises";
       export const execute = () => readFile(new URL("./data.txt", import.meta.url), "utf8").catch((error) => error.code);`,
    );
    const register = (name: string, codeFiles?: string[]): unknown =>
      bed.runtime.register(fixtureSpec("script", { name }), {
        module: path,
        capability: { writes: false },
        ...(codeFiles && { codeFiles }),
      });
    register("made/with", [data]);
    register("made/without");
    expect((await bed.plan().execute("made/without", {})).output).to.equal("ERR_ACCESS_DENIED");
    expect((await bed.plan().execute("made/with", {})).output).to.equal("read");
  });

  it("a module reached through links runs, also where it imports through links", async () => {
    folder().write("real/sibling.mjs", `export const word = "linked";`);
    folder().write("real/tool.mjs", `import { word } from "./alias.mjs"; export const execute = () => word;`);
    folder().link("real/alias.mjs", "sibling.mjs");
    const linked = folder().link("linked-folder", folder().join("real"));
    const path = folder().link("tool.mjs", `${linked}/tool.mjs`);
    expect(await outputOf(path)).to.equal("linked");
  });

  it("a module that imports across a linked folder runs", async () => {
    folder().write("shared/word.mjs", `export { word } from "./deeper.mjs";`);
    folder().write("shared/deeper.mjs", `export const word = "across";`);
    folder().link("app/shared", folder().join("shared"));
    const path = folder().write(
      "app/tool.mjs",
      `import { word } from "./shared/word.mjs"; export const execute = () => word;`,
    );
    expect(await outputOf(path)).to.equal("across");
  });

  for (const [form, code, expected] of [
    ["exports", `exports.execute = () => require("./word.cjs");`, "required"],
    ["module.exports", `module.exports = { execute: () => require('./word.cjs') };`, "required"],
    ["a required folder", `exports.execute = () => require("./folder").word;`, "from a folder"],
    [
      "a folder required at the top",
      `const { word } = require("./folder"); exports.execute = () => word;`,
      "from a folder",
    ],
    ["a required name without its ending", `exports.execute = () => require("./plain").word;`, "plain"],
  ] as const) {
    it(`a CommonJS module with ${form} runs`, async () => {
      folder().write("word.cjs", `module.exports = "required";`);
      folder().write("folder/index.js", `exports.word = "from a folder";`);
      folder().write("plain.js", `exports.word = "plain";`);
      expect(await outputOf(folder().write("tool.cjs", code))).to.equal(expected);
    });
  }

  it("a .js module is what its package.json says", async () => {
    folder().write("esm/package.json", `{ "type": "module" }`);
    folder().write("cjs/package.json", `{ "type": "commonjs" }`);
    expect(await outputOf(folder().write("esm/tool.js", simple("esm")))).to.equal("esm");
    bed.runtime.unregister(TOOL);
    expect(await outputOf(folder().write("cjs/tool.js", `exports.execute = () => typeof require;`))).to.equal(
      "function",
    );
  });

  it("JSON is loaded by createRequire and by an import attribute", async () => {
    folder().write("data.json", `{ "from": "json" }`);
    const required = folder().write(
      "tool.mjs",
      `import { createRequire } from "node:module";
       const require = createRequire(import.meta.url);
       export const execute = () => require("./data.json");`,
    );
    expect(await outputOf(required)).to.deep.equal({ from: "json" });
    bed.runtime.unregister(TOOL);
    const imported = folder().write(
      "imported.mjs",
      `import data from "./data.json" with { type: "json" }; export const execute = () => data;`,
    );
    expect(await outputOf(imported)).to.deep.equal({ from: "json" });
  });

  it("re-exports, side-effect imports and literal dynamic imports are followed", async () => {
    folder().write("one.mjs", `globalThis.effects = ["one"];`);
    folder().write("two.mjs", `export * from "./three.mjs";`);
    folder().write("three.mjs", `export const three = 3;`);
    folder().write("four.mjs", `export default 4;`);
    const path = folder().write(
      "tool.mjs",
      `import "./one.mjs";
       export * from "./two.mjs";
       export async function execute() { return [globalThis.effects, (await import("./four.mjs")).default]; }`,
    );
    expect(await outputOf(path)).to.deep.equal([["one"], 4]);
  });

  it("modules that import each other run", async () => {
    folder().write("b.mjs", `import { a } from "./a.mjs"; export const b = () => a();`);
    const path = folder().write(
      "a.mjs",
      `import { b } from "./b.mjs"; export const a = () => "around"; export const execute = () => b();`,
    );
    expect(await outputOf(path)).to.equal("around");
  });

  it("packages of node_modules run, with those that they depend on", async () => {
    folder().write(
      "node_modules/alpha/package.json",
      `{ "name": "alpha", "version": "1.0.0", "main": "lib/main.js", "dependencies": { "beta": "1" } }`,
    );
    folder().write(
      "node_modules/alpha/lib/main.js",
      `module.exports = () => "alpha " + require("beta")() + require("./data.json").x;`,
    );
    folder().write("node_modules/alpha/lib/data.json", `{ "x": 1 }`);
    folder().write(
      "node_modules/beta/package.json",
      `{ "name": "beta", "version": "1.0.0", "type": "module", "exports": { "import": "./esm.mjs", "require": "./cjs.cjs" } }`,
    );
    folder().write("node_modules/beta/esm.mjs", `export default () => "esm beta";`);
    folder().write("node_modules/beta/cjs.cjs", `module.exports = () => "cjs beta";`);
    folder().write(
      "node_modules/@scope/gamma/package.json",
      `{ "name": "@scope/gamma", "version": "1.0.0", "exports": { "./deep": "./x/deep.js" } }`,
    );
    folder().write("node_modules/@scope/gamma/x/deep.js", `exports.deep = "deep gamma";`);
    const path = folder().write(
      "src/tool.mjs",
      `import alpha from "alpha"; import beta from "beta"; import { deep } from "@scope/gamma/deep";
       export const execute = () => [alpha(), beta(), deep];`,
    );
    expect(await outputOf(path)).to.deep.equal(["alpha cjs beta1", "esm beta", "deep gamma"]);
  });

  it("packages of a store of links, as pnpm lays it out, run", async () => {
    const store = "node_modules/.pnpm";
    folder().write(
      `${store}/alpha@1.0.0/node_modules/alpha/package.json`,
      `{ "name": "alpha", "version": "1.0.0", "dependencies": { "beta": "1" } }`,
    );
    folder().write(
      `${store}/alpha@1.0.0/node_modules/alpha/index.js`,
      `module.exports = "alpha of " + require("beta");`,
    );
    folder().write(`${store}/beta@1.0.0/node_modules/beta/package.json`, `{ "name": "beta", "version": "1.0.0" }`);
    folder().write(`${store}/beta@1.0.0/node_modules/beta/index.js`, `module.exports = "beta";`);
    folder().link(`${store}/alpha@1.0.0/node_modules/beta`, "../../beta@1.0.0/node_modules/beta");
    folder().link("node_modules/alpha", ".pnpm/alpha@1.0.0/node_modules/alpha");
    const path = folder().write("tool.mjs", `import alpha from "alpha"; export const execute = () => alpha;`);
    expect(await outputOf(path)).to.equal("alpha of beta");
  });

  it("a package of a workspace, linked and outside of node_modules, runs", async () => {
    folder().write(
      "packages/lib/package.json",
      `{ "name": "lib", "version": "1.0.0", "type": "module", "exports": "./src/index.js" }`,
    );
    folder().write("packages/lib/src/index.js", `export { word } from "./word.js";`);
    folder().write("packages/lib/src/word.js", `export const word = "workspace";`);
    const secret = folder().write("packages/lib/.env", "SECRET=1");
    folder().link("packages/app/node_modules/lib", folder().join("packages/lib"));
    const path = folder().write(
      "packages/app/tool.mjs",
      `import { word } from "lib"; import { readFileSync } from "node:fs";
       export const execute = () => { try { return readFileSync(${JSON.stringify(secret)}, "utf8"); } catch { return word; } };`,
    );
    expect(await outputOf(path)).to.equal("workspace");
  });

  it("an import of what a package does not give fails its activation, in Node's own words", async () => {
    folder().write("package.json", `{ "name": "own", "type": "module", "imports": { "#word": "./word.js" } }`);
    folder().write("lib/package.json", `{ "name": "lib", "version": "1.0.0", "exports": "./index.js" }`);
    folder().write("lib/inner.js", `module.exports = 1;`);
    folder().link("node_modules/lib", folder().join("lib"));
    for (const [index, specifier] of ["#absent", "lib/inner.js"].entries()) {
      const path = folder().write(`tool-${index}.js`, `import "${specifier}"; export const execute = () => 1;`);
      const error = await failureOf(path);
      expect(error).to.be.instanceOf(ToolActivationError);
      expect(error.message).to.match(/#absent.* is not defined|\.\/inner\.js.* is not defined by "exports"/);
      bed.runtime.unregister(TOOL);
    }
  });

  it("an import by a package's own # name runs, also of a package that it names", async () => {
    folder().write(
      "package.json",
      `{ "name": "own", "type": "module", "imports": { "#word": "./word.js", "#alpha": "alpha" } }`,
    );
    folder().write("word.js", `export const word = "own";`);
    folder().write("node_modules/alpha/package.json", `{ "name": "alpha", "version": "1.0.0" }`);
    folder().write("node_modules/alpha/index.js", `module.exports = "alpha";`);
    const path = folder().write(
      "tool.js",
      `import { word } from "#word"; import alpha from "#alpha"; export const execute = () => [word, alpha];`,
    );
    expect(await outputOf(path)).to.deep.equal(["own", "alpha"]);
  });

  it("imports by a package's own # names and by its own name run", async () => {
    folder().write(
      "package.json",
      `{ "name": "own", "type": "module", "exports": { "./word": "./word.js" }, "imports": { "#word": "./word.js" } }`,
    );
    folder().write("word.js", `export const word = "own";`);
    const byName = folder().write("by-name.js", `import { word } from "own/word"; export const execute = () => word;`);
    expect(await outputOf(byName)).to.equal("own");
    bed.runtime.unregister(TOOL);
    const byHash = folder().write("by-hash.js", `import { word } from "#word"; export const execute = () => word;`);
    expect(await outputOf(byHash)).to.equal("own");
  });

  it("a peer or optional dependency that is not installed does no harm", async () => {
    folder().write(
      "node_modules/alpha/package.json",
      `{ "name": "alpha", "version": "1.0.0", "peerDependencies": { "absent": "1" }, "optionalDependencies": { "gone": "1" } }`,
    );
    folder().write("node_modules/alpha/index.js", `module.exports = "alone";`);
    expect(
      await outputOf(folder().write("tool.mjs", `import alpha from "alpha"; export const execute = () => alpha;`)),
    ).to.equal("alone");
  });

  it("a file that a computed import asks for is refused with a hint; `codeFiles` grants it, and folders too", async () => {
    folder().write("parts/part.mjs", `export const part = "granted";`);
    const path = folder().write(
      "tool.mjs",
      `const name = ["part", "mjs"].join(".");
       const { part } = await import(new URL("./parts/" + name, import.meta.url));
       export const execute = () => part;`,
    );
    const error = await failureOf(path);
    expect(error).to.be.instanceOf(ToolActivationError);
    expect(error.message).to.contain("`codeFiles`");
    for (const granted of ["parts/part.mjs", "parts"]) {
      bed.runtime.unregister(TOOL);
      expect(await outputOf(path, { codeFiles: [folder().join(granted)] })).to.equal("granted");
    }
  });

  it("`codeFiles` grants data beside the module, and nothing else there", async () => {
    folder().write("words.txt", "words");
    folder().write("secret.txt", "secret");
    const path = folder().write(
      "tool.mjs",
      `import { readFileSync } from "node:fs";
       const read = (name) => { try { return readFileSync(new URL(name, import.meta.url), "utf8"); } catch (error) { return error.code; } };
       export const execute = () => ["words.txt", "secret.txt"].map(read);`,
    );
    expect(await outputOf(path, { codeFiles: [folder().join("words.txt")] })).to.deep.equal([
      "words",
      "ERR_ACCESS_DENIED",
    ]);
  });

  for (const [what, code, message] of [
    ["has a syntax error", "export const execute = (;", /cannot be loaded/],
    ["throws", `throw new TypeError("at the top");`, /at the top/],
    ["throws no error", `throw "a text at the top";`, /a text at the top/],
    ["rejects", `await Promise.reject(new RangeError("at the top"));`, /at the top/],
    ["imports what is not there", `import "./absent.mjs"; export const execute = () => 1;`, /absent\.mjs/],
    [
      "imports a package that is not installed",
      `import "absent-package"; export const execute = () => 1;`,
      /absent-package/,
    ],
    ["exports nothing", "", /holds no tool/],
    ["exports no function", "export const execute = 1;", /holds no tool/],
    ["exports an activate that is none", "export const execute = () => 1; export const activate = 1;", /activate/],
  ] as const) {
    it(`a module that ${what} fails its activation, in plain words`, async () => {
      const error = await failureOf(folder().write("tool.mjs", code));
      expect(error).to.be.instanceOf(ToolActivationError).with.property("code", "ACTIVATION_FAILED");
      expect(error.message).to.contain(TOOL).and.match(message);
    });
  }

  for (const [what, code] of [
    ["imports a file URL of another host", `import "file://host/x.mjs"; export const execute = () => 1;`],
    ["imports a file URL that is malformed", `import "file:///%zz.mjs"; export const execute = () => 1;`],
  ] as const) {
    it(`a module that ${what} fails its activation, and nothing else`, async () => {
      bed.open({ spareCells: 1 });
      const error = await failureOf(folder().write("tool.mjs", code));
      expect(error).to.be.instanceOf(ToolActivationError);
      await bed.tools("misbehave");
      expect((await bed.plan().execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
    });
  }

  it("a module whose mere text names such a URL runs", async () => {
    const code = `// see require("file://host/x") and require("file:%zz")\n${simple("ran")}`;
    expect(await outputOf(folder().write("tool.mjs", code))).to.equal("ran");
  });

  it("a module whose path cannot be granted fails its own activation only", async () => {
    bed.open({ spareCells: 1 });
    const error = await failureOf(folder().write("all*/tool.mjs", simple("ran")));
    expect(error).to.be.instanceOf(ToolActivationError);
    expect(error.message).to.contain("wildcard");
    await bed.tools("misbehave");
    expect((await bed.plan().execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
  });

  it("a module that is not there fails its activation", async () => {
    const error = await failureOf(folder().join("absent.mjs"));
    expect(error).to.be.instanceOf(ToolActivationError);
    expect(error.message).to.contain("absent.mjs");
  });

  describe("registerModule()", () => {
    it("reads the specification of a defineTool module and of plain exports, without running it in the host", async () => {
      const defined = await bed.runtime.registerModule(fixtureUrl("answers"));
      expect(defined).to.include({ name: "fixture/answers", version: "1.2.3", readOnly: true });
      expect((await bed.plan().execute("fixture/answers", { kind: "text" })).output).to.equal("text");
      const path = folder().write(
        "tool.mjs",
        `globalThis.loadedInHost = true;
         export const spec = { name: "made/plain", description: "Plain.", inputSchema: { type: "number" }, capability: { writes: false, net: true, spawn: true, env: { A: "b" } } };
         export const execute = (input) => input + 1;`,
      );
      const plain = await bed.runtime.registerModule(path);
      expect(plain.capability).to.deep.include({ writes: false, net: false, spawn: false, env: {} });
      expect((await bed.plan().execute("made/plain", 1)).output).to.equal(2);
      expect(globalThis).not.to.have.property("loadedInHost");
    });

    it("refuses a module without a specification", async () => {
      expect(await rejection(bed.runtime.registerModule(fixtureUrl("lifecycle")))).to.include({ code: "INVALID_SPEC" });
      expect(bed.runtime.list()).to.deep.equal([]);
    });

    for (const [what, code, expected] of [
      ["hangs", "await new Promise(() => {}); export const execute = () => 1;", "ACTIVATION_TIMED_OUT"],
      ["spins", "for (;;);", "ACTIVATION_TIMED_OUT"],
      ["ends its thread", "process.exit(0);", "ACTIVATION_FAILED"],
      ["throws", `throw new TypeError("at the top");`, "ACTIVATION_FAILED"],
      ["holds no tool", "", "ACTIVATION_FAILED"],
    ] as const) {
      it(`fails with a ToolActivationError where the module ${what}`, async () => {
        if (expected === "ACTIVATION_TIMED_OUT") bed.open({ activationTimeoutMs: 300 });
        const error = await rejection(bed.runtime.registerModule(folder().write("tool.mjs", code)));
        expect(error).to.be.instanceOf(ToolActivationError).with.property("code", expected);
        expect(error.message).to.contain("tool.mjs");
        expect(bed.runtime.list()).to.deep.equal([]);
      });
    }

    it("keeps `codeFiles` for the cells that run the tool", async () => {
      folder().write("parts/part.mjs", `export const part = "granted";`);
      const path = folder().write(
        "tool.mjs",
        `const name = ["part", "mjs"].join(".");
         const { part } = await import(new URL("./parts/" + name, import.meta.url));
         export const spec = { name: "made/parts", description: "In parts.", inputSchema: {}, capability: { writes: false } };
         export const execute = () => part;`,
      );
      await bed.runtime.registerModule(path, { codeFiles: [folder().join("parts")] });
      expect((await bed.plan().execute("made/parts", {})).output).to.equal("granted");
    });
  });
});
