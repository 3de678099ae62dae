import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);
const checkout = fileURLToPath(new URL("../../../", import.meta.url));

const TOOL = `
import { Type } from "@sinclair/typebox";
import { defineTool } from "toolcell/tool";

export default defineTool(import.meta.url, {
  name: "acme/word-count",
  description: "Counts the words of a text.",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ words: Type.Integer() }),
  capability: { writes: false },
  async execute(input, context) {
    context.cancellationToken.check();
    return { words: input.text.split(/\\s+/).filter(Boolean).length };
  },
});
`;

const PROGRAM = `
import { ToolRuntime } from "toolcell";

const runtime = new ToolRuntime();
await runtime.registerModule(new URL("./word-count.mjs", import.meta.url), { capability: { writes: false } });
const plan = runtime.plan({ planId: "p1" });
const result = await plan.execute("acme/word-count", { text: "a b c" });
console.log(JSON.stringify({ ok: result.success, output: result.output, tier: result.trace.cell.tier }));
await runtime.close();
`;

describe("the package", function () {
  this.timeout(120_000);

  let folder: string;

  before(async () => {
    // The space is on purpose: paths travel through URLs, permission flags and worker options.
    folder = await realpath(await mkdtemp(join(tmpdir(), "toolcell install ")));
  });

  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  describe("packed and installed", () => {
    let project: string;

    before(async () => {
      project = await createProject(join(folder, "installed project"));
      await npm(["pack", "--ignore-scripts", "--pack-destination", folder], checkout);
      const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
      expect(tarball, "npm pack wrote a tarball").to.be.a("string");
      await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", join(folder, tarball!)], project);
    });

    it("ships the compiled package and nothing of the workshop", async () => {
      const installed = join(project, "node_modules/toolcell");
      expect(await readdir(installed)).to.include.members(["LICENSE", "package.json"]);
      expect(await readdir(join(installed, "dist"))).to.have.members(["src", "tools", "workers"]);
      expect(await readdir(join(installed, "dist/workers"))).to.include("host.cjs");
    });

    it("imports by its entries", () => importsByItsEntries(project));

    it("runs a tool in a cell", () => runsTool(project));
  });

  describe("linked from a checkout", () => {
    let project: string;

    before(async () => {
      project = await createProject(join(folder, "linked project"));
      await link(checkout, join(project, "node_modules/toolcell"));
      const schemas = "node_modules/@sinclair/typebox";
      await link(join(checkout, schemas), join(project, schemas));
    });

    it("imports by its entries", () => importsByItsEntries(project));

    it("runs a tool in a cell", () => runsTool(project));
  });
});

async function importsByItsEntries(project: string): Promise<void> {
  const names = `
    const [root, tool] = await Promise.all([import("toolcell"), import("toolcell/tool")]);
    console.log(JSON.stringify([typeof root.ToolRuntime, typeof tool.defineTool]));
  `;
  expect(JSON.parse(await node(["--input-type=module", "--eval", names], project))).to.deep.equal([
    "function",
    "function",
  ]);
}

async function runsTool(project: string): Promise<void> {
  const printed = await node(["program.mjs"], project);
  expect(JSON.parse(printed)).to.deep.equal({ ok: true, output: { words: 3 }, tier: "thread" });
}

async function createProject(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  const manifest = { name: "project", version: "1.0.0", private: true, type: "module" };
  await writeFile(join(path, "package.json"), JSON.stringify(manifest));
  await writeFile(join(path, "word-count.mjs"), TOOL);
  await writeFile(join(path, "program.mjs"), PROGRAM);
  return path;
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path, "junction");
}

async function node(args: string[], cwd: string): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd, env: environment(), timeout: 30_000 });
  return stdout;
}

async function npm(args: string[], cwd: string): Promise<void> {
  const cli = process.env["npm_execpath"];
  const [command, given] = cli ? [process.execPath, [cli, ...args]] : ["npm", args];
  await run(command, given, { cwd, env: environment() });
}

/** Our own, without what npm tells its scripts about the checkout and without the collection of coverage. */
function environment(): NodeJS.ProcessEnv {
  const { INIT_CWD, npm_config_local_prefix, ...rest } = process.env;
  // Node hands the folder for coverage on to every child whose environment does not name it.
  return { ...rest, NODE_V8_COVERAGE: undefined };
}
