/**
 * Every error that toolcell throws. A caller tells them apart by class, by the stable
 * `code`, and by `outcome` where a call had begun to run.
 */
import type { Outcome } from "./trace.js";

/** Stable codes; one is never renamed or given a second meaning. */
export const ERROR_CODES = {
  RUNTIME_ERROR: "toolcell itself failed; report it",
  INVALID_OPTIONS: "an option has a wrong type, a wrong value or an unknown name",
  INVALID_ARGUMENT: "an argument of a public function has a wrong type or value",
  INVALID_SPEC: "a tool's specification is malformed",
  INVALID_PLAN: "a plan file cannot be read, or names what is not there",
  ALREADY_REGISTERED: "another tool holds this name",
  NOT_REGISTERED: "no tool of this name is registered",
  NO_IMPLEMENTATION: "nothing is registered that could be discovered under this name",
  RESOURCE_NOT_BOUND: "the plan has no resource in this slot",
  PLAN_CONFLICT: "the plan id is in use by a context with another grant",
  PLAN_CLOSING: "the plan is being deactivated",
  PLAN_IN_USE: "calls of the plan run, so it cannot be restored now",
  CALL_ID_IN_USE: "a call with this id is still running in the plan",
  CALL_DEPTH_EXCEEDED: "tools call each other too deeply",
  CELLS_EXHAUSTED: "a nested call found every cell pinned or busy",
  OVERLOADED: "too many calls wait; slow down or raise the bound",
  RUNTIME_CLOSED: "the runtime is closed",
  ACCESS_DENIED: "the plan is read-only and the tool writes",
  CHECKPOINT_REQUIRED: "the plan requires checkpoints and this call got none",
  CHECKPOINT_FAILED: "a checkpoint cannot be taken, read or restored",
  NOT_ACTIVATED: "the tool is not activated for this plan",
  ACTIVATION_FAILED: "the tool could not be made ready",
  ACTIVATION_TIMED_OUT: "the cell did not start, or the tool did not activate, in time",
  EXECUTION_FAILED: "the tool threw",
  TIMED_OUT: "the call's deadline passed",
  CELL_CRASHED: "the tool's cell died under the call",
  CELL_KILLED: "the call's cell was killed because of a neighbour",
  OUT_OF_MEMORY: "the tool's cell ran out of memory",
  RESULT_TOO_LARGE: "the output exceeds the size, count or depth that may leave a cell",
  RESULT_NOT_CLONEABLE: "the output holds a value that cannot leave a cell",
  INPUT_NOT_CLONEABLE: "the input holds a value that cannot enter a cell",
  INPUT_TOO_LARGE: "the input exceeds the count or depth that may enter a cell",
  DEACTIVATION_FAILED: "the tool did not clean up",
  SAFETY_VIOLATION: "the safety profile forbids this tool",
  SANDBOX_REQUIRED: "this host cannot give the isolation that the tool needs",
  APPROVAL_REQUIRED: "a human has to approve this call and nobody has",
  COST_LIMIT_EXCEEDED: "the budget is used up",
  RETRY_LIMIT_EXCEEDED: "all attempts failed",
  CANCELLED: "the call was cancelled",
  SCHEMA_VALIDATION_FAILED: "a value breaks its schema, or the schema itself cannot be used",
} as const;

/** One of the stable codes of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What every toolcell error can be given. */
export interface ToolErrorOptions {
  /** Defaults to the class's own code. */
  code?: ErrorCode;
  /** Plain data: tool, planId, callId and what else helps. */
  details?: Record<string, unknown>;
  /** What led to the error, when there is something. */
  cause?: unknown;
}

/** Options of the errors that end a call which may have begun to run. */
export interface EndedCallErrorOptions extends ToolErrorOptions {
  /** What happened to the call, as in its trace. */
  outcome?: Outcome;
}

const brandOf = (name: string): symbol => Symbol.for(`toolcell.error.${name}`);

/**
 * Two copies of the package in one process have two classes of each name. The brand sits on
 * the prototype under a registered symbol, so `instanceof` holds across copies; a subclass that
 * a user derives has no brand of its own and keeps the ordinary meaning.
 */
function brand(constructor: { readonly prototype: object; readonly name: string }): void {
  const symbol = brandOf(constructor.name);
  Object.defineProperty(constructor.prototype, symbol, { value: true });
  Object.defineProperty(constructor.prototype, "name", { value: constructor.name, configurable: true, writable: true });
  Object.defineProperty(constructor, Symbol.hasInstance, {
    value(this: { readonly prototype: object }, value: unknown): boolean {
      if (typeof value !== "object" || value === null) return false;
      if (this !== constructor) return Object.prototype.isPrototypeOf.call(this.prototype, value);
      return (value as Record<symbol, unknown>)[symbol] === true;
    },
  });
}

