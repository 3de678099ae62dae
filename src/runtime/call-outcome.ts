/** Turns the way a call came back into what its caller gets: an answer, or an error with its outcome. */
import type { CancelReason } from "../protocol/cancel-words.js";
import { decodeError } from "../protocol/error-codec.js";
import {
  ToolAccessDeniedError,
  ToolActivationError,
  ToolCancelledError,
  ToolCheckpointRequiredError,
  ToolCostLimitExceededError,
  ToolExecutionError,
  ToolHumanApprovalRequiredError,
  ToolRuntimeError,
  ToolSafetyViolationError,
  ToolSandboxRequiredError,
  type ErrorCode,
} from "../protocol/errors.js";
import type { CellAnswer } from "../protocol/messages.js";
import type { Outcome } from "../protocol/trace.js";
import type { CellEnd } from "./cell.js";
import type { CallEnd, ToolCall } from "./tool-call.js";

/** What a tool answered. */
export type Answered = CellAnswer & { kind: "output" | "tool_error" };

/**
 * The answer, where there is one.
 * @throws ToolCancelledError, ToolExecutionError, ToolActivationError, ToolRuntimeError
 */
export function answerOf(call: ToolCall, end: Exclude<CallEnd, { kind: "refused" }>): Answered {
  switch (end.kind) {
    case "failed":
      throw end.error;
    case "interrupted":
      throw interruptedError(call, undefined);
    case "cell_ended":
      throw cellEndedError(call, end.end, end.killedBy);
    case "answer":
      return answered(call, end.answer);
  }
}

function answered(call: ToolCall, answer: CellAnswer): Answered {
  const { interruption, marks } = call;
  // What was over before it was told to stop stands as it is.
  const stopped = interruption !== undefined && !(marks.finished < interruption.at);
  if (answer.kind === "skipped") throw interruptedError(call, undefined);
  if (answer.kind !== "threw") {
    // What came in spite of a budget that was used up is paid for.
    if (stopped && interruption.reason !== "budget") throw interruptedError(call, undefined, { completed: true });
    return answer;
  }
  const thrown = decodeError(answer.error);
  if (stopped && !call.escaped) throw interruptedError(call, thrown);
  throw thrownError(call, thrown);
}

function thrownError(call: ToolCall, cause: Error): ToolExecutionError {
  const code = (cause as { code?: unknown }).code;
  if (cause instanceof ToolExecutionError && (code === "RESULT_TOO_LARGE" || code === "RESULT_NOT_CLONEABLE")) {
    return new ToolExecutionError(`${subject(call)}: ${cause.message}`, {
      code,
      outcome: "threw",
      cause,
      details: details(call),
    });
  }
  if (call.escaped) {
    return new ToolExecutionError(`${subject(call)} crashed: an error escaped from it: ${cause.message}`, {
      code: "CELL_CRASHED",
      outcome: "crashed",
      cause,
      details: details(call),
    });
  }
  const hint = deniedHint(cause);
  return new ToolExecutionError(`${subject(call)} threw ${cause.name}: ${cause.message}${hint}`, {
    outcome: "threw",
    cause,
    details: details(call),
  });
}

/** What was refused by the cell's permissions, and what to do about it. */
function deniedHint(cause: Error): string {
  const { code, permission, resource } = cause as { code?: unknown; permission?: unknown; resource?: unknown };
  if (code !== "ERR_ACCESS_DENIED" || typeof permission !== "string" || permission === "") return "";
  const of = typeof resource === "string" && resource !== "" ? ` of "${resource}"` : "";
  const mend: Readonly<Record<string, string>> = {
    FileSystemRead: "Bind a resource there and name its slot in capability.fs.read.",
    FileSystemWrite:
      "Bind a resource there with access read_write, name its slot in capability.fs.write, and use a plan that is not read-only.",
    ChildProcess: "capability: { spawn: true } at registration grants it.",
    Net: "capability: { net: true } at registration grants it.",
  };
  return ` (${permission}${of} is not granted in this plan.${mend[permission] ? ` ${mend[permission]}` : ""})`;
}

