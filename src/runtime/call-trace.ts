/** Closes a call: its trace, where it is kept, and who is told. */
import { tracingChannel } from "node:diagnostics_channel";
import type { ToolError, ToolResult } from "../protocol/tool.js";
import { isoTime, phasesOf, type Outcome, type ToolExecutionTrace } from "../protocol/trace.js";
import type { ToolCall } from "./tool-call.js";

/** What is published on the channel `tracing:toolcell:execute:*`. */
export interface ExecuteMessage {
  readonly toolName: string;
  readonly planId: string;
  readonly callId: string;
  readonly parentCallId?: string;
  /** Set when the call has ended. */
  trace?: ToolExecutionTrace;
  result?: ToolResult;
  error?: unknown;
}

/** Node's tracing channel of every call; nothing is made for it while nobody listens. */
export const executeChannel = tracingChannel<unknown, ExecuteMessage>("toolcell:execute");

/** How a call ended, for its trace. */
export interface Closing {
  readonly outcome: Outcome;
  readonly resultSizeBytes: number;
  readonly error?: ToolError | Error;
  readonly toolVersion?: string | undefined;
}

/** Builds the immutable record of a call. */
export function traceOf(call: ToolCall, closing: Closing): ToolExecutionTrace {
  const closed = performance.now();
  // A call that ends before it was sent has never been settled by a cell.
  if (call.marks.settled !== call.marks.settled) call.marks.settled = closed;
  const { queued } = call.marks;
  const success = closing.outcome === "ok";
  return Object.freeze({
    toolName: call.toolName,
    ...(closing.toolVersion !== undefined && { toolVersion: closing.toolVersion }),
    planId: call.planId,
    callId: call.callId,
    ...(call.parent && { parentCallId: call.parent.callId }),
    startedAt: isoTime(queued),
    endedAt: isoTime(closed),
    durationMs: closed - queued,
    phases: phasesOf(call.marks, closed),
    resultSizeBytes: closing.resultSizeBytes,
    success,
    ...(closing.error && { error: closing.error.message }),
    outcome: closing.outcome,
    ...(call.cell && { cell: call.cell }),
    attempt: call.attempt,
    ...(call.cost !== undefined && { cost: call.cost }),
  });
}
