import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import ts from "typescript";
import { CONFIG_SCHEMA } from "../../src/cli/config.js";
import { builtins, ToolRuntime, validateToolInput } from "../../src/index.js";
import { checkPlan, parsePlan, PlanSource } from "../../src/plan/index.js";
import { complaintsOf, packageFolder, userProgram } from "../types/user-program.js";

/*
 * Every block of code of these pages is checked by its language, and a language that is not known here fails.
 * A block is a module of its own. One that begins with a comment like `// main.mjs` is the file of that name, which
 * others of its page may import. One under `<!-- follows: main.mjs -->` stands at the end of that file, in a scope of
 * its own: it sees what the file declares, and may declare it anew.
 */
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(packageFolder, "docs")).map((name) => `docs/${name}`),
]
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ name, blocks: blocksOf(readFileSync(join(packageFolder, name), "utf8")) }));

/** File endings of what is type-checked. */
const MODULES: Readonly<Record<string, string>> = {
  js: "mjs",
  mjs: "mjs",
  javascript: "mjs",
  ts: "mts",
  typescript: "mts",
};
const DATA = ["json"];
/** Plan files and config files, told apart by the name in their first line. */
const PLANS = ["yaml"];
const COMMANDS = ["sh", "bash"];
/** Figures, and what programs print. */
const TEXTS = ["text"];

/** Plain JavaScript cannot say what a parameter is. */
const IMPLICIT_ANY = [7006, 7031];

interface Line {
  readonly text: string;
  /** In the page, from 1. */
  readonly number: number;
}

interface Block {
  readonly language: string;
  /** Where it begins in the page, from 1. */
  readonly number: number;
  readonly lines: readonly Line[];
  /** The file that it is, by its first comment. */
  readonly file: string | undefined;
  /** The file at whose end it stands. */
  readonly follows: string | undefined;
}