abstract class BaseError extends Error {
  /** Stable and machine-readable. */
  readonly code: ErrorCode;
  /** Plain data about what failed. */
  readonly details: Record<string, unknown>;

  constructor(message: string, defaultCode: ErrorCode, options: ToolErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = options.code ?? defaultCode;
    this.details = options.details ?? {};
  }
}

/** The root of what goes wrong in the runtime; see `code`. */
export class ToolRuntimeError extends BaseError {
  constructor(message: string, options?: ToolErrorOptions, defaultCode: ErrorCode = "RUNTIME_ERROR") {
    super(message, defaultCode, options);
  }
}

/** A tool that writes was called in a read-only plan. */
export class ToolAccessDeniedError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "ACCESS_DENIED");
  }
}

/** A plan that requires checkpoints met a tool that cannot give one, or a call before which none could be taken. */
export class ToolCheckpointRequiredError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "CHECKPOINT_REQUIRED");
  }
}

/** The tool is not activated for the plan. */
export class ToolNotActivatedError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "NOT_ACTIVATED");
  }
}

/** The tool could not be made ready; nothing is cached and the next call tries again. */
export class ToolActivationError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "ACTIVATION_FAILED");
  }
}

/** The tool threw, overran its deadline, or lost its cell; `outcome` says which. */
export class ToolExecutionError extends ToolRuntimeError {
  /** What happened to the call, as in its trace. */
  readonly outcome: Outcome;

  constructor(message: string, options: EndedCallErrorOptions = {}) {
    super(message, options, "EXECUTION_FAILED");
    this.outcome = options.outcome ?? "threw";
  }
}

/** The tool did not clean up. Reported as a warning event, never thrown by a deactivation. */
export class ToolDeactivationError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "DEACTIVATION_FAILED");
  }
}

/** The host's safety profile forbids the tool. */
export class ToolSafetyViolationError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "SAFETY_VIOLATION");
  }
}

/** The tool needs an isolation tier that this host cannot give. */
export class ToolSandboxRequiredError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "SANDBOX_REQUIRED");
  }
}

/** The tool needs a human's approval. */
export class ToolHumanApprovalRequiredError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "APPROVAL_REQUIRED");
  }
}

/** The plan's budget is used up. */
export class ToolCostLimitExceededError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "COST_LIMIT_EXCEEDED");
  }
}

/** All attempts failed. */
export class ToolRetryLimitExceededError extends ToolRuntimeError {
  constructor(message: string, options?: ToolErrorOptions) {
    super(message, options, "RETRY_LIMIT_EXCEEDED");
  }
}

/** The caller cancelled; `outcome` tells whether the tool stopped or had to be killed. */
export class ToolCancelledError extends BaseError {
  /** `cancelled`, `killed` or `unsettled`. */
  readonly outcome: Outcome;

  constructor(message: string, options: EndedCallErrorOptions = {}) {
    super(message, "CANCELLED", options);
    this.outcome = options.outcome ?? "cancelled";
  }
}

/** One way in which a value breaks its schema. */
export interface SchemaViolation {
  /** JSON Pointer (RFC 6901) into the value; "" is the value itself. */
  readonly instancePath: string;
  /** JSON Pointer into the schema. */
  readonly schemaPath: string;
  /** The keyword that failed. */
  readonly keyword: string;
  /** What is wrong, for people. */
  readonly message: string;
}

/** A value breaks its schema, or the schema itself cannot be used. */
export class ToolSchemaValidationError extends BaseError {
  /** The first violations, at most 100. */
  readonly errors: readonly SchemaViolation[];
  /** The schema that was broken. */
  readonly schema: unknown;

  constructor(
    message: string,
    options: ToolErrorOptions & { errors?: readonly SchemaViolation[]; schema?: unknown } = {},
  ) {
    super(message, "SCHEMA_VALIDATION_FAILED", options);
    this.errors = options.errors ?? [];
    this.schema = options.schema;
  }
}

/** Every public class by name, for the codec that carries errors out of a cell. */
export const ERROR_CLASSES = {
  ToolRuntimeError,
  ToolAccessDeniedError,
  ToolCheckpointRequiredError,
  ToolNotActivatedError,
  ToolActivationError,
  ToolExecutionError,
  ToolDeactivationError,
  ToolSafetyViolationError,
  ToolSandboxRequiredError,
  ToolHumanApprovalRequiredError,
  ToolCostLimitExceededError,
  ToolRetryLimitExceededError,
  ToolCancelledError,
  ToolSchemaValidationError,
} as const;

for (const constructor of Object.values(ERROR_CLASSES)) brand(constructor);
