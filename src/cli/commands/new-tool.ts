/** `toolcell new tool NAME`: a typed tool with a test that passes at once, entered in the config. */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { isPlainConfig, loadConfig } from "../config.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

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
  const files = new Map([
    [join(folder, `${base}.${ending}`), toolText(full, options.ts ?? false)],
    [join(folder, `${base}.test.${ending}`), testText(full, base, ending)],
  ]);
  for (const path of files.keys()) {
    if (await exists(path)) throw new UsageError(`${relative(cwd, path)} is there already.`);
  }
  await mkdir(folder, { recursive: true });
  for (const [path, text] of files) {
    await writeFile(path, text, { flag: "wx" });
    terminal.note(`created ${relative(cwd, path)}`);
  }
  await enterInConfig(terminal, cwd, join(folder, `${base}.${ending}`));
  lookForTypeBox(terminal, cwd);
  terminal.note("");
  terminal.note(`try it:   npx toolcell call ${full} --text "one two three"`);
  terminal.note(`test it:  node --test ${relative(cwd, join(folder, `${base}.test.${ending}`))}`);
  return EXIT.ok;
}

/** Whether the nearest package.json upwards makes `.js` files ES modules. */
async function isModulePackage(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const text = await readFile(join(at, "package.json"), "utf8").catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { type?: unknown }).type === "module";
    if (dirname(at) === at) return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function enterInConfig(terminal: Terminal, cwd: string, module: string): Promise<void> {
  const config = await loadConfig(cwd, undefined);
  const file = config.file ?? join(cwd, "toolcell.config.json");
  const written = `./${relative(dirname(file), module).replaceAll("\\", "/")}`;
  if (config.modules.some((each) => each.module === module)) return;
  if (!isPlainConfig(file)) {
    terminal.note(`add ${JSON.stringify(written)} to \`modules\` of ${relative(cwd, file)}`);
    return;
  }
  const before = config.file === undefined ? {} : (JSON.parse(await readFile(file, "utf8")) as { modules?: unknown[] });
  const after = { ...before, modules: [...(before.modules ?? []), written] };
  await writeFile(file, `${JSON.stringify(after, undefined, 2)}\n`);
  terminal.note(`${config.file === undefined ? "created" : "changed"} ${relative(cwd, file)}`);
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

function toolText(name: string, typescript: boolean): string {
  const check = typescript ? "" : "// @ts-check\n";
  return `${check}import { defineTool } from "toolcell/tool";
import { Type } from "@sinclair/typebox";

export default defineTool(import.meta.url, {
  name: "${name}",
  description: "Counts the words of a text.",
  inputSchema: Type.Object({
    text: Type.String({ description: "What to count in." }),
  }),
  outputSchema: Type.Object({ words: Type.Integer() }),
  // It only computes: it may run in a read-only plan, and in several cells at once.
  capability: { writes: false, stateless: true, idempotent: true },
  execute({ text }, context) {
    context.cancellationToken.check();
    return { words: text.split(/\\s+/).filter((word) => word !== "").length };
  },
});
`;
}

function testText(name: string, base: string, ending: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolRuntime } from "toolcell";
import tool from "./${base}.${ending}";

test("${name} counts words, in a cell of its own", async () => {
  const runtime = new ToolRuntime({ spareCells: 0 });
  try {
    runtime.register(tool);
    const plan = runtime.plan({ planId: "test", readOnly: true });
    const result = await plan.execute(tool, { text: "one two  three" });
    assert.deepEqual(result.output, { words: 3 });
    assert.equal(result.trace.cell?.tier, "thread");
  } finally {
    await runtime.close();
  }
});
`;
}
