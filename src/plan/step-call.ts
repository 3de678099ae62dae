/** One call of a step, tried as often as the step says. */
import { randomBytes } from "node:crypto";
import {
  ToolCancelledError,
  ToolCostLimitExceededError,
  ToolRetryLimitExceededError,
  ToolRuntimeError,
  type Outcome,
  type Plan,
  type RetryPolicy,
  type ToolExecutionTrace,
} from "../index.js";
import type { PlanEvent, StepError, StepOutcome } from "./document.js";
import type { PlanStep } from "./plan-file.js";

/** A call that gave no output. */
export class CallFailure extends Error {
  readonly error: StepError;
  /** What its step has come to. */
  readonly ended: StepOutcome;
  /** Whether it would have gone on but for a budget that is used up. */
  readonly isUnpaid: boolean;

  constructor(
    error: StepError,
    more: { readonly ended?: StepOutcome; readonly isUnpaid?: boolean; readonly cause?: unknown } = {},
  ) {
    super(error.message, { cause: more.cause });
    this.error = error;
    this.ended = more.ended ?? "failed";
    this.isUnpaid = more.isUnpaid ?? false;
  }
}

/** What a call of a step works with. */
export interface StepCallParts {
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly tell: (event: PlanEvent) => void;
}

/** What another attempt may get the better of; after the last four only where the tool is idempotent. */
const AGAIN: readonly Outcome[] = [
  ...(["tool_error", "threw", "invalid_output", "activation_failed", "overloaded"] as const),
  ...(["timed_out", "killed", "crashed", "out_of_memory"] as const),
];

/**
 * Calls a step's tool.
 * @returns its output
 * @throws CallFailure with the last attempt's error; `attempts` of `counted` tells how many there were
 */
export async function callStep(
  { plan, tell }: StepCallParts,
  step: PlanStep,
  item: number | undefined,
  input: unknown,
  counted: { attempts: number },
): Promise<unknown> {
  const callId = randomBytes(8).toString("hex");
  const { timeoutMs, retry } = step;
  const latest = (): ToolExecutionTrace | undefined => plan.context.traces.findLast((each) => each.callId === callId);
  const begins = (attempt: number): void => {
    tell({ type: "call", step: step.id, item, callId, attempt });
  };
  const ends = (trace: ToolExecutionTrace | undefined, error: StepError | undefined): void => {
    tell({ type: "ended", step: step.id, item, callId, trace, error });
  };
  const policy: RetryPolicy = {
    ...(retry ?? { attempts: 1 }),
    outcomes: AGAIN,
    ...(timeoutMs !== undefined && { attemptTimeoutMs: timeoutMs }),
    onRetry: ({ attempt, error }) => {
      const trace = latest();
      ends(trace, { code: codeOf(error), message: messageOf(error) ?? trace?.error ?? "" });
      begins(attempt + 1);
    },
  };
  begins(1);
  try {
    const { success, output, error, trace } = await plan.execute(step.tool, input, {
      callId,
      ...(policy.attempts > 1 ? { retry: policy } : timeoutMs !== undefined && { timeoutMs }),
    });
    counted.attempts = trace.attempt;
    ends(trace, success ? undefined : error);
    if (success) return output;
    throw new CallFailure(error);
  } catch (error) {
    if (error instanceof CallFailure) throw error;
    const trace = latest();
    const failure = failureOf(step, error);
    counted.attempts = attemptsOf(error) ?? (failure.ended === "blocked" ? 0 : (trace?.attempt ?? 1));
    ends(trace, failure.error);
    throw failure;
  }
}

function failureOf(step: PlanStep, cause: unknown): CallFailure {
  const error = { code: codeOf(cause), message: messageOf(cause) ?? String(cause) };
  if (cause instanceof ToolCostLimitExceededError)
    return new CallFailure(error, { ended: "blocked", isUnpaid: true, cause });
  if (cause instanceof ToolRetryLimitExceededError) return exhausted(cause);
  if (cause instanceof ToolCancelledError) {
    const last = failureIn(cause.details["failedWith"]);
    if (!last) return new CallFailure(error, { ended: "cancelled", cause });
    const message = `Step "${step.id}" was cancelled between two attempts, the last of which failed: ${last.message}`;
    return new CallFailure({ ...error, message }, { ended: "cancelled", cause });
  }
  // A call that was under way when the budget ran out was told to stop.
  return new CallFailure(error, { isUnpaid: error.code === "COST_LIMIT_EXCEEDED", cause });
}

/** What the last attempt failed with is the step's error; that no other could be made is added. */
function exhausted(limit: ToolRetryLimitExceededError): CallFailure {
  const failed = failureIn(limit.details["failedWith"]) ?? { code: limit.code, message: limit.message };
  const refused = failureIn(limit.details["refusedWith"]);
  const why = refused ? ` (no call is left to try again: ${refused.message})` : "";
  const isUnpaid = refused?.code === "COST_LIMIT_EXCEEDED";
  return new CallFailure({ ...failed, message: failed.message + why }, { isUnpaid, cause: limit });
}

function failureIn(detail: unknown): StepError | undefined {
  return typeof detail === "object" && detail !== null ? (detail as StepError) : undefined;
}

function attemptsOf(error: unknown): number | undefined {
  const attempts =
    error instanceof ToolRuntimeError || error instanceof ToolCancelledError ? error.details["attempts"] : undefined;
  return typeof attempts === "number" ? attempts : undefined;
}

function codeOf(error: unknown): string {
  return error instanceof ToolRuntimeError || error instanceof ToolCancelledError ? error.code : "EXECUTION_FAILED";
}

function messageOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}
