import { mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { ToolRuntimeError } from "../../src/protocol/errors.js";
import { moduleUrl, type ToolExecutor } from "../../src/runtime/tool-executor.js";
import { ToolRegistry } from "../../src/runtime/tool-registry.js";
import { isToolcellError, thrownBy } from "../support/outcomes.js";
import { specOf } from "../support/runtimes.js";
import { WRONG_VALUES } from "../support/wrong-values.js";

describe("runtime/tool-executor", () => {
  it("register() refuses what is no implementation", () => {
    const wrong: readonly unknown[] = [
      ...WRONG_VALUES.map(([, value]) => value),
      { module: 5 },
      { module: null },
      { instance: null },
      { instance: {} },
      { instance: { execute: "text" } },
      { execute: "text" },
      { execute: null },
    ];
    const registry = new ToolRegistry();
    for (const executor of wrong) {
      const error = thrownBy(() => registry.register(specOf("acme/tool"), executor as ToolExecutor));
      expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_ARGUMENT");
    }
    expect(registry.list()).to.deep.equal([]);
  });

  for (const [label, options] of [
    ["maxCells: 0", { maxCells: 0 }],
    ["maxCells: 1.5", { maxCells: 1.5 }],
    ["maxCells: text", { maxCells: "2" }],
    ["maxCells: null", { maxCells: null }],
    ["code: a number", { codeFiles: 5 }],
    ["code: a list of numbers", { codeFiles: [5] }],
    ["code: a text", { codeFiles: "folder" }],
    ["trusted: a text", { trusted: "no" }],
    ["capability: null", { capability: null }],
    ["capability: unknown", { capability: { write: true } }],
    ["an option of no known name", { trustd: true }],
  ] as const) {
    it(`register() refuses ${label} with a typed error and keeps nothing`, () => {
      const registry = new ToolRegistry();
      const executor = { module: "./tool.js", ...options } as unknown as ToolExecutor;
      const error = thrownBy(() => registry.register(specOf("acme/tool"), executor));
      expect(isToolcellError(error), String(error)).to.equal(true);
      expect(registry.list()).to.deep.equal([]);
      registry.register(specOf("acme/tool"), { execute: () => 1 });
    });
  }

  for (const absent of ["module", "instance"] as const) {
    it(`register() takes { ${absent}: undefined, execute } for { execute }`, () => {
      const registry = new ToolRegistry();
      const executor = { [absent]: undefined, execute: () => "from execute" } as unknown as ToolExecutor;
      registry.register(specOf("acme/tool"), executor);
      const source = registry.registration("acme/tool")?.source;
      if (source?.kind !== "object") throw new Error(`expected the function, got ${source?.kind}`);
      expect(source.implementation.execute(undefined as never, undefined as never)).to.equal("from execute");
    });
  }

  it("registration() calls an instance as a method of itself", async () => {
    class Counter {
      #count = 0;
      activate() {
        this.#count += 1;
      }
      execute() {
        return ++this.#count;
      }
      deactivate() {
        this.#count = 0;
      }
    }
    const registry = new ToolRegistry();
    registry.register(specOf("acme/counter"), { instance: new Counter() });
    const source = registry.registration("acme/counter")?.source;
    if (source?.kind !== "object") throw new Error("expected an object");
    await source.implementation.activate?.(undefined as never);
    expect(await source.implementation.execute(undefined as never, undefined as never)).to.equal(2);
  });

  describe("moduleUrl()", () => {
    let root: string;

    before(async () => {
      root = await realpath(await mkdtemp(join(tmpdir(), "toolcell-registry-")));
      await writeFile(join(root, "tool file.js"), "");
      await symlink("tool file.js", join(root, "link.js"));
    });

    after(() => rm(root, { recursive: true, force: true }));

    it("takes a URL, its text, or a path, and gives the real path's URL", () => {
      const url = pathToFileURL(join(root, "tool file.js"));
      for (const module of [
        url,
        url.href,
        join(root, "tool file.js"),
        join(root, "link.js"),
        join(root, ".", "link.js"),
      ]) {
        expect(moduleUrl("acme/tool", module)).to.equal(url.href);
      }
    });

    it("takes a path from the current directory", () => {
      expect(moduleUrl("acme/tool", "some/tool.js")).to.match(/^file:\/\/.*\/some\/tool\.js$/);
    });

    it("refuses what is no file with a typed error", () => {
      const wrong = [
        "https://example.org/tool.js",
        "http:tool.js",
        "data:text/javascript,export const execute = 1",
        "node:fs",
        "blob:nothing",
      ];
      for (const module of wrong) {
        const error = thrownBy(() => moduleUrl("acme/tool", module));
        expect(error, module).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_ARGUMENT");
      }
    });

    it("refuses a file URL that names no file of this host with a typed error", () => {
      for (const module of ["file://example.org/tool.js", "file:///a%2Fb.js"]) {
        const error = thrownBy(() => moduleUrl("acme/tool", module));
        expect(isToolcellError(error), `${module}: ${String(error)}`).to.equal(true);
      }
    });
  });
});
