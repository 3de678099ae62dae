import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import type {
  ActivatedTool,
  AnyTool,
  BindResourceInput,
  BoundResource,
  CachedToolStats,
  CancellationView,
  CellEnd,
  CellEvent,
  CellInfo,
  Change,
  ChangeInput,
  CloseReport,
  ContextSummary,
  DeactivateOptions,
  DefinedTool,
  EndedCallErrorOptions,
  Enforcement,
  ErrorCode,
  ExecuteMessage,
  ExecuteOptions,
  FolderApprovalsOptions,
  Infer,
  IsolationTier,
  JsonSchema,
  LogEvent,
  LogLevel,
  ModuleOptions,
  Outcome,
  PlanCacheStats,
  PlanRuntime,
  ProgressEvent,
  RegistrationOptions,
  ResolvedCapability,
  ResourceAccess,
  RuntimeEventMap,
  SchemaViolation,
  ToolActivationContext,
  ToolAnswer,
  ToolCapability,
  ToolContext,
  ToolDefinition,
  ToolDescriptor,
  ToolError,
  ToolErrorOptions,
  ToolExecutionContextOptions,
  ToolExecutionTrace,
  ToolExecutor,
  ToolFilter,
  ToolInstance,
  ToolLog,
  ToolProvider,
  ToolProviderEntry,
  ToolResult,
  ToolRuntimeOptions,
  ToolSource,
  ToolSpec,
  TracePhases,
  WarningEvent,
} from "../src/index.js";

const run = promisify(execFile);
const compiled = fileURLToPath(new URL("../", import.meta.url));

const EXPORTED = [
  "CancellationToken",
  "DirectoryCheckpoints",
  "ERROR_CODES",
  "FolderApprovals",
  "ISOLATION_TIERS",
  "MemoryApprovals",
  "OUTCOMES",
  "PHASES",
  "Plan",
  "TOOL_SOURCES",
  "ToolAccessDeniedError",
  "ToolActivationError",
  "ToolCancelledError",
  "ToolCheckpointRequiredError",
  "ToolCostLimitExceededError",
  "ToolDeactivationError",
  "ToolExecutionContext",
  "ToolExecutionError",
  "ToolHumanApprovalRequiredError",
  "ToolLifecycleCache",
  "ToolNotActivatedError",
  "ToolRegistry",
  "ToolRetryLimitExceededError",
  "ToolRuntime",
  "ToolRuntimeError",
  "ToolSafetyViolationError",
  "ToolSandboxRequiredError",
  "ToolSchemaValidationError",
  "builtins",
  "createBoundResource",
  "createChange",
  "defineTool",
  "executeChannel",
  "quantile",
  "toolError",
  "toolResult",
  "validateToolInput",
  "validateToolOutput",
];

/** Fails to compile where a type is no longer exported. */
type ExportedTypes = [
  ActivatedTool,
  AnyTool,
  BindResourceInput,
  BoundResource,
  CachedToolStats,
  CancellationView,
  CellEnd,
  CellEvent,
  CellInfo,
  Change,
  ChangeInput,
  CloseReport,
  ContextSummary,
  DeactivateOptions,
  DefinedTool,
  EndedCallErrorOptions,
  Enforcement,
  ErrorCode,
  ExecuteMessage,
  ExecuteOptions,
  FolderApprovalsOptions,
  Infer<JsonSchema>,
  IsolationTier,
  JsonSchema,
  LogEvent,
  LogLevel,
  ModuleOptions,
  Outcome,
  PlanCacheStats,
  PlanRuntime,
  ProgressEvent,
  RegistrationOptions,
  ResolvedCapability,
  ResourceAccess,
  RuntimeEventMap,
  SchemaViolation,
  ToolActivationContext,
  ToolAnswer,
  ToolCapability,
  ToolContext,
  ToolDefinition<JsonSchema, JsonSchema>,
  ToolDescriptor,
  ToolError,
  ToolErrorOptions,
  ToolExecutionContextOptions,
  ToolExecutionTrace,
  ToolExecutor,
  ToolFilter,
  ToolInstance,
  ToolLog,
  ToolProvider,
  ToolProviderEntry,
  ToolResult,
  ToolRuntimeOptions,
  ToolSource,
  ToolSpec,
  TracePhases,
  WarningEvent,
];

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The folder of the package, from wherever the compiled files are. */
async function packageRoot(): Promise<string> {
  for (let folder = compiled; ; folder = dirname(folder)) {
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "{}");
    if ((JSON.parse(text) as Partial<Manifest>).name === "toolcell") return folder;
    if (dirname(folder) === folder) throw new Error("there is no package.json of toolcell above the tests");
  }
}

describe("index", () => {
  let folder: string;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "toolcell-index-")));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** A copy of what ships, with these packages beside it and no others. */
  const install = async (name: string, packages: readonly string[]): Promise<string> => {
    const root = await packageRoot();
    const target = join(folder, name);
    for (const part of ["src", "workers", "tools"]) {
      await cp(join(compiled, part), join(target, part), { recursive: true });
    }
    await writeFile(join(target, "package.json"), JSON.stringify({ name: "copy", type: "module" }));
    for (const each of packages) {
      const link = join(target, "node_modules", each);
      await mkdir(dirname(link), { recursive: true });
      await symlink(await realpath(join(root, "node_modules", each)), link);
    }
    return target;
  };

  const namesOf = async (target: string, entry: string): Promise<string[]> => {
    const script = `console.log(JSON.stringify(Object.keys(await import("./src/${entry}.js"))))`;
    const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: target });
    expect(stderr).to.equal("");
    return JSON.parse(stdout) as string[];
  };

  it("exports these names and no others", async () => {
    const exported = Object.keys(await import("../src/index.js")).sort();
    expect(exported).to.deep.equal(EXPORTED);
  });

  it("exports these types", () => {
    const count: ExportedTypes["length"] = 58;
    expect(count).to.equal(58);
  });

  it("imports with the package's own dependencies alone", async () => {
    const { dependencies } = JSON.parse(await readFile(join(await packageRoot(), "package.json"), "utf8")) as Manifest;
    const target = await install("root", Object.keys(dependencies));
    expect((await namesOf(target, "index")).sort()).to.deep.equal(EXPORTED);
  });

  it("toolcell/tool imports without any package and exports what a tool needs", async () => {
    const names = await namesOf(await install("tool", []), "tool");
    expect(names.sort()).to.deep.equal(["ToolCancelledError", "defineTool", "toolError", "toolResult"]);
  });
});
