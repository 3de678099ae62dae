/** The config file: which tools to load, what to bind, how the runtime is set up. */
import { dirname, resolve } from "node:path";
import { Type, type Static } from "@sinclair/typebox";
import { ToolSchemaValidationError, validateToolInput, type ModuleOptions, type SafetyProfile } from "../index.js";
import { resolveChoice } from "./approval-choice.js";
import { findConfig, readConfig, type ConfigSource } from "./config-source.js";

const Resource = Type.Object(
  {
    path: Type.String({ minLength: 1, description: "A relative one starts at the config file's folder." }),
    access: Type.Optional(
      Type.Unsafe<"read_only" | "read_write">({ enum: ["read_only", "read_write"], default: "read_only" }),
    ),
  },
  { additionalProperties: false },
);

/** JSON Schema of a config file. */
export const CONFIG_SCHEMA = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    builtins: Type.Optional(Type.Boolean({ default: true, description: "Whether the tools that ship are there." })),
    modules: Type.Optional(
      Type.Array(
        Type.Unsafe<string | ConfiguredModule>({
          type: ["string", "object"],
          properties: {
            module: { type: "string", minLength: 1 },
            trusted: { type: "boolean" },
            maxCells: { type: "integer", minimum: 1 },
            codeFiles: { type: "array", items: { type: "string", minLength: 1 } },
          },
          description: "A module's path, or `{ module: path, capability, trusted, maxCells, codeFiles }`.",
        }),
      ),
    ),
    resources: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), Resource, {
        description: "What is bound to slots. By default `repo` is the current folder.",
      }),
    ),
    approve: Type.Optional(
      Type.String({
        pattern: "^(ask|none|all|folder:.+)$",
        description:
          "Who approves the calls that a human has to: `ask` on the terminal, `none`, `all` without a look, or `folder:PATH`.",
        default: "ask",
      }),
    ),
    safetyProfile: Type.Optional(
      Type.Unsafe<SafetyProfile>({
        type: "object",
        description: "The policy on tools: ToolRuntime's `safetyProfile`.",
      }),
    ),
    runtime: Type.Optional(Type.Unsafe<object>({ type: "object", description: "Options of ToolRuntime." })),
  },
  { additionalProperties: false, title: "toolcell config" },
);

/** A module to load, its path resolved, with what its registration says; the runtime checks that. */
export interface ConfiguredModule extends ModuleOptions {
  readonly module: string;
}

/** A config, with paths resolved. */
export interface Config {
  /** Absent where there is no file. */
  readonly file: string | undefined;
  readonly builtins: boolean;
  readonly modules: readonly ConfiguredModule[];
  readonly resources: Readonly<Record<string, Static<typeof Resource>>>;
  /** Who approves what a human has to; its path absolute. */
  readonly approve?: string;
  readonly safetyProfile?: SafetyProfile;
  readonly runtime: object;
}

/**
 * Reads the config that is named, else the nearest one from a folder upwards.
 * @throws UsageError
 */
export async function loadConfig(folder: string, named: string | undefined): Promise<Config> {
  const file = named === undefined ? await findConfig(folder) : resolve(folder, named);
  if (file === undefined) return { file, builtins: true, modules: [], resources: {}, runtime: {} };
  const source = await readConfig(file);
  const { builtins = true, modules = [], resources = {}, runtime = {}, approve, safetyProfile } = checked(source);
  const base = dirname(file);
  return {
    file,
    builtins,
    modules: modules.map((entry, index) => resolveModule(entry, base, source, index)),
    resources: Object.fromEntries(
      Object.entries(resources).map(([slot, { path, ...rest }]) => {
        if (slot === "") throw source.fault(["resources", slot], "has a resource without a name");
        return [slot, { ...rest, path: resolve(base, path) }];
      }),
    ),
    ...(approve !== undefined && { approve: resolveChoice(approve, base) }),
    ...(safetyProfile && { safetyProfile }),
    runtime,
  };
}

function checked(source: ConfigSource): Static<typeof CONFIG_SCHEMA> {
  const { value } = source;
  try {
    validateToolInput({ name: "config", inputSchema: CONFIG_SCHEMA }, value);
    return value as Static<typeof CONFIG_SCHEMA>;
  } catch (error) {
    const violation = error instanceof ToolSchemaValidationError ? error.errors[0] : undefined;
    if (!violation) throw error;
    const { instancePath, message } = violation;
    const keys = instancePath.split("/").slice(1);
    throw source.fault(keys, `${keys.length > 0 ? `at ${instancePath} ` : ""}${message}`);
  }
}

function resolveModule(
  entry: string | ConfiguredModule,
  base: string,
  source: ConfigSource,
  index: number,
): ConfiguredModule {
  const { module, codeFiles, ...rest } = typeof entry === "string" ? { module: entry } : entry;
  if (typeof (module as unknown) !== "string" || module === "") {
    throw source.fault(["modules", String(index)], `at /modules/${index} must name a \`module\``);
  }
  return {
    ...rest,
    module: resolve(base, module),
    ...(codeFiles && { codeFiles: codeFiles.map((path) => resolve(base, path)) }),
  };
}
