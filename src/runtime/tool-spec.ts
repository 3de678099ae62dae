/** Checks a tool's specification and settles what it may do. */
import { Type } from "@sinclair/typebox";
import { ToolRuntimeError } from "../protocol/errors.js";
import {
  ISOLATION_TIERS,
  TOOL_SOURCES,
  type ResolvedCapability,
  type ToolCapability,
  type ToolSpec,
} from "../protocol/tool.js";
import { SchemaCache } from "../schema/cache.js";
import { describeViolations } from "../schema/violations.js";
import { fieldProblem } from "./field-check.js";

const literals = <T extends string>(values: readonly T[]) => Type.Union(values.map((value) => Type.Literal(value)));
const slots = Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 });

const CapabilitySchema = Type.Object(
  {
    writes: Type.Optional(Type.Boolean()),
    checkpointable: Type.Optional(Type.Boolean()),
    stateless: Type.Optional(Type.Boolean()),
    idempotent: Type.Optional(Type.Boolean()),
    requiresApproval: Type.Optional(Type.Boolean()),
    cost: Type.Optional(Type.Number({ minimum: 0 })),
    isolation: Type.Optional(literals(ISOLATION_TIERS)),
    fs: Type.Optional(
      Type.Object({ read: Type.Optional(slots), write: Type.Optional(slots) }, { additionalProperties: false }),
    ),
    net: Type.Optional(Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1 }))])),
    spawn: Type.Optional(Type.Boolean()),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    memoryMb: Type.Optional(Type.Integer({ minimum: 16, maximum: 1_048_576 })),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
  },
  { additionalProperties: false },
);

const SpecSchema = Type.Object({
  // A name is shown to models and people and stands in paths: no blanks, no control characters.
  name: Type.String({ pattern: "^[^\\s/\\x00-\\x1f]{1,128}(/[^\\s/\\x00-\\x1f]{1,128})+$", maxLength: 256 }),
  description: Type.String({ maxLength: 65_536 }),
  version: Type.Optional(Type.String({ maxLength: 256 })),
  source: Type.Optional(literals(TOOL_SOURCES)),
  capability: Type.Optional(CapabilitySchema),
  readOnly: Type.Optional(Type.Boolean()),
  checkpointable: Type.Optional(Type.Boolean()),
});

const schemas = new SchemaCache({ maxEntries: 2 });
const specCheck = schemas.compile(SpecSchema);
const capabilityCheck = schemas.compile(CapabilitySchema);

/** Whether a source's tools are trusted where the registration says nothing. */
export function trustedByDefault(source: ToolSpec["source"]): boolean {
  return source === undefined || source === "builtin" || source === "custom" || source === "wrapped";
}

/**
 * Checks a specification. What it holds beside the known fields is left out.
 * @throws ToolRuntimeError `INVALID_SPEC`
 */
export function checkSpec(spec: ToolSpec): CheckedSpec {
  try {
    return readSpec(spec);
  } catch (cause) {
    if (cause instanceof ToolRuntimeError) throw cause;
    // A getter or a proxy threw.
    throw new ToolRuntimeError("The specification of a tool cannot be read.", { code: "INVALID_SPEC", cause });
  }
}

type CheckedSpec = Required<Pick<ToolSpec, "source">> & Omit<ToolSpec, "capability">;

function readSpec(spec: ToolSpec): CheckedSpec {
  const violations = specCheck.check(definedFields(spec));
  if (violations) {
    const name = nameOf(spec);
    const misnamed = violations.some(({ instancePath }) => instancePath === "/name");
    const hint = misnamed ? ' A name reads "namespace/name", without blanks.' : "";
    const problem = describeViolations(violations);
    throw new ToolRuntimeError(`The specification of tool ${name} cannot be used: ${problem}.${hint}`, {
      code: "INVALID_SPEC",
      details: { tool: name, errors: violations },
    });
  }
  if ((spec.inputSchema as unknown) === undefined) {
    throw new ToolRuntimeError(`The specification of tool "${spec.name}" has no inputSchema; {} accepts any input.`, {
      code: "INVALID_SPEC",
      details: { tool: spec.name },
    });
  }
  return {
    name: spec.name,
    description: spec.description,
    source: spec.source ?? "custom",
    inputSchema: spec.inputSchema,
    ...(spec.version !== undefined && { version: spec.version }),
    ...(spec.outputSchema !== undefined && { outputSchema: spec.outputSchema }),
  };
}

/**
 * Settles a capability. The host's word stands over the tool's; for the network, processes and
 * the environment only the host's word counts, since a module cannot grant itself anything.
 * @throws ToolRuntimeError `INVALID_SPEC`
 */
export function resolveCapability(spec: ToolSpec, host: ToolCapability = {}): ResolvedCapability {
  const problem = fieldProblem(capabilityCheck, CapabilitySchema.properties, definedFields(host));
  if (problem) {
    throw new ToolRuntimeError(`The capability given for tool "${spec.name}" cannot be used: ${problem.text}.`, {
      code: "INVALID_SPEC",
      details: { tool: spec.name, errors: problem.errors },
    });
  }
  const claimed = spec.capability ?? {};
  const merged = { ...claimed, ...definedFields(host) };
  const shorthandWrites = spec.readOnly === undefined ? undefined : !spec.readOnly;
  return Object.freeze({
    writes: host.writes ?? claimed.writes ?? shorthandWrites ?? true,
    checkpointable: host.checkpointable ?? claimed.checkpointable ?? spec.checkpointable ?? true,
    stateless: merged.stateless ?? false,
    idempotent: merged.idempotent ?? false,
    requiresApproval: merged.requiresApproval ?? false,
    ...(merged.cost !== undefined && { cost: merged.cost }),
    ...(merged.isolation !== undefined && { isolation: merged.isolation }),
    fs: Object.freeze({
      read: Object.freeze([...(merged.fs?.read ?? [])]),
      write: Object.freeze([...(merged.fs?.write ?? [])]),
    }),
    net: Array.isArray(host.net)
      ? Object.freeze([...(host.net as string[])])
      : ((host.net as boolean | undefined) ?? false),
    spawn: host.spawn ?? false,
    env: Object.freeze({ ...host.env }),
    ...(merged.memoryMb !== undefined && { memoryMb: merged.memoryMb }),
    ...(merged.timeoutMs !== undefined && { timeoutMs: merged.timeoutMs }),
  });
}

/** What was given; a field that is undefined was not. What is no object is left to the check. */
function definedFields<T>(value: T): Partial<T> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => (member as unknown) !== undefined),
  ) as Partial<T>;
}

function nameOf(spec: unknown): string {
  const name = (spec as { name?: unknown } | null | undefined)?.name;
  return typeof name === "string" ? `"${name.slice(0, 100)}"` : "without a name";
}