function blocksOf(page: string): Block[] {
  const lines = page.split("\n").map((text, index): Line => ({ text, number: index + 1 }));
  const blocks: Block[] = [];
  let follows: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const { text, number } = lines[at]!;
    const fence = /^ *(`{3,}|~{3,}) *(\S*)/.exec(text);
    if (fence) {
      const length = lines.slice(at + 1).findIndex((line) => line.text.trim() === fence[1]);
      expect(length, `the block in line ${number} has an end`).to.be.at.least(0);
      const inside = lines.slice(at + 1, at + 1 + length);
      const file = /^\/\/ ([\w-]+\.[mc]?[jt]s)\b/.exec(inside[0]?.text ?? "")?.[1];
      blocks.push({ language: fence[2]!, number, lines: inside, file, follows });
      at += length + 1;
    }
    if (fence || text.trim() !== "") follows = /^<!-- follows: (\S+) -->$/.exec(text)?.[1];
  }
  return blocks;
}

const blocksIn = (languages: readonly string[]): { page: string; block: Block; where: string }[] =>
  PAGES.flatMap(({ name, blocks }) =>
    blocks
      .filter(({ language }) => languages.includes(language))
      .map((block) => ({ page: name, block, where: `${name}:${block.number}` })),
  );

/** The lines of a block's module: those of the file that it follows come first, imports before all. */
function moduleOf(page: string, block: Block): readonly Line[] {
  if (block.follows === undefined) return block.lines;
  const before = blocksIn(Object.keys(MODULES)).find((each) => each.page === page && each.block.file === block.follows);
  if (!before) throw new Error(`${page}:${block.number} follows ${block.follows}, which no block of the page is`);
  const [imports, body] = withoutImports(block.lines);
  const brace = (text: string): Line => ({ text, number: block.number });
  return [...imports, ...before.block.lines, brace("{"), ...body, brace("}")];
}

/** Imports stand in lines of their own. */
function withoutImports(lines: readonly Line[]): [imports: Line[], rest: Line[]] {
  const source = ts.createSourceFile("block.ts", lines.map(({ text }) => text).join("\n"), ts.ScriptTarget.Latest);
  const indices = source.statements.filter(ts.isImportDeclaration).flatMap((statement) => {
    const first = source.getLineAndCharacterOfPosition(statement.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(statement.end).line;
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return [lines.filter((_, index) => indices.includes(index)), lines.filter((_, index) => !indices.includes(index))];
}

describe("docs", () => {
  it("every block of code says in which language it is", () => {
    const known = [...Object.keys(MODULES), ...DATA, ...PLANS, ...COMMANDS, ...TEXTS];
    const others = PAGES.flatMap(({ name, blocks }) =>
      blocks
        .filter(({ language }) => !known.includes(language))
        .map(({ language, number }) => `${name}:${number} ${language === "" ? "no language" : language}`),
    );
    expect(others).to.deep.equal([]);
  });

  it("every block of TypeScript and JavaScript compiles against the built package", function () {
    this.timeout(60_000);
    const modules = blocksIn(Object.keys(MODULES)).map(({ page, block }) => {
      const file = block.file ?? `block-${block.number}.${MODULES[block.language]!}`;
      return { page, lines: moduleOf(page, block), path: join(packageFolder, `snippets of ${page}`, file) };
    });
    expect(new Set(modules.map(({ path }) => path)).size, "no two blocks are one file").to.equal(modules.length);
    const text = ({ lines }: { lines: readonly Line[] }): string => lines.map((line) => line.text).join("\n");
    const program = userProgram(packageFolder, new Map(modules.map((each) => [each.path, text(each)])));
    const found = modules.flatMap(({ page, lines, path }) =>
      complaintsOf(program, [path])
        .filter(({ code }) => !(path.endsWith("js") && IMPLICIT_ANY.includes(code)))
        .map(({ line, code, message }) => `${page}:${lines[line - 1]?.number ?? 0} ${message} (TS${code})`),
    );
    expect([...new Set(found)]).to.deep.equal([]);
    expect(modules.map(({ page }) => page)).to.include("README.md");
  });

  it("every block of JSON is JSON", () => {
    for (const { block, where } of blocksIn(DATA)) {
      expect(() => void JSON.parse(block.lines.map(({ text }) => text).join("\n")), where).not.to.throw();
    }
  });

  it("every plan file can be run, and every config file holds its schema", async () => {
    await using runtime = new ToolRuntime({ spareCells: 0 });
    await runtime.use(builtins());
    for (const { block, where } of blocksIn(PLANS)) {
      const text = block.lines.map((line) => line.text).join("\n");
      if (text.startsWith("# toolcell.config")) {
        const config = { name: "config", inputSchema: CONFIG_SCHEMA };
        expect(() => validateToolInput(config, new PlanSource(text).value), where).not.to.throw();
      } else {
        const plan = parsePlan(text, { file: where, folder: packageFolder });
        expect(checkPlan(plan, runtime), where).to.deep.equal([]);
      }
    }
  });

  it("every npm script in a block of commands exists", () => {
    const manifest = readFileSync(join(packageFolder, "package.json"), "utf8");
    const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
    for (const { block, where } of blocksIn(COMMANDS)) {
      for (const { text } of block.lines) {
        for (const [, named, short] of text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)) {
          expect(scripts, where).to.have.property((named ?? short)!);
        }
      }
    }
  });

  it("the README's first program prints what stands beside it", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "toolcell-readme-")));
    try {
      await mkdir(join(folder, "node_modules"));
      await symlink(packageFolder, join(folder, "node_modules/toolcell"), "junction");
      const files = PAGES[0]!.blocks.filter(({ file }) => file?.endsWith(".mjs"));
      for (const { file, lines } of files) {
        await writeFile(join(folder, file!), lines.map(({ text }) => text).join("\n"));
      }
      const program = files.find(({ file }) => file === "main.mjs")!;
      const promised = program.lines.flatMap(({ text }) => /console\.log\(.*\); \/\/ (.*)$/.exec(text)?.[1] ?? []);
      expect(promised).to.have.lengthOf(1);
      // Node hands the folder for coverage on to every child whose environment does not name it.
      const env = { ...process.env, NODE_V8_COVERAGE: undefined };
      const { stdout } = await promisify(execFile)(process.execPath, ["main.mjs"], {
        cwd: folder,
        env,
        timeout: 15_000,
      });
      expect(stdout.trimEnd().split("\n")).to.deep.equal(promised);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
