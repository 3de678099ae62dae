/** One call of a step, tried as often as the step says. */
import { randomBytes } from "node:crypto";
import pRetry from "p-retry";
import {
  ToolCancelledError,
  ToolCostLimitExceededError,
  ToolExecutionError,
  ToolRuntimeError,
  type Outcome,
  type Plan,
  type ToolExecutionTrace,
  type ToolResult,
} from "../index.js";
import type { PlanEvent, StepError, StepOutcome } from "./document.js";
import type { PlanStep } from "./plan-file.js";

/** How a call ended that gave no output; `refused` is one that the budget did not let be made. */
type CallOutcome = Outcome | "refused";

/** A call that gave no output. */
export class CallFailure extends Error {
  readonly error: StepError;
  readonly outcome: CallOutcome;
  /** What its step has come to. */
  readonly ended: StepOutcome;
  /** Whether it would have gone on but for a budget that is used up. */
  readonly isUnpaid: boolean;

  constructor(
    error: StepError,
    outcome: CallOutcome,
    more: { readonly ended?: StepOutcome; readonly isUnpaid?: boolean; readonly cause?: unknown } = {},
  ) {
    super(error.message, { cause: more.cause });
    this.error = error;
    this.outcome = outcome;
    this.ended = more.ended ?? "failed";
    this.isUnpaid = more.isUnpaid ?? false;
  }
}

/** What a call of a step works with. */
export interface StepCallParts {
  readonly plan: Plan;
  readonly signal: AbortSignal;
  /** Whether calling the tool once more does no harm. */
  readonly idempotent: boolean;
  readonly tell: (event: PlanEvent) => void;
}

/** Another try cannot help. */
const FINAL: readonly CallOutcome[] = ["invalid_input", "denied", "not_registered", "cancelled", "refused"];
/** The tool may have done its work, or half of it. */
const UNCERTAIN: readonly CallOutcome[] = ["timed_out", "killed", "crashed", "out_of_memory", "unsettled"];

/**
 * Calls a step's tool.
 * @returns its output and how many calls that took
 * @throws CallFailure with the last attempt's error; `attempts` of `counted` tells how many there were
 */
export async function callStep(
  parts: StepCallParts,
  step: PlanStep,
  item: number | undefined,
  input: unknown,
  counted: { attempts: number },
): Promise<unknown> {
  const { attempts = 1, delayMs = 100, factor = 2, maxDelayMs = 30_000 } = step.retry ?? {};
  const mayRetry = (failure: CallFailure): boolean =>
    !FINAL.includes(failure.outcome) && (parts.idempotent || !UNCERTAIN.includes(failure.outcome));
  let answer: { readonly output: unknown } | undefined;
  let last: CallFailure | undefined;
  try {
    await pRetry(
      async (attempt) => {
        counted.attempts = attempt;
        try {
          answer = { output: await callOnce(parts, step, item, input, attempt) };
        } catch (error) {
          if (!(error instanceof CallFailure) || error.outcome !== "refused") {
            if (error instanceof CallFailure) last = error;
            throw error;
          }
          // A call that was not made is no attempt, and hides nothing of what went wrong before.
          counted.attempts--;
          throw last ? unpaid(last, error) : error;
        }
      },
      {
        retries: attempts - 1,
        minTimeout: delayMs,
        maxTimeout: Math.max(delayMs, maxDelayMs),
        factor,
        // Many items that failed together would else come back together.
        randomize: true,
        signal: parts.signal,
        shouldRetry: ({ error }) => error instanceof CallFailure && mayRetry(error),
      },
    );
  } catch (error) {
    if (error instanceof CallFailure || !parts.signal.aborted) throw error;
    // The plan was cancelled, in the very moment of an answer or while nothing was under way.
    if (!answer) throw cancelledFailure(step, last, error);
  }
  return answer?.output;
}

async function callOnce(
  { plan, tell }: StepCallParts,
  step: PlanStep,
  item: number | undefined,
  input: unknown,
  attempt: number,
): Promise<unknown> {
  const callId = randomBytes(8).toString("hex");
  tell({ type: "call", step: step.id, item, callId, attempt });
  let trace: ToolExecutionTrace | undefined;
  let failure: CallFailure | undefined;
  try {
    const result: ToolResult = await plan.execute(step.tool, input, {
      callId,
      ...(step.timeoutMs !== undefined && { timeoutMs: step.timeoutMs }),
    });
    trace = result.trace;
    if (result.success) return result.output;
    failure = new CallFailure(result.error, trace.outcome);
  } catch (error) {
    trace = plan.context.traces.findLast((each) => each.callId === callId);
    failure = failureOf(error, trace?.outcome);
  } finally {
    tell({ type: "ended", step: step.id, item, callId, trace, error: failure?.error });
  }
  throw failure;
}

function failureOf(cause: unknown, outcome: Outcome | undefined): CallFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof ToolRuntimeError ? cause.code : "EXECUTION_FAILED";
  const error = { code, message };
  if (cause instanceof ToolCostLimitExceededError)
    return new CallFailure(error, "refused", { ended: "blocked", isUnpaid: true, cause });
  if (cause instanceof ToolCancelledError)
    return new CallFailure({ code: cause.code, message }, outcome ?? "cancelled", { ended: "cancelled", cause });
  const own = cause instanceof ToolExecutionError ? cause.outcome : undefined;
  // A call that was under way when the budget ran out was told to stop.
  return new CallFailure(error, outcome ?? own ?? "threw", { isUnpaid: code === "COST_LIMIT_EXCEEDED", cause });
}

/** A failure that would have been followed by another attempt, had the budget let it. */
function unpaid({ error }: CallFailure, { message, cause }: CallFailure): CallFailure {
  const why = `no call is left to try again: ${message}`;
  return new CallFailure({ ...error, message: `${error.message} (${why})` }, "refused", { isUnpaid: true, cause });
}

function cancelledFailure(step: PlanStep, last: CallFailure | undefined, cause: unknown): CallFailure {
  const when = last ? `between two attempts, the last of which failed: ${last.message}` : "before its first call.";
  const error = { code: "CANCELLED", message: `Step "${step.id}" was cancelled ${when}` };
  return new CallFailure(error, "cancelled", { ended: "cancelled", cause });
}
