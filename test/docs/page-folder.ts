/** A user's project with a page's files in it, where its programs run. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { packageFolder } from "../types/user-program.js";
import { MODULES, textOf, type Line } from "./block.js";
import { modulesIn, PAGES, type Module, type Page } from "./page.js";

/** Milliseconds that a program of a page may take. */
const TIMEOUT_MS = 60_000;

/** What a program left. */
export interface ProgramRun {
  /** Its exit code, or the signal that ended it. */
  readonly exit: number | string;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

/** A folder with `package.json`, `README.md` and `docs/`, in which `toolcell` and TypeBox are installed. */
export class PageFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes it, with the files that the page's blocks are. */
  static async make(page: Page): Promise<PageFolder> {
    const folder = new PageFolder(await realpath(await mkdtemp(join(tmpdir(), "toolcell-docs-"))));
    const installed = join(folder.path, "node_modules");
    await mkdir(installed);
    await symlink(packageFolder, join(installed, "toolcell"), "junction");
    await symlink(
      await realpath(join(packageFolder, "node_modules/@sinclair")),
      join(installed, "@sinclair"),
      "junction",
    );
    await mkdir(join(folder.path, "docs"));
    for (const { path } of PAGES) await copyFile(join(packageFolder, path), join(folder.path, path));
    await writeFile(join(folder.path, "package.json"), '{ "name": "project", "private": true, "type": "module" }\n');
    for (const { file, lines } of page.blocks.filter(({ language }) => !(language in MODULES))) {
      if (file !== undefined) await folder.#write(file, textOf(lines));
    }
    for (const { file, lines } of modulesIn([page])) await folder.#write(scriptOf(file), javaScriptOf(file, lines));
    return folder;
  }

  /** Runs a module of the page. */
  run({ file }: Module): Promise<ProgramRun> {
    return this.execute(process.execPath, [scriptOf(file)]);
  }

  /** Runs a command in the folder. */
  execute(command: string, words: readonly string[]): Promise<ProgramRun> {
    // Node hands the folder for coverage on to every child whose environment does not name it. Colours are no text.
    const env = { ...process.env, NODE_V8_COVERAGE: undefined, FORCE_COLOR: undefined };
    const options = { cwd: this.path, env, timeout: TIMEOUT_MS, killSignal: "SIGKILL" } as const;
    return new Promise((resolve) => {
      const child = execFile(command, words, options, (error, stdout, stderr) => {
        const exit = error === null ? 0 : (child.signalCode ?? child.exitCode ?? String(error.code));
        resolve({ exit, stdout: printedLines(stdout), stderr: printedLines(stderr) });
      });
      child.stdin?.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  #write(file: string, text: string): Promise<void> {
    return writeFile(join(this.path, file), `${text}\n`);
  }
}

/** What `import` finds: that a module is written in TypeScript is its author's affair. */
function scriptOf(file: string): string {
  return file.replace(/ts$/, "js");
}

function javaScriptOf(file: string, lines: readonly Line[]): string {
  if (file.endsWith("js")) return textOf(lines);
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(textOf(lines), { compilerOptions }).outputText;
}

function printedLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
