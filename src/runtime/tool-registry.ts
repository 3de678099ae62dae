/** The tools that a runtime knows. */
import { ToolRuntimeError, ToolSchemaValidationError } from "../protocol/errors.js";
import type { ResolvedCapability, ToolSource, ToolSpec } from "../protocol/tool.js";
import { SchemaCache } from "../schema/cache.js";
import type { CompiledSchema } from "../schema/compiler.js";
import type { CellSource } from "./cell.js";
import { checkExecutor, sourceOf, type ToolExecutor, type ToolInstance } from "./tool-executor.js";
import { checkSpec, resolveCapability, trustedByDefault } from "./tool-spec.js";

/** A registered tool, ready to run. */
export interface Registration {
  readonly spec: ToolSpec;
  readonly capability: ResolvedCapability;
  /** What the tool says of its writing; `undefined` where it says nothing. */
  readonly claimedReadOnly: boolean | undefined;
  /** Whether the registration itself says that it does not write. */
  readonly hostSaysReadOnly: boolean;
  readonly trusted: boolean;
  readonly maxCells: number | undefined;
  readonly source: CellSource;
  readonly instance: ToolInstance | undefined;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
}

/** Narrows {@link ToolRegistry.list}. */
export interface ToolFilter {
  /** Tools of this source only. */
  readonly source?: ToolSource;
  /** What stands before the name's first slash. */
  readonly namespace?: string;
}

const schemas = new SchemaCache();

/**
 * Keeps tools by name.
 * @example
 * ```ts
 * import { ToolRegistry } from "toolcell";
 *
 * const registry = new ToolRegistry();
 * const spec = { name: "acme/shout", description: "Shouts a text.", inputSchema: { type: "string" } };
 * registry.register(spec, { execute: (text) => `${String(text).toUpperCase()}!` });
 * console.log(registry.get("acme/shout")?.description); // → Shouts a text.
 * ```
 */
export class ToolRegistry {
  readonly #tools = new Map<string, Registration>();

  /**
   * @throws ToolRuntimeError `INVALID_SPEC`, `INVALID_ARGUMENT`, `ALREADY_REGISTERED`
   * @throws ToolSchemaValidationError where a schema cannot be used
   */
  register(spec: ToolSpec, executor: ToolExecutor): ToolSpec {
    const checked = checkSpec(spec);
    if (this.#tools.has(checked.name)) {
      const holder = this.#tools.get(checked.name)?.spec.source ?? "custom";
      throw new ToolRuntimeError(
        `A tool named "${checked.name}" is already registered (source ${holder}). Unregister it first, or choose another namespace.`,
        { code: "ALREADY_REGISTERED", details: { tool: checked.name, source: holder } },
      );
    }
    const options = checkExecutor(checked.name, executor);
    const trusted = options.trusted ?? trustedByDefault(checked.source);
    const capability = resolveCapability(spec, options.capability);
    const kept: ToolSpec = Object.freeze({
      ...checked,
      inputSchema: frozenCopy(checked.inputSchema),
      ...(checked.outputSchema !== undefined && { outputSchema: frozenCopy(checked.outputSchema) }),
      capability,
      readOnly: !capability.writes,
      checkpointable: capability.checkpointable,
    });
    const claimedWrites = spec.capability?.writes ?? (spec.readOnly === undefined ? undefined : !spec.readOnly);
    this.#tools.set(checked.name, {
      spec: kept,
      capability,
      claimedReadOnly: claimedWrites === undefined ? undefined : !claimedWrites,
      hostSaysReadOnly: options.capability?.writes === false,
      trusted,
      maxCells: options.maxCells,
      source: sourceOf(checked.name, options),
      instance: options.instance,
      input: compile(checked.name, "inputSchema", kept.inputSchema, trusted),
      output:
        kept.outputSchema === undefined ? undefined : compile(checked.name, "outputSchema", kept.outputSchema, trusted),
    });
    return kept;
  }

  /** @returns the specification as it is registered, if there is one */
  get(name: string): ToolSpec | undefined {
    return this.#tools.get(name)?.spec;
  }

  /** @internal */
  registration(name: string): Registration | undefined {
    return this.#tools.get(name);
  }

  /** The specifications in the order of their registration. */
  list(filter?: ToolFilter): ToolSpec[] {
    const { source: wanted, namespace } = (filter as ToolFilter | null | undefined) ?? {};
    return [...this.#tools.values()]
      .map(({ spec }) => spec)
      .filter(
        ({ name, source }) =>
          (wanted === undefined || source === wanted) &&
          (namespace === undefined || name.slice(0, name.indexOf("/")) === namespace),
      );
  }

  /** @returns whether there was such a tool */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }
}

function compile(name: string, field: string, schema: ToolSpec["inputSchema"], trusted: boolean): CompiledSchema {
  try {
    return schemas.compile(schema, { trusted });
  } catch (error) {
    if (!(error instanceof ToolSchemaValidationError)) throw error;
    throw new ToolSchemaValidationError(
      `The ${field} of tool "${name}" cannot be used: ${error.message.replace("Schema cannot be used: ", "")}`,
      {
        errors: error.errors,
        schema: error.schema,
        details: { tool: name, field },
        cause: error,
      },
    );
  }
}

/** A copy as JSON, which is what a schema is; a library's hidden keys stay behind. */
function frozenCopy<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema;
  try {
    return deepFreeze(JSON.parse(JSON.stringify(schema)) as T);
  } catch {
    // The compiler says what is wrong with it.
    return schema;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
