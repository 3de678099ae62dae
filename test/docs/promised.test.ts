import { expect } from "chai";
import { blocksOf, linesOf } from "./block.js";
import { PageFolder } from "./page-folder.js";
import { modulesIn } from "./page.js";
import { holds, promisedBy } from "./promised.js";

const page = (...lines: string[]) => ({ name: "page", path: "page.md", blocks: blocksOf(linesOf(lines.join("\n"))) });

describe("promisedBy()", () => {
  it("tells apart what goes to stdout and what to stderr", () => {
    const lines = linesOf("console.log(1); // → 1\nconsole.error(\n  2,\n); // → 2\nconsole.log(3); // a remark");
    expect(promisedBy(lines)).to.deep.equal({ stdout: ["1"], stderr: ["2"], more: true });
  });
});

describe("holds()", () => {
  it("wants every line and no other where a program says all that it prints", () => {
    const promised = { stdout: ["a", "b"], stderr: [], more: false };
    expect([["a", "b"], ["a"], ["b", "a"], ["a", "b", "c"]].map((printed) => holds(promised, printed))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });

  it("wants the lines in their order where a program prints more than it says", () => {
    const promised = { stdout: ["a", "b"], stderr: [], more: true };
    expect([["0", "a", "1", "b"], ["b", "a"], []].map((printed) => holds(promised, printed))).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
});

describe("blocksOf()", () => {
  it("reads the file that a block is, the one that it follows, and why it is not run", () => {
    const { blocks } = page(
      "```yaml",
      "# plan.yaml",
      "```",
      "<!-- follows: main.mjs -->",
      "",
      "```ts",
      "```",
      "<!-- not run: it needs a signal -->",
      "```js",
      "```",
    );
    expect(blocks.map(({ file, follows, notRun }) => ({ file, follows, notRun }))).to.deep.equal([
      { file: "plan.yaml", follows: undefined, notRun: undefined },
      { file: undefined, follows: "main.mjs", notRun: undefined },
      { file: undefined, follows: undefined, notRun: "it needs a signal" },
    ]);
  });
});

describe("PageFolder", () => {
  it("run() runs a block that follows another before the runtime is closed, and tells how it ended", async () => {
    const made = page(
      "```js",
      "// main.mjs",
      "const runtime = { close: async () => console.log('closed') };",
      "await runtime.close();",
      "```",
      "<!-- follows: main.mjs -->",
      "```ts",
      "const text: string = typeof runtime;",
      "console.log(text);",
      "```",
      "```js",
      "console.error('no');",
      "process.exit(3);",
      "```",
    );
    await using folder = await PageFolder.make(made);
    const runs = [];
    for (const module of modulesIn([made])) runs.push(await folder.run(module));
    expect(runs).to.deep.equal([
      { exit: 0, stdout: ["closed"], stderr: [] },
      { exit: 0, stdout: ["object", "closed"], stderr: [] },
      { exit: 3, stdout: [], stderr: ["no"] },
    ]);
  });
});
