/** The config file: which tools to load, what to bind, how the runtime is set up. */
import { readFile, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Type, type Static } from "@sinclair/typebox";
import { ToolSchemaValidationError, validateToolInput, type ModuleOptions } from "../index.js";
import { PlanSource, type Position } from "../plan/index.js";
import { UsageError } from "./usage-error.js";

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
          description: "A module's path, or `{ module: path, capability, trusted, maxCells, codeFiles }`.",
        }),
      ),
    ),
    resources: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), Resource, {
        description: "What is bound to slots. By default `repo` is the current folder.",
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
  readonly runtime: object;
}

const NAMES = ["json", "yaml", "yml", "js", "mjs"].map((ending) => `toolcell.config.${ending}`);

/**
 * Reads the config that is named, else the nearest one from a folder upwards.
 * @throws UsageError
 */
export async function loadConfig(folder: string, named: string | undefined): Promise<Config> {
  const file = named === undefined ? await findConfig(folder) : resolve(folder, named);
  if (file === undefined) return { file, builtins: true, modules: [], resources: {}, runtime: {} };
  const value = /\.m?js$/.test(file) ? await importConfig(file) : await readConfig(file);
  const { builtins = true, modules = [], resources = {}, runtime = {} } = value;
  const base = dirname(file);
  return {
    file,
    builtins,
    modules: modules.map((entry, index) => resolveModule(entry, base, file, index)),
    resources: Object.fromEntries(
      Object.entries(resources).map(([slot, { path, ...rest }]) => [slot, { ...rest, path: resolve(base, path) }]),
    ),
    runtime,
  };
}

async function findConfig(folder: string): Promise<string | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    for (const name of NAMES) if (await exists(join(at, name))) return join(at, name);
    if (dirname(at) === at) return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function readConfig(file: string): Promise<Static<typeof CONFIG_SCHEMA>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`The config ${file} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
  }
  const source = new PlanSource(text);
  const [problem] = source.problems;
  if (problem) throw new UsageError(at(file, problem, problem.message));
  return checked(file, source.value, (keys) => source.positionOf(keys));
}

async function importConfig(file: string): Promise<Static<typeof CONFIG_SCHEMA>> {
  let value: unknown;
  try {
    value = ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    throw new UsageError(
      `The config ${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return checked(file, value, () => undefined);
}

function checked(
  file: string,
  value: unknown,
  positionOf: (keys: readonly string[]) => Position | undefined,
): Static<typeof CONFIG_SCHEMA> {
  try {
    validateToolInput({ name: "config", inputSchema: CONFIG_SCHEMA }, value);
    return value as Static<typeof CONFIG_SCHEMA>;
  } catch (error) {
    const violation = error instanceof ToolSchemaValidationError ? error.errors[0] : undefined;
    if (!violation) throw error;
    const { instancePath, message } = violation;
    const keys = instancePath.split("/").slice(1);
    throw new UsageError(
      at(file, positionOf(keys), `the config${keys.length > 0 ? ` at ${instancePath}` : ""} ${message}`),
    );
  }
}

function resolveModule(entry: string | ConfiguredModule, base: string, file: string, index: number): ConfiguredModule {
  const { module, codeFiles, ...rest } = typeof entry === "string" ? { module: entry } : entry;
  if (typeof (module as unknown) !== "string" || module === "") {
    throw new UsageError(at(file, undefined, `the config at /modules/${index} must name a \`module\``));
  }
  return {
    ...rest,
    module: resolve(base, module),
    ...(codeFiles && { codeFiles: codeFiles.map((path) => resolve(base, path)) }),
  };
}

function at(file: string, position: Position | undefined, message: string): string {
  return `${file}${position ? `:${position.line}:${position.column}` : ""} ${message}`;
}

/** Whether a config file can be added to by a program. */
export function isPlainConfig(file: string): boolean {
  return extname(file) === ".json";
}
