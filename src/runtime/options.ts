/** The runtime's options: their schema, their defaults, one resolver. */
import { availableParallelism } from "node:os";
import { Type, type Static } from "@sinclair/typebox";
import { ToolRuntimeError } from "../protocol/errors.js";
import type { CellLimits } from "../protocol/messages.js";
import { SchemaCache } from "../schema/cache.js";
import { describeViolations } from "../schema/violations.js";
import type { ApprovalProvider } from "./approval.js";
import { isObject, unknownField } from "./arguments.js";
import { isCheckpointProvider, type CheckpointProvider } from "./checkpoint.js";
import { SafetyRules, type SafetyProfile } from "./safety-profile.js";

/**
 * What `new ToolRuntime(options)` takes: bounds, and who decides. An option that is `undefined` takes its default.
 */
export interface ToolRuntimeOptions extends ToolRuntimeBounds {
  /** The policy on tools in every plan; a plan's own may be stricter. Default: none. */
  readonly safetyProfile?: SafetyProfile;
  /** Who asks humans for the calls that they have to approve. Default: nobody; such calls are denied. */
  readonly approvals?: ApprovalProvider;
  /** Who saves what a call may write, in plans that require checkpoints. Default: nobody; such a plan gets a warning. */
  readonly checkpoints?: CheckpointProvider;
}

/** Every number is a whole one, of the least value that its option names up to 2,147,483,647. */
export interface ToolRuntimeBounds {
  /** Milliseconds a cancelled call has to stop before its cell is killed. At least 0. Default 1,000. */
  readonly graceMs?: number;
  /**
   * Milliseconds a call may take, queue and activation included, where neither the call nor its tool names a deadline.
   * At least 1. Default: none.
   */
  readonly timeoutMs?: number;
  /** Milliseconds a cell may take to start and to activate its tool. At least 1. Default 30,000. */
  readonly activationTimeoutMs?: number;
  /** Milliseconds a tool's `deactivate` may take before its cell is killed. At least 1. Default 5,000. */
  readonly deactivateTimeoutMs?: number;
  /** Milliseconds after which a killed cell that has not ended is given up. At least 1. Default 2,000. */
  readonly killTimeoutMs?: number;
  /** Milliseconds after which a request for approval that nobody answered is refused. At least 1. Default 600,000. */
  readonly approvalTimeoutMs?: number;
  /** Calls that hold a turn at one time. At least 1. Default 1,024. */
  readonly maxActiveCalls?: number;
  /** Calls that may wait for a turn; one more is refused with `OVERLOADED`. At least 0. Default 65,536. */
  readonly maxQueuedCalls?: number;
  /** Cells alive at one time. At least 1. Default: twice the cores that Node may use, and 32 where that is more. */
  readonly maxLiveCells?: number;
  /** Cells that one stateless tool may have in one plan. At least 1. Default: the cores that Node may use. */
  readonly maxCellsPerTool?: number;
  /** Calls sent to one cell and not yet answered. At least 1. Default 256. */
  readonly maxCallsPerCell?: number;
  /** How deeply tools may call each other. At least 1. Default 8. */
  readonly maxCallDepth?: number;
  /** Tools activated over all plans; beyond it the longest idle are deactivated. At least 1. Default 10,000. */
  readonly maxActivations?: number;
  /** Tools activated in one plan; one more is refused with `OVERLOADED`. At least 1. Default 1,000. */
  readonly maxActivationsPerPlan?: number;
  /** Plans in use at one time; one more is refused with `OVERLOADED`. At least 1. Default 100,000. */
  readonly maxPlans?: number;
  /** Milliseconds after which a plan without calls is deactivated; 0 means never. At least 0. Default 600,000. */
  readonly planIdleMs?: number;
  /** Estimated bytes of one output. At least 1. Default 268,435,456, which is 256 MiB. */
  readonly maxResultBytes?: number;
  /** Levels of one input or output. At least 1. Default 500. */
  readonly maxPayloadDepth?: number;
  /** Values in one input or output. At least 1. Default 2,000,000. */
  readonly maxPayloadValues?: number;
  /**
   * Estimated bytes that one call may log and print; the rest is dropped, and a log event says so. At least 0.
   * Default 1,048,576, which is 1 MiB.
   */
  readonly maxLogBytes?: number;
  /** Changes that one call may record; one more is an error in the tool. At least 0. Default 100,000. */
  readonly maxChangesPerCall?: number;
  /** Workers kept ready ahead for tools without grants. At least 0. Default 1. */
  readonly spareCells?: number;
  /** Bound of a cell's V8 heap in MiB, where the tool names none. At least 16. Default 512. */
  readonly memoryMb?: number;
  /**
   * Calls after which the cell of a stateless tool takes no more, is deactivated once those that it has are over, and is
   * replaced; its worker serves nobody any more. Cells of tools that keep state are left alone. At least 1. Default: none.
   */
  readonly recycleAfterCalls?: number;
  /**
   * MiB of V8 heap in use, looked at between calls, above which the cell of a stateless tool is replaced like that. What
   * is not collected yet counts, so leave room for it. At least 1. Default: none.
   */
  readonly recycleHeapMb?: number;
  /** MiB of the whole process in RAM above which `health()` says so; nothing else comes of it. At least 1. Default: none. */
  readonly maxRssMb?: number;
  /**
   * What an output that breaks its schema leads to: `error`, a result without success, or `warn`, a warning event
   * beside the output as it is. Default `error`.
   */
  readonly outputValidation?: "error" | "warn";
}

const cores = availableParallelism();
const whole = (minimum: number, fallback?: number) =>
  Type.Optional(Type.Integer({ minimum, maximum: 2 ** 31 - 1, ...(fallback !== undefined && { default: fallback }) }));

