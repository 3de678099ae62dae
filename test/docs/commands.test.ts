import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { expect } from "chai";
import { buildProgram } from "../../src/cli/program.js";
import { Terminal } from "../../src/cli/terminal.js";
import { packageFolder } from "../types/user-program.js";
import { COMMANDS, linesOf, textOf } from "./block.js";
import { PageFolder } from "./page-folder.js";
import { blocksIn, PAGES, type Page, type Placed } from "./page.js";

/** Behind whose first operand everything belongs to a tool. */
const TAKES_INPUT = ["call", "bench"];

/** What takes no more than a moment, and stays in its folder. */
const DONE = /^(echo|npx toolcell (list|describe|call|run|new|doctor)) /;
/** In place of npm's, which looks for the command over and over. */
const NPX = `npx() { shift; "${process.execPath}" "${join(packageFolder, "dist/src/cli/main.js")}" "$@"; }`;
/** The plan that commands name. */
const PLAN_FILES = PAGES.flatMap(({ blocks }) => blocks.filter(({ file }) => file === "plan.yaml"));

function isDone({ block }: Placed): boolean {
  return block.notRun === undefined && block.lines.every(({ text }) => DONE.test(`${text} `));
}

function program(): Command {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  return buildProgram(new Terminal({ cwd: packageFolder, env: {}, ...streams }), "0", () => undefined);
}

/** What of a command line does not exist. */
function unknownIn(line: string): string | undefined {
  let command = program();
  let operands = 0;
  const words = line.split(/\s+/);
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (/^[|<>&;]/.test(word) || (operands > 0 && TAKES_INPUT.includes(command.name()))) return undefined;
    if (word.startsWith("-") && word !== "-") {
      if (/^(-h|--help|-V|--version)$/.test(word)) continue;
      const option = command.options.find(({ short, long }) => word === short || word === long);
      if (!option) return `${command.name()} has no option ${word}`;
      if (option.required) at++;
      continue;
    }
    const next = command.commands.find((each) => each.name() === word);
    if (next) command = next;
    else if (command.commands.length > 0 && word !== "help") return `${command.name()} has no command ${word}`;
    else operands++;
    if (word === "help") return undefined;
  }
  return command.commands.length > 0 && words.length > 0 ? `${command.name()} wants a command` : undefined;
}

/** The command lines in a page's blocks, and those within its text. */
function commandLines({ path }: Page): { line: string; where: string }[] {
  return linesOf(readFileSync(join(packageFolder, path), "utf8")).flatMap(({ text, number }) =>
    [/^npx toolcell ([^#]*)/g, /`(?:npx )?toolcell ([a-z][^`]*)`/g].flatMap((pattern) =>
      [...text.matchAll(pattern)].map(([, line]) => ({ line: line!.trim(), where: `${path}:${number}` })),
    ),
  );
}

describe("commands of the docs", () => {
  it("every `npx toolcell` names a command and options that exist", () => {
    const lines = PAGES.flatMap(commandLines);
    expect(lines).not.to.deep.equal([]);
    const unknown = lines.flatMap(({ line, where }) => unknownIn(line)?.replace(/^/, `${where} `) ?? []);
    expect(unknown).to.deep.equal([]);
  });

  for (const { page, blocks } of PAGES.map((each) => ({
    page: each,
    blocks: blocksIn([each], COMMANDS).filter(isDone),
  }))) {
    if (blocks.length === 0) continue;
    it(`those of ${page.name} are done`, async function () {
      this.timeout(120_000);
      await using folder = await PageFolder.make({ ...page, blocks: PLAN_FILES });
      for (const { block, where } of blocks) {
        const { exit, stderr } = await folder.execute("sh", ["-e", "-c", `${NPX}\n${textOf(block.lines)}`]);
        expect(exit, `${where}\n${stderr.join("\n")}`).to.equal(0);
      }
    });
  }
});
