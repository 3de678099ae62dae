import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { expect } from "chai";
import { complaintsOf, packageFolder, userProgram } from "./user-program.js";

/** One tool of many kinds of schemas, each type said by hand; `TYPEBOX` is the copy that its schemas are of. */
const TOOL = `
import { Type } from "TYPEBOX";
import { ToolRuntime, type ToolResult } from "toolcell";
import { defineTool, toolError, toolResult, type DefinedTool, type Infer } from "toolcell/tool";

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

interface Input {
  path: string;
  lines?: number;
  mode: "fast" | "exact";
  marks: { at: number; text: string | null }[];
  labels: Record<string, string>;
  span: [number, number];
}
interface Output {
  words: number;
}

const inputSchema = Type.Object({
  path: Type.String({ minLength: 1 }),
  lines: Type.Optional(Type.Integer()),
  mode: Type.Union([Type.Literal("fast"), Type.Literal("exact")]),
  marks: Type.Array(Type.Object({ at: Type.Number(), text: Type.Union([Type.String(), Type.Null()]) })),
  labels: Type.Record(Type.String(), Type.String()),
  span: Type.Tuple([Type.Number(), Type.Number()]),
});
const outputSchema = Type.Object({ words: Type.Integer() });
true satisfies Same<Infer<typeof inputSchema>, Input>;

const tool = defineTool(import.meta.url, {
  name: "acme/words",
  description: "Counts words.",
  inputSchema,
  outputSchema,
  async execute(input, context) {
    true satisfies Same<typeof input, Input>;
    // @ts-expect-error The schema has no such field.
    input.file;
    if (input.mode === "fast") return toolError({ code: "TOO_FAST", message: context.callId });
    return input.lines === undefined ? { words: 0 } : toolResult({ output: { words: input.lines } });
  },
});
export default tool;
true satisfies Same<typeof tool, DefinedTool<typeof inputSchema, typeof outputSchema>>;

defineTool({
  name: "acme/wrong",
  description: "Answers with a text.",
  inputSchema,
  outputSchema,
  // @ts-expect-error The output breaks the schema.
  execute: () => "seven",
});

const open = defineTool({ name: "acme/open", description: "Answers with anything.", inputSchema, execute: () => 7 });

const runtime = new ToolRuntime();
runtime.register(tool);
const plan = runtime.plan({ planId: "p" });
const input: Input = { path: "a", mode: "exact", marks: [], labels: {}, span: [0, 1] };
const result = await plan.execute(tool, input);
true satisfies Same<typeof result, ToolResult<Output>>;
if (result.success) result.output.words.toFixed();
true satisfies Same<typeof result.output, Output | undefined>;
true satisfies Same<Awaited<ReturnType<typeof plan.execute<typeof inputSchema, true>>>, ToolResult>;
const other = await runtime.execute(open, input, plan.context);
true satisfies Same<typeof other.output, unknown>;
// @ts-expect-error The mode is none of the two.
await plan.execute(tool, { ...input, mode: "slow" });
// @ts-expect-error The path is missing.
await plan.execute(tool, { mode: "fast", marks: [], labels: {}, span: [0, 1] });
`;

/** Says of the two copies that the compiler takes neither's schemas for the other's. */
const STRANGERS = `
import { Type, type TSchema } from "@sinclair/typebox";
import { Type as Other, type TSchema as OtherSchema } from "typebox-of-toolcell";

// @ts-expect-error
Other.String() satisfies TSchema;
// @ts-expect-error
Type.String() satisfies OtherSchema;
`;

describe("types of a project with its own copy of TypeBox", function () {
  this.timeout(60_000);

  const typebox = join(packageFolder, "node_modules/@sinclair/typebox");
  let project: string;

  before(async () => {
    project = await realpath(await mkdtemp(join(tmpdir(), "toolcell-typebox-")));
    await link(packageFolder, "toolcell");
    await link(join(packageFolder, "node_modules/@types"), "@types");
    await link(typebox, "typebox-of-toolcell");
    await cp(await realpath(typebox), join(project, "node_modules/@sinclair/typebox"), {
      recursive: true,
      filter: (path) => !/\.m?js$/.test(path) && !path.includes(join("build", "cjs") + sep),
    });
    // The compiler takes two packages of one name and version for one.
    const manifest = join(project, "node_modules/@sinclair/typebox/package.json");
    const copied = JSON.parse(await readFile(manifest, "utf8")) as object;
    await writeFile(manifest, JSON.stringify({ ...copied, version: "0.34.0" }));
    await writeFile(join(project, "package.json"), JSON.stringify({ name: "project", type: "module" }));
  });

  after(() => rm(project, { recursive: true, force: true }));

  async function link(target: string, name: string): Promise<void> {
    const path = join(project, "node_modules", name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(await realpath(target), path, "junction");
  }

  it("defineTool() takes schemas of either copy and types input and output by them", () => {
    const files = new Map(
      [
        ["own.ts", TOOL.replace("TYPEBOX", "@sinclair/typebox")],
        ["theirs.ts", TOOL.replace("TYPEBOX", "typebox-of-toolcell")],
        ["strangers.ts", STRANGERS],
      ].map(([name, text]) => [join(project, name!), text!] as const),
    );
    const program = userProgram(project, files);
    expect(complaintsOf(program, files.keys())).to.deep.equal([]);
    const copies = program
      .getSourceFiles()
      .filter(({ fileName }) => /typebox\/build\/esm\/index\.d\.mts$/.test(fileName));
    expect(copies.map(({ fileName }) => fileName)).to.have.lengthOf(2);
  });

  it("the types of toolcell name nothing of TypeBox", () => {
    const files = new Map([[join(project, "bare.ts"), 'import "toolcell";\nimport "toolcell/tool";\n']]);
    const named = userProgram(project, files)
      .getSourceFiles()
      .filter(({ fileName }) => fileName.includes("/node_modules/@sinclair/"));
    expect(named.map(({ fileName }) => fileName)).to.deep.equal([]);
  });
});