/** The error of a call that was told to stop. */
export function interruptedError(
  call: ToolCall,
  cause: unknown,
  more: { completed?: boolean; end?: CellEnd } = {},
): ToolCancelledError | ToolExecutionError {
  const { reason, detail } = call.interruption ?? { reason: "cancelled", detail: undefined };
  const deadline = reason === "deadline";
  const outcome = more.end ? outcomeOf(more.end) : deadline ? "timed_out" : "cancelled";
  const ending = more.end
    ? endingText(more.end)
    : more.completed
      ? " The tool ran to its end; its output was discarded."
      : "";
  const options = {
    outcome,
    // A tool that merely obeyed has nothing to add to why it was told to.
    cause: cause && !(cause instanceof ToolCancelledError) ? cause : (detail ?? cause),
    details: { ...details(call), reason, ...(more.completed && { completed: true }) },
  };
  if (reason === "budget") {
    return new ToolExecutionError(`${subject(call)} was stopped: ${String(detail)}.${ending}`, {
      ...options,
      cause,
      code: "COST_LIMIT_EXCEEDED",
    });
  }
  if (deadline) {
    return new ToolExecutionError(`${subject(call)} passed its deadline.${ending}`, { ...options, code: "TIMED_OUT" });
  }
  return new ToolCancelledError(`${subject(call)} was cancelled${whyCancelled(reason)}.${ending}`, options);
}

/** What a cancellation without a word of its own comes from; continues a sentence. */
export function whyCancelled(reason: CancelReason | undefined): string {
  switch (reason) {
    case "plan_deactivated":
      return " since its plan was deactivated";
    case "runtime_closed":
      return " since the runtime was closed";
    default:
      return "";
  }
}

function cellEndedError(call: ToolCall, end: CellEnd, killedBy: string | undefined): Error {
  if (call.interruption) return interruptedError(call, end.error, { end });
  const outcome = outcomeOf(end);
  const texts: Readonly<Record<CellEnd["kind"], string>> = {
    released: "was in a cell that was given back",
    killed:
      killedBy === undefined
        ? "was in a cell that was killed"
        : `was killed: call ${killedBy} in the same cell did not stop and the cell had to be ended`,
    crashed: `crashed: its cell ended${end.exitCode === undefined ? "" : ` with exit code ${end.exitCode}`}`,
    out_of_memory: "ran out of memory: its cell reached its heap limit (capability.memoryMb)",
    quarantined: "may still be running: its cell could not be ended",
    abandoned: "may still be running: an inline tool cannot be ended",
  };
  const reason = end.error ? `: ${end.error.message}` : "";
  return new ToolExecutionError(`${subject(call)} ${texts[end.kind]}${reason}.`, {
    code: codeOf(end),
    outcome,
    cause: end.error,
    details: {
      ...details(call),
      ...(killedBy !== undefined && { killedBy }),
      ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
    },
  });
}

function outcomeOf(end: CellEnd): Outcome {
  switch (end.kind) {
    case "crashed":
    case "out_of_memory":
      return end.kind;
    case "quarantined":
    case "abandoned":
      return "unsettled";
    default:
      return "killed";
  }
}

function codeOf(end: CellEnd): ErrorCode {
  if (end.kind === "crashed") return "CELL_CRASHED";
  return end.kind === "out_of_memory" ? "OUT_OF_MEMORY" : "CELL_KILLED";
}

function endingText(end: CellEnd): string {
  switch (end.kind) {
    case "crashed":
      return " Its cell crashed while it was stopping.";
    case "out_of_memory":
      return " Its cell ran out of memory while it was stopping.";
    case "quarantined":
      return " It did not stop and its cell could not be ended: its work may still go on.";
    case "abandoned":
      return " It did not stop and an inline tool cannot be ended: its work may still go on.";
    default:
      return " It did not stop and its cell was killed.";
  }
}

/** Which outcome a trace tells for an error. */
export function outcomeOfError(error: unknown): Outcome {
  if (error instanceof ToolCancelledError || error instanceof ToolExecutionError) return error.outcome;
  if (error instanceof ToolActivationError) return "activation_failed";
  if (
    error instanceof ToolAccessDeniedError ||
    error instanceof ToolCheckpointRequiredError ||
    error instanceof ToolSandboxRequiredError ||
    error instanceof ToolSafetyViolationError ||
    error instanceof ToolHumanApprovalRequiredError ||
    error instanceof ToolCostLimitExceededError
  ) {
    return "denied";
  }
  if (error instanceof ToolRuntimeError) {
    if (error.code === "NOT_REGISTERED") return "not_registered";
    if (error.code === "OVERLOADED" || error.code === "CELLS_EXHAUSTED") return "overloaded";
    return "denied";
  }
  return "threw";
}

function subject(call: ToolCall): string {
  return `Tool "${call.toolName}" (plan "${call.planId}", call ${call.callId})`;
}

function details(call: ToolCall): Record<string, unknown> {
  return { tool: call.toolName, planId: call.planId, callId: call.callId };
}
