/** Closes a call: its trace, where it is kept, and who is told. */
import { tracingChannel } from "node:diagnostics_channel";
import type { ToolError, ToolResult } from "../protocol/tool.js";
import { isoTime, phasesOf, type Outcome, type ToolExecutionTrace } from "../protocol/trace.js";
import type { ToolCall } from "./tool-call.js";

/** What is published on the channel `tracing:toolcell:execute:*`. */
export interface ExecuteMessage {
  /** `namespace/name`, as it was called. */
  readonly toolName: string;
  /** The plan that calls. */
  readonly planId: string;
  /** Unique among the plan's running calls. */
  readonly callId: string;
  /** The call whose tool made this one. */
  readonly parentCallId?: string;
  /** Set when the call has ended. */
  trace?: ToolExecutionTrace;
  /** Set when the call resolved. */
  result?: ToolResult;
  /** Set when the call rejected. */
  error?: unknown;
}

/**
 * Node's tracing channel of every call; nothing is made for it while nobody listens.
 * @example
 * ```ts
 * import { executeChannel, ToolRuntime } from "toolcell";
 *
 * executeChannel.asyncEnd.subscribe((message) => {
 *   const { toolName, trace } = message as { toolName: string; trace?: { outcome: string } };
 *   console.log(toolName, trace?.outcome); // → acme/answer ok
 * });
 * await using runtime = new ToolRuntime();
 * const spec = { name: "acme/answer", description: "Answers.", inputSchema: {}, readOnly: true };
 * runtime.register(spec, { execute: () => 42 });
 * await using plan = runtime.plan({ planId: "p" });
 * await plan.execute("acme/answer", {});
 * ```
 */
export const executeChannel = tracingChannel<unknown, ExecuteMessage>("toolcell:execute");

/** How a call ended, for its trace. */
export interface Closing {
  readonly outcome: Outcome;
  readonly resultSizeBytes: number;
  readonly error?: ToolError | Error;
}

/** Builds the immutable record of a call. */
export function traceOf(call: ToolCall, closing: Closing): ToolExecutionTrace {
  const closed = performance.now();
  // A call that ends before it was sent has never been settled by a cell.
  if (call.marks.settled !== call.marks.settled) call.marks.settled = closed;
  const { queued } = call.marks;
  // Fields are added one by one: this runs for every call, and spreads cost more than all the rest.
  const trace: { -readonly [Name in keyof ToolExecutionTrace]: ToolExecutionTrace[Name] } = {
    toolName: call.toolName,
    planId: call.planId,
    callId: call.callId,
    startedAt: isoTime(queued),
    endedAt: isoTime(closed),
    durationMs: closed - queued,
    phases: phasesOf(call.marks, closed),
    resultSizeBytes: closing.resultSizeBytes,
    success: closing.outcome === "ok",
    outcome: closing.outcome,
    attempt: call.attempt,
  };
  const version = call.tool?.spec.version;
  if (version !== undefined) trace.toolVersion = version;
  if (call.parent) trace.parentCallId = call.parent.callId;
  if (call.approvalId !== undefined) trace.approvalId = call.approvalId;
  if (call.checkpoint?.checkpointId !== undefined) trace.checkpointId = call.checkpoint.checkpointId;
  if (closing.error) trace.error = closing.error.message;
  if (call.cell) trace.cell = call.cell;
  if (call.cost !== undefined) trace.cost = call.cost;
  return Object.freeze(trace);
}
