/** A call that is not over, as it stands now. */
import type { CellInfo, TracePhases } from "../protocol/trace.js";
import type { ToolCall } from "./tool-call.js";

/** A call that is not over. */
export interface OpenCall {
  /** Unique among the plan's running calls. */
  readonly callId: string;
  /** The call whose tool made this one. */
  readonly parentCallId?: string;
  /** The plan that called. */
  readonly planId: string;
  /** `namespace/name`, as it was called. */
  readonly toolName: string;
  /** Where its time is spent just now. */
  readonly phase: keyof TracePhases;
  /** Milliseconds since it was made. */
  readonly ageMs: number;
  /** Absent until it was sent to one. */
  readonly cell?: CellInfo;
}

/** Looks at a call. */
export function openCall(call: ToolCall): OpenCall {
  const { callId, planId, toolName, parent, cell, marks } = call;
  return {
    callId,
    ...(parent && { parentCallId: parent.callId }),
    planId,
    toolName,
    phase: phaseOf(call),
    ageMs: performance.now() - marks.queued,
    ...(cell && { cell }),
  };
}

function phaseOf(call: ToolCall): keyof TracePhases {
  const { marks, activation, settled } = call;
  const reached = (mark: number): boolean => mark === mark;
  if (settled) return "close";
  if (reached(marks.dispatched)) return activation?.hasStarted(call) ? "run" : "start";
  if (reached(marks.activated)) return "dispatch";
  if (reached(marks.admitted)) return "activation";
  if (reached(marks.approved)) return "admission";
  return reached(marks.validated) ? "approval" : "gates";
}
