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
import type { PlanEvent, StepError } from "./document.js";
import type { PlanStep } from "./plan-file.js";

/** A call that gave no output. */
export class CallFailure extends Error {
  readonly error: StepError;
  readonly outcome: Outcome | "budget";

  constructor(error: StepError, outcome: Outcome | "budget", cause?: unknown) {
    super(error.message, { cause });
    this.error = error;
    this.outcome = outcome;
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
const FINAL: readonly (Outcome | "budget")[] = ["invalid_input", "denied", "not_registered", "cancelled", "budget"];
/** The tool may have done its work, or half of it. */
const UNCERTAIN: readonly (Outcome | "budget")[] = ["timed_out", "killed", "crashed", "out_of_memory", "unsettled"];

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
  return await pRetry(
    async (attempt) => {
      counted.attempts = attempt;
      try {
        return await callOnce(parts, step, item, input, attempt);
      } catch (error) {
        // A call that was not made is no attempt.
        if (error instanceof CallFailure && error.outcome === "budget") counted.attempts--;
        throw error;
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
  ).catch((error: unknown) => {
    throw error instanceof CallFailure ? error : cancelledFailure(step, error);
  });
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

function failureOf(error: unknown, outcome: Outcome | undefined): CallFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ToolCostLimitExceededError)
    return new CallFailure({ code: error.code, message }, "budget", error);
  if (error instanceof ToolCancelledError)
    return new CallFailure({ code: error.code, message }, outcome ?? "cancelled", error);
  const code = error instanceof ToolRuntimeError ? error.code : "EXECUTION_FAILED";
  const own = error instanceof ToolExecutionError ? error.outcome : undefined;
  return new CallFailure({ code, message }, outcome ?? own ?? "threw", error);
}

function cancelledFailure(step: PlanStep, cause: unknown): CallFailure {
  return new CallFailure(
    { code: "CANCELLED", message: `Step "${step.id}" was cancelled between two attempts.` },
    "cancelled",
    cause,
  );
}
