import { availableParallelism } from "node:os";
import { expect } from "chai";
import pLimit from "p-limit";
import { builtins, ToolRuntime } from "../../src/index.js";
import { checkPlan, parsePlan, runPlan } from "../../src/plan/index.js";
import { PLANS, textOf } from "./block.js";
import { EXAMPLES } from "./example.js";
import { PageFolder } from "./page-folder.js";
import { blocksIn, modulesIn, PAGES, type Module, type Page } from "./page.js";
import { holds, promisedBy } from "./promised.js";

/*
 * Every module of a page runs in a process of its own, in a folder with the page's files, and ends by itself with exit
 * code 0. What stands behind `// →` is what the line prints; nothing else may come on stderr. A block that nobody can
 * run here says why: `<!-- not run: reason -->`.
 */
const limit = pLimit(availableParallelism());

/** What is wrong with a program's run. */
async function problemOf(folder: PageFolder, module: Module): Promise<string[]> {
  const { exit, stdout, stderr } = await limit(() => folder.run(module));
  const promised = promisedBy(module.lines);
  const asPromised = exit === 0 && holds(promised, stdout) && stderr.join("\n") === promised.stderr.join("\n");
  if (asPromised) return [];
  const said = ["stdout:", ...stdout, "stderr:", ...stderr].join("\n");
  return [`${module.where} ended with ${exit}; promised: ${JSON.stringify(promised)}\n${said}`];
}

async function problemsOf(page: Page): Promise<string[]> {
  const modules = modulesIn([page]).filter(({ block }) => block.notRun === undefined);
  if (modules.length === 0) return [];
  await using folder = await PageFolder.make(page);
  return (await Promise.all(modules.map((module) => problemOf(folder, module)))).flat();
}

describe("programs of the docs", () => {
  for (const page of PAGES.filter((each) => modulesIn([each]).length > 0)) {
    it(`those of ${page.name} print what they say`, async function () {
      this.timeout(120_000);
      expect(await problemsOf(page)).to.deep.equal([]);
    });
  }

  it("every plan file runs to its end", async () => {
    await using runtime = new ToolRuntime({ spareCells: 0 });
    await runtime.use(builtins());
    // A plan that requires checkpoints has none here.
    runtime.on("warning", ({ code }) => expect(code).to.equal("NO_CHECKPOINTS"));
    for (const { page, block, where } of blocksIn(PAGES, PLANS)) {
      if (block.file?.startsWith("toolcell.config.") === true) continue;
      await using folder = await PageFolder.make(page);
      const plan = parsePlan(textOf(block.lines), { file: where, folder: folder.path });
      expect(checkPlan(plan, runtime), where).to.deep.equal([]);
      if (block.notRun !== undefined) continue;
      const { outcome, steps } = await runPlan(runtime, plan);
      expect(outcome, `${where} ${JSON.stringify(steps)}`).to.equal("ok");
    }
  });

  it("at most one block of a page cannot be run", () => {
    const many = PAGES.filter(({ blocks }) => blocks.filter(({ notRun }) => notRun !== undefined).length > 1);
    expect(many.map(({ name }) => name)).to.deep.equal([]);
  });
});

describe("programs of the examples of the source", () => {
  for (const path of new Set(EXAMPLES.map((example) => example.path))) {
    it(`those of ${path} print what they say`, async function () {
      this.timeout(120_000);
      const examples = EXAMPLES.filter((example) => example.path === path);
      expect((await Promise.all(examples.map(problemsOf))).flat()).to.deep.equal([]);
    });
  }
});
