/** Where a tool's code is: a module, an instance, a function. */
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Type } from "@sinclair/typebox";
import { ToolRuntimeError } from "../protocol/errors.js";
import type { ToolActivationContext, ToolCapability, ToolContext } from "../protocol/tool.js";
import { SchemaCache } from "../schema/cache.js";
import { describeViolations } from "../schema/violations.js";
import type { CellSource } from "./cell.js";
import { isObject, unknownField } from "./arguments.js";
import { realPath } from "./grant.js";

/** @inline */
type MaybePromise<T> = T | Promise<T>;

/** A tool that brings its own implementation; every method may be async. */
export interface ToolInstance {
  /** What the tool says of itself now; overrides the registered description and version. */
  discover?(): MaybePromise<
    | {
        /** For models and people. */
        readonly description?: string;
        /** The tool's own version. */
        readonly version?: string;
      }
    | undefined
  >;
  /** Runs once for each plan, before the first call. */
  activate?(context: ToolActivationContext): MaybePromise<void>;
  /** Answers with an output, a `toolResult(…)` or a `toolError(…)`. */
  execute(input: unknown, context: ToolContext): unknown;
  /** Must be idempotent. A failure is a warning, never an error. */
  deactivate?(context: ToolActivationContext): MaybePromise<void>;
}

/** What every form of registration may say. */
export interface RegistrationOptions {
  /** The host's word on what the tool may do; it stands over the tool's own. */
  readonly capability?: ToolCapability;
  /** Whether the host trusts the tool's code. By default: builtin, custom and wrapped ones. */
  readonly trusted?: boolean;
  /** Cells that a stateless tool may have in one plan. */
  readonly maxCells?: number;
}

/** What the registration of a module may say. */
export interface ModuleOptions extends RegistrationOptions {
  /** Files and folders that the module loads beside what its import statements name. */
  readonly codeFiles?: readonly string[];
}

/** Where a tool's code is. */
export type ToolExecutor =
  | (ModuleOptions & {
      /** `file:` URL or path of the module. */
      readonly module: string | URL;
    })
  | (RegistrationOptions & {
      /** An object with the tool's stages; it runs inline, on the host's own thread. */
      readonly instance: ToolInstance;
    })
  | (RegistrationOptions & {
      /** A function that answers calls; it runs inline, on the host's own thread. */
      readonly execute: ToolInstance["execute"];
    });

/** What of an executor is used, checked. */
export interface CheckedExecutor extends RegistrationOptions {
  readonly module?: string | URL | undefined;
  readonly codeFiles?: readonly string[];
  readonly instance?: ToolInstance | undefined;
  readonly execute?: ToolInstance["execute"] | undefined;
}

const optionsCheck = new SchemaCache({ maxEntries: 1 }).compile(
  Type.Object({
    trusted: Type.Optional(Type.Boolean()),
    maxCells: Type.Optional(Type.Integer({ minimum: 1 })),
    codeFiles: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  }),
);

/** Names of {@link RegistrationOptions}. */
export const REGISTRATION_OPTIONS = [
  "capability",
  "trusted",
  "maxCells",
] as const satisfies readonly (keyof RegistrationOptions)[];

const EXECUTOR_FIELDS = [...REGISTRATION_OPTIONS, "module", "codeFiles", "instance", "execute"];

/** @throws ToolRuntimeError `INVALID_ARGUMENT` */
export function checkExecutor(name: string, executor: ToolExecutor): CheckedExecutor {
  const problem = isObject(executor) ? unknownField(executor, EXECUTOR_FIELDS) : undefined;
  if (problem !== undefined) {
    throw new ToolRuntimeError(`The registration of tool "${name}" cannot be used: ${problem}.`, {
      code: "INVALID_ARGUMENT",
      details: { tool: name },
    });
  }
  const { module, instance, execute, trusted, maxCells, codeFiles, capability } =
    (executor as CheckedExecutor | undefined | null) ?? {};
  const options = given({ trusted, maxCells, codeFiles });
  const violations = optionsCheck.check(options);
  if (violations) {
    throw new ToolRuntimeError(
      `The registration of tool "${name}" cannot be used: ${describeViolations(violations)}.`,
      {
        code: "INVALID_ARGUMENT",
        details: { tool: name, errors: violations },
      },
    );
  }
  const rest = { ...options, ...(capability !== undefined && { capability }) };
  if (typeof module === "string" || (module as unknown) instanceof URL) return { ...rest, module };
  if (module === undefined && typeof (instance as Partial<ToolInstance> | null | undefined)?.execute === "function") {
    return { ...rest, instance };
  }
  if (module === undefined && instance === undefined && typeof execute === "function") return { ...rest, execute };
  throw new ToolRuntimeError(
    `Tool "${name}" has no implementation: give { module: URL or path }, { instance: { execute } } or { execute }.`,
    { code: "INVALID_ARGUMENT", details: { tool: name } },
  );
}

/** Where a cell finds the tool. */
export function sourceOf(name: string, { module, codeFiles, instance, execute }: CheckedExecutor): CellSource {
  if (module !== undefined) return moduleAt(name, module, codeFiles);
  if (!instance) return { kind: "object", implementation: { execute: execute ?? (() => undefined) } };
  return {
    kind: "object",
    implementation: {
      activate: (context) => instance.activate?.(context),
      execute: (input, context) => instance.execute(input, context),
      deactivate: (context) => instance.deactivate?.(context),
    },
  };
}

/**
 * Where a cell finds the tool of a module whose name is not known yet.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function moduleSource(module: string | URL, options: ModuleOptions): CellSource & { kind: "module" } {
  if (typeof (module as unknown) !== "string" && !((module as unknown) instanceof URL)) {
    throw new ToolRuntimeError("registerModule takes a file: URL or a path.", { code: "INVALID_ARGUMENT" });
  }
  const name = String(module);
  return moduleAt(name, module, checkExecutor(name, { ...options, module }).codeFiles);
}

function moduleAt(
  name: string,
  module: string | URL,
  codeFiles: readonly string[] = [],
): CellSource & { kind: "module" } {
  return { kind: "module", url: moduleUrl(name, module), codeFiles: codeFiles.map((path) => resolve(path)) };
}

/**
 * The module's URL by its real path, which is what a cell may read.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function moduleUrl(name: string, module: string | URL): string {
  return pathToFileURL(realPath(resolve(modulePath(name, module)))).href;
}

function modulePath(name: string, module: string | URL): string {
  const text = typeof (module as unknown) === "string" || (module as unknown) instanceof URL ? String(module) : "";
  try {
    if (text.startsWith("file:")) return fileURLToPath(text);
    if (text !== "" && !text.includes("\0") && (isAbsolute(text) || !/^[a-z][a-z0-9+.-]+:/i.test(text))) return text;
  } catch {
    // The sentence below says what is wanted.
  }
  throw new ToolRuntimeError(
    `Tool "${name}": a module must be a file: URL or a path of this host, not "${text.slice(0, 100)}".`,
    {
      code: "INVALID_ARGUMENT",
      details: { tool: name },
    },
  );
}

function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => (value as unknown) !== undefined),
  ) as Partial<T>;
}
