/** The runtime's options: their schema, their defaults, one resolver. */
import { availableParallelism } from "node:os";
import { Type, type Static } from "@sinclair/typebox";
import { ToolRuntimeError } from "../protocol/errors.js";
import { isObject, unknownField } from "./arguments.js";
import { describeViolations, SchemaCache } from "./schema-validator.js";

const cores = availableParallelism();
const whole = (minimum: number, fallback: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum: 2 ** 31 - 1, default: fallback, description }));

const OptionsSchema = Type.Object(
  {
    graceMs: whole(0, 1_000, "Milliseconds a cancelled call has to stop before its cell is killed."),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 31 - 1,
        description: "Deadline of every call in milliseconds. None by default.",
      }),
    ),
    activationTimeoutMs: whole(1, 30_000, "Milliseconds a cell may take to start and to activate its tool."),
    deactivateTimeoutMs: whole(1, 5_000, "Milliseconds a tool's deactivate may take before its cell is killed."),
    killTimeoutMs: whole(1, 2_000, "Milliseconds after which a killed cell that has not ended is given up."),
    maxActiveCalls: whole(1, 1_024, "Calls that hold a turn at one time."),
    maxQueuedCalls: whole(0, 65_536, "Calls that may wait for a turn; one more is refused with OVERLOADED."),
    maxLiveCells: whole(1, Math.max(32, cores * 2), "Cells alive at one time."),
    maxCellsPerTool: whole(1, cores, "Cells that one stateless tool may have in one plan."),
    maxCallsPerCell: whole(1, 256, "Calls sent to one cell and not yet answered."),
    maxCallDepth: whole(1, 8, "How deeply tools may call each other."),
    maxActivations: whole(1, 10_000, "Tools activated over all plans; beyond it the longest idle are deactivated."),
    planIdleMs: whole(0, 600_000, "Milliseconds after which a plan without calls is deactivated; 0 means never."),
    maxResultBytes: whole(1, 256 * 1024 * 1024, "Estimated bytes of one output."),
    maxPayloadDepth: whole(1, 500, "Levels of one input or output."),
    maxPayloadValues: whole(1, 2_000_000, "Values in one input or output."),
    spareCells: whole(0, 1, "Workers kept ready ahead for tools without grants."),
    memoryMb: whole(16, 512, "Bound of a cell's V8 heap in MiB, where the tool names none."),
    outputValidation: Type.Optional(
      Type.Union([Type.Literal("error"), Type.Literal("warn")], {
        default: "error",
        description: "What an output that breaks its schema leads to: a failed result, or a warning event.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** What `new ToolRuntime(options)` takes; each field says its unit and its default. */
export type ToolRuntimeOptions = Static<typeof OptionsSchema>;

/** Options with every default filled in. */
export type ResolvedOptions = Required<Omit<ToolRuntimeOptions, "timeoutMs">> & {
  readonly timeoutMs: number | undefined;
};

const compiled = new SchemaCache({ maxEntries: 1 }).compile(OptionsSchema);

/**
 * Checks options and fills in the defaults.
 * @throws ToolRuntimeError `INVALID_OPTIONS`
 */
export function resolveOptions(options: ToolRuntimeOptions = {}): ResolvedOptions {
  // An option that is undefined is one that was not given.
  const given: unknown =
    typeof (options as unknown) === "object" && (options as unknown) !== null && !Array.isArray(options)
      ? Object.fromEntries(Object.entries(options).filter(([, value]) => (value as unknown) !== undefined))
      : options;
  const unknown = isObject(given) ? unknownField(given, Object.keys(OptionsSchema.properties)) : undefined;
  if (unknown !== undefined) {
    throw new ToolRuntimeError(`ToolRuntime options: ${unknown}.`, { code: "INVALID_OPTIONS" });
  }
  const violations = compiled.check(given);
  if (violations) {
    throw new ToolRuntimeError(`ToolRuntime options: ${describeViolations(violations)}.`, {
      code: "INVALID_OPTIONS",
      details: { errors: violations },
    });
  }
  const defaults = Object.entries(OptionsSchema.properties).map(([name, schema]) => [name, schema.default as unknown]);
  return { timeoutMs: undefined, ...Object.fromEntries(defaults), ...(given as object) } as ResolvedOptions;
}