/** The check of {@link ToolRuntimeBounds}, and the one place of each default. */
const OptionsSchema = Type.Object(
  {
    graceMs: whole(0, 1_000),
    timeoutMs: whole(1),
    activationTimeoutMs: whole(1, 30_000),
    deactivateTimeoutMs: whole(1, 5_000),
    killTimeoutMs: whole(1, 2_000),
    approvalTimeoutMs: whole(1, 600_000),
    maxActiveCalls: whole(1, 1_024),
    maxQueuedCalls: whole(0, 65_536),
    maxLiveCells: whole(1, Math.max(32, cores * 2)),
    maxCellsPerTool: whole(1, cores),
    maxCallsPerCell: whole(1, 256),
    maxCallDepth: whole(1, 8),
    maxActivations: whole(1, 10_000),
    maxActivationsPerPlan: whole(1, 1_000),
    maxPlans: whole(1, 100_000),
    planIdleMs: whole(0, 600_000),
    maxResultBytes: whole(1, 256 * 1024 * 1024),
    maxPayloadDepth: whole(1, 500),
    maxPayloadValues: whole(1, 2_000_000),
    maxLogBytes: whole(0, 1024 * 1024),
    maxChangesPerCall: whole(0, 100_000),
    spareCells: whole(0, 1),
    memoryMb: whole(16, 512),
    recycleAfterCalls: whole(1),
    recycleHeapMb: whole(1),
    maxRssMb: whole(1),
    outputValidation: Type.Optional(Type.Union([Type.Literal("error"), Type.Literal("warn")], { default: "error" })),
  },
  { additionalProperties: false },
);

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

// Compiles only while the check lets pass what the interface names: no option more or less, none of another type.
true satisfies Same<ToolRuntimeBounds, Readonly<Static<typeof OptionsSchema>>>;

/** Bounds with every default filled in. */
export type ResolvedOptions = Required<Omit<ToolRuntimeBounds, keyof typeof UNSET>> &
  Readonly<Record<keyof typeof UNSET, number | undefined>>;

/** Bounds that are none by default. */
const UNSET = { timeoutMs: undefined, recycleAfterCalls: undefined, recycleHeapMb: undefined, maxRssMb: undefined };

/** Who decides in a runtime. */
export interface ResolvedDeciders {
  /** The runtime's own safety profile. */
  readonly safety: SafetyRules | undefined;
  /** Who asks humans. */
  readonly approvals: ApprovalProvider | undefined;
  /** Who takes checkpoints. */
  readonly checkpoints: CheckpointProvider | undefined;
}

const DECIDERS = ["safetyProfile", "approvals", "checkpoints"] as const satisfies readonly Exclude<
  keyof ToolRuntimeOptions,
  keyof ToolRuntimeBounds
>[];

const compiled = new SchemaCache({ maxEntries: 1 }).compile(OptionsSchema);

/**
 * Checks who is to decide.
 * @throws ToolRuntimeError `INVALID_OPTIONS`
 */
export function resolveDeciders({ safetyProfile, approvals, checkpoints }: ToolRuntimeOptions = {}): ResolvedDeciders {
  if (
    approvals !== undefined &&
    typeof (approvals as Partial<ApprovalProvider> | null)?.requestApproval !== "function"
  ) {
    const message = "ToolRuntime options: `approvals` must be an object with a function requestApproval.";
    throw new ToolRuntimeError(message, { code: "INVALID_OPTIONS" });
  }
  if (checkpoints !== undefined && !isCheckpointProvider(checkpoints)) {
    const message = "ToolRuntime options: `checkpoints` must be an object with functions take, restore and list.";
    throw new ToolRuntimeError(message, { code: "INVALID_OPTIONS" });
  }
  return {
    safety: safetyProfile === undefined ? undefined : new SafetyRules(safetyProfile, "INVALID_OPTIONS"),
    approvals,
    checkpoints,
  };
}

/**
 * Checks bounds and fills in the defaults.
 * @throws ToolRuntimeError `INVALID_OPTIONS`
 */
export function resolveOptions(options: ToolRuntimeOptions = {}): ResolvedOptions {
  // An option that is undefined is one that was not given.
  const given: unknown =
    typeof (options as unknown) === "object" && (options as unknown) !== null && !Array.isArray(options)
      ? Object.fromEntries(Object.entries(options).filter(([, value]) => (value as unknown) !== undefined))
      : options;
  const known = [...Object.keys(OptionsSchema.properties), ...DECIDERS];
  const unknown = isObject(given) ? unknownField(given, known) : undefined;
  if (unknown !== undefined) {
    throw new ToolRuntimeError(`ToolRuntime options: ${unknown}.`, { code: "INVALID_OPTIONS" });
  }
  const bounds = isObject(given) ? without(given, DECIDERS) : given;
  const violations = compiled.check(bounds);
  if (violations) {
    throw new ToolRuntimeError(`ToolRuntime options: ${describeViolations(violations)}.`, {
      code: "INVALID_OPTIONS",
      details: { errors: violations },
    });
  }
  const defaults = Object.entries(OptionsSchema.properties).map(([name, schema]) => [name, schema.default as unknown]);
  return { ...UNSET, ...Object.fromEntries(defaults), ...(bounds as object) } as ResolvedOptions;
}

function without(fields: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** What of the options bounds a cell. */
export function cellLimits(options: ResolvedOptions): CellLimits {
  return {
    maxBytes: options.maxResultBytes,
    maxDepth: options.maxPayloadDepth,
    maxValues: options.maxPayloadValues,
    maxLogBytes: options.maxLogBytes,
    maxChanges: options.maxChangesPerCall,
  };
}
