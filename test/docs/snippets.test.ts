import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { CONFIG_SCHEMA } from "../../src/cli/config.js";
import * as toolcell from "../../src/index.js";
import * as plans from "../../src/plan/index.js";
import * as tools from "../../src/tool.js";
import { complaintsOf, packageFolder, userProgram } from "../types/user-program.js";
import { COMMANDS, DATA, MODULES, PLANS, textOf, TEXTS } from "./block.js";
import { EXAMPLES } from "./example.js";
import { blocksIn, modulesIn, PAGES } from "./page.js";

/*
 * Every block of code of the pages and of the source's examples is checked by its language, and a language that is not
 * known here fails. A block is a module of its own. One that begins with a comment like `// main.mjs` is the file of
 * that name, which others of its page may import. One under `<!-- follows: main.mjs -->` belongs to the end of that file.
 */
const ALL = [...PAGES, ...EXAMPLES];

/** Plain JavaScript cannot say what a parameter is. */
const IMPLICIT_ANY = [7006, 7031];

describe("docs", () => {
  it("every block of code says in which language it is", () => {
    const known = [...Object.keys(MODULES), ...DATA, ...PLANS, ...COMMANDS, ...TEXTS];
    const others = ALL.flatMap(({ path, blocks }) =>
      blocks
        .filter(({ language }) => !known.includes(language))
        .map(({ language, number }) => `${path}:${number} ${language === "" ? "no language" : language}`),
    );
    expect(others).to.deep.equal([]);
  });

  it("every block of TypeScript and JavaScript compiles against the built package", function () {
    this.timeout(60_000);
    const modules = modulesIn(ALL).map((each) => ({
      ...each,
      path: join(packageFolder, `snippets of ${each.page.name}`, each.file),
    }));
    expect(new Set(modules.map(({ path }) => path)).size, "no two blocks are one file").to.equal(modules.length);
    const program = userProgram(packageFolder, new Map(modules.map(({ path, lines }) => [path, textOf(lines)])));
    const found = modules.flatMap(({ page, lines, path }) =>
      complaintsOf(program, [path])
        .filter(({ code }) => !(path.endsWith("js") && IMPLICIT_ANY.includes(code)))
        .map(({ line, code, message }) => `${page.path}:${lines[line - 1]?.number ?? 0} ${message} (TS${code})`),
    );
    expect([...new Set(found)]).to.deep.equal([]);
    expect(modules.map(({ page }) => page.path)).to.include.members(["README.md", "src/tool.ts"]);
  });

  it("every block of JSON is JSON", () => {
    for (const { block, where } of blocksIn(ALL, DATA)) {
      expect(() => void JSON.parse(textOf(block.lines)), where).not.to.throw();
    }
  });

  it("every config file holds its schema", () => {
    for (const { block, where } of blocksIn(PAGES, PLANS)) {
      if (block.file?.startsWith("toolcell.config.") !== true) continue;
      const config = { name: "config", inputSchema: CONFIG_SCHEMA };
      const { value } = new plans.PlanSource(textOf(block.lines));
      expect(() => toolcell.validateToolInput(config, value), where).not.to.throw();
    }
  });

  it("every npm script in a block of commands exists", () => {
    const manifest = readFileSync(join(packageFolder, "package.json"), "utf8");
    const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
    for (const { block, where } of blocksIn(PAGES, COMMANDS)) {
      for (const { text } of block.lines) {
        for (const [, named, short] of text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)) {
          expect(scripts, where).to.have.property((named ?? short)!);
        }
      }
    }
  });
});

describe("examples of the source", () => {
  /** What a user calls, but for errors, which a user catches. */
  const exported = Object.entries({ ...toolcell, ...tools, ...plans })
    .filter(([, value]) => typeof value === "function" && !((value.prototype as unknown) instanceof Error))
    .map(([name]) => name);
  const members = [
    ..."register registerModule use discover plan activate execute deactivatePlan calls on close"
      .split(" ")
      .map((name) => `ToolRuntime.${name}`),
    ..."resource cancellationToken log".split(" ").map((name) => `ToolActivationContext.${name}`),
    ..."progress recordChange reportCost call".split(" ").map((name) => `ToolContext.${name}`),
    "CancellationToken.from",
    "Plan.execute",
    "executeChannel",
  ];

  it("every function and class that users call has one, and so have the members that they begin with", () => {
    expect(EXAMPLES.map(({ symbol }) => symbol)).to.include.members([...exported, ...members]);
  });

  it("each is code", () => {
    const without = EXAMPLES.filter(({ blocks }) => blocks.length === 0).map(({ name }) => name);
    expect(without).to.deep.equal([]);
  });
});
