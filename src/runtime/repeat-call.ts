/** A call that is made again where it fails. */
import { ToolCancelledError } from "../protocol/errors.js";
import type { ToolResult } from "../protocol/tool.js";
import { outcomeOfError } from "./call-outcome.js";
import type { PlanState } from "./plan-state.js";
import type { RetryPolicy } from "./retry-policy.js";
import { RetrySeries, type AttemptEnd } from "./retry-series.js";
import { ToolCall, type ToolCallInit } from "./tool-call.js";

/** What repeating a call asks of the coordinator. */
export interface RepeatHost {
  /** Adds an attempt to its plan, to that of the attempt before where there was one. */
  enter(call: ToolCall, plan: PlanState | undefined): PlanState;
  execute(plan: PlanState, call: ToolCall): Promise<ToolResult>;
  isIdempotent(toolName: string): boolean;
  /** No further attempt will be made. */
  over(plan: PlanState): void;
}

/** Makes attempts of a call, each a call of its own under the same id. */
export async function repeatCall(host: RepeatHost, init: ToolCallInit, policy: RetryPolicy): Promise<ToolResult> {
  const { toolName, context, tokens } = init;
  const input = keptInput(init.input);
  let begin = performance.now();
  let { callId } = init;
  let approvalId: string | undefined;
  let plan: PlanState | undefined;
  const attempt = async (number: number): Promise<AttemptEnd> => {
    const left = init.timeoutMs === undefined ? Infinity : init.timeoutMs - (performance.now() - begin);
    const limit = Math.max(1, Math.min(left, policy.attemptTimeoutMs ?? Infinity));
    const timeoutMs = limit === Infinity ? undefined : limit;
    const call = new ToolCall({ ...init, input, callId, approvalId, timeoutMs, attempt: number });
    callId ??= call.callId;
    try {
      plan = host.enter(call, plan);
      // From now on the plan's end is the end of the waits too.
      plan.retries.add(series);
      const result = await host.execute(plan, call);
      return { outcome: result.trace.outcome, result };
    } catch (error) {
      // Where the deadline of the whole call has passed there is no time for another.
      const late = limit === left && (error as { code?: unknown }).code === "TIMED_OUT";
      return { outcome: late || error instanceof ToolCancelledError ? "cancelled" : outcomeOfError(error), error };
    } finally {
      approvalId ??= call.approvalId;
      // The deadline stood still while a human was asked.
      begin += call.trace?.phases.approval ?? 0;
    }
  };
  const series = new RetrySeries({
    toolName,
    planId: context.planId,
    policy,
    idempotent: host.isIdempotent(toolName),
    signals: tokens.map((token) => token.signal),
    attempt,
  });
  try {
    return await series.run();
  } finally {
    leave(host, plan, series);
  }
}

function leave(host: RepeatHost, plan: PlanState | undefined, series: RetrySeries): void {
  if (!plan?.retries.delete(series)) return;
  host.over(plan);
}

/** What is tried again is what was given, whatever the caller does to it between two attempts. */
function keptInput(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    // What cannot be copied is refused in the first attempt.
    return input;
  }
}
