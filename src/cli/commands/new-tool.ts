/** `toolcell new tool NAME`: a typed tool with a test that passes at once, entered in the config. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join, relative, resolve } from "node:path";
import { loadConfig } from "../config.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { parseJson } from "../json-text.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { isThere, NewFiles } from "./new-files.js";
import { testText, toolText } from "./tool-files.js";

/** Options of the command. */
export interface NewToolOptions {
  readonly ts?: boolean;
  readonly folder?: string;
}

/** Namespace of a name that has none. */
const NAMESPACE = "my";

export async function newTool(terminal: Terminal, name: string, options: NewToolOptions): Promise<ExitCode> {
  const full = name.includes("/") ? name : `${NAMESPACE}/${name}`;
  if (!/^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/.test(full)) {
    throw new UsageError(`"${name}" is no name for a tool; write it as word-count or acme/word-count.`);
  }
  const { cwd } = terminal.host;
  const folder = resolve(cwd, options.folder ?? "tools");
  const base = full.slice(full.indexOf("/") + 1);
  // The tool is an ES module; by its name alone it is one only where the package says so.
  const ending = `${(await isModulePackage(folder)) ? "" : "m"}${options.ts ? "ts" : "js"}`;
  const [tool, test] = [join(folder, `${base}.${ending}`), join(folder, `${base}.test.${ending}`)];
  for (const path of [tool, test]) {
    if (await isThere(path)) throw new UsageError(`${relative(cwd, path)} is there already.`);
  }
  const entry = await configEntry(cwd, tool);
  await written(cwd, async (files) => {
    await files.folder(folder);
    await files.file(tool, toolText(full, options.ts ?? false));
    await files.file(test, testText(full, base, ending));
    if (entry.text !== undefined) await files.replace(entry.file, entry.text);
  });
  for (const path of [tool, test]) terminal.note(`created ${relative(cwd, path)}`);
  if (entry.note !== undefined) terminal.note(entry.note);
  lookForTypeBox(terminal, cwd);
  terminal.note("");
  terminal.note(`try it:   npx toolcell call ${full} --text "one two three"`);
  terminal.note(`test it:  node --test ${shellWord(relative(cwd, test))}`);
  return EXIT.ok;
}

/** Does it all, or leaves nothing behind. */
async function written(cwd: string, work: (files: NewFiles) => Promise<void>): Promise<void> {
  await using files = new NewFiles();
  try {
    await work(files);
    files.keep();
  } catch (error) {
    const { code, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
    const place = dest ?? path;
    if (code === undefined || place === undefined) throw error;
    const near = relative(cwd, place);
    throw new UsageError(
      `${near === "" || near.startsWith("..") ? place : near} cannot be made (${code}); nothing was changed.`,
    );
  }
}

/** Whether the nearest package.json upwards makes `.js` files ES modules. */
async function isModulePackage(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, "package.json");
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return (parseJson(text, file) as { type?: unknown } | null)?.type === "module";
    if (dirname(at) === at) return false;
  }
}

/** What becomes of the config. */
interface ConfigEntry {
  readonly file: string;
  /** What it is to hold; absent where it stays as it is. */
  readonly text?: string;
  /** What to tell. */
  readonly note?: string;
}

/** How the tool gets into the config. */
async function configEntry(cwd: string, module: string): Promise<ConfigEntry> {
  const config = await loadConfig(cwd, undefined);
  const file = config.file ?? join(cwd, "toolcell.config.json");
  const path = `./${relative(dirname(file), module).replaceAll("\\", "/")}`;
  if (config.modules.some((each) => each.module === module)) return { file };
  const before = config.file === undefined ? {} : await plainConfig(config.file);
  // A program, YAML, and JSON with what only YAML knows: written anew they would lose what they are.
  if (!before) return { file, note: `add ${JSON.stringify(path)} to \`modules\` of ${relative(cwd, file)}` };
  const after = { ...before, modules: [...(before.modules ?? []), path] };
  return {
    file,
    text: `${JSON.stringify(after, undefined, 2)}\n`,
    note: `${config.file === undefined ? "created" : "changed"} ${relative(cwd, file)}`,
  };
}

/** A config that is JSON to the letter, which a program can add to. */
async function plainConfig(file: string): Promise<{ modules?: unknown[] } | undefined> {
  if (extname(file) !== ".json") return undefined;
  try {
    return parseJson(await readFile(file, "utf8"), file) as { modules?: unknown[] };
  } catch {
    return undefined;
  }
}

/** The tool imports TypeBox from where it stands, which strict package managers allow only for what a project names itself. */
function lookForTypeBox(terminal: Terminal, cwd: string): void {
  const require = createRequire(join(cwd, "package.json"));
  for (const name of ["toolcell/tool", "@sinclair/typebox"]) {
    try {
      require.resolve(name);
    } catch (error) {
      // A package of ES modules alone is there too.
      if ((error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED") continue;
      terminal.note(`first:    npm install ${name.replace("/tool", "")}`);
    }
  }
}

/** A path as one word of a command line of sh. */
function shellWord(path: string): string {
  const word = path.startsWith("-") ? `./${path}` : path;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
