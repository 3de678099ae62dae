/** One call from door to door. Read this first. */
import { AsyncLocalStorage } from "node:async_hooks";
import { ToolCancelledError, ToolRuntimeError, type ErrorCode } from "../protocol/errors.js";
import { flatSize, measurePayload } from "../protocol/payload.js";
import type { Change, ToolError, ToolResult } from "../protocol/tool.js";
import type { Outcome, ToolExecutionTrace } from "../protocol/trace.js";
import { nearest } from "../nearest.js";
import { describeViolations } from "../schema/violations.js";
import type { Admission } from "./admission.js";
import type { Activation } from "./activation.js";
import { approveCall } from "./call-approval.js";
import { assertSaved } from "./call-checkpoint.js";
import { answerOf, interruptedError, outcomeOfError, type Answered } from "./call-outcome.js";
import { executeChannel, traceOf, type ExecuteMessage } from "./call-trace.js";
import type { CellTier } from "./cell.js";
import { needsApproval, passGates, policiesOf, type GateKeepers } from "./gates.js";
import type { ResolvedOptions } from "./options.js";
import type { PlanState } from "./plan-state.js";
import type { RuntimeEvents } from "./runtime-events.js";
import type { ToolCall } from "./tool-call.js";
import type { Registration, ToolRegistry } from "./tool-registry.js";

/** Names of tools in the message of a call that names none of them. */
const NAMES_SHOWN = 8;

/** What the pipeline works with. */
export interface Pipeline extends GateKeepers {
  readonly options: ResolvedOptions;
  readonly registry: ToolRegistry;
  readonly admission: Admission;
  /** Waits until a call of a plan that requires checkpoints may run. */
  checkpointed(plan: PlanState, call: ToolCall, tool: Registration): Promise<void>;
  readonly events: RuntimeEvents;
  /** The plan's activation of a tool, made when there is none. */
  activationOf(plan: PlanState, tool: Registration, tier: CellTier): Activation;
  /** Counts an execution in the cache. */
  executed(call: ToolCall): void;
  /** Runs when the call is over, whatever became of it. */
  closed(plan: PlanState, call: ToolCall): void;
}

/** Runs one call, published to whoever listens. */
export function execute(pipeline: Pipeline, plan: PlanState, call: ToolCall): Promise<ToolResult> {
  if (!executeChannel.hasSubscribers) return run(pipeline, plan, call);
  const message: ExecuteMessage = {
    toolName: call.toolName,
    planId: call.planId,
    callId: call.callId,
    ...(call.parent && { parentCallId: call.parent.callId }),
  };
  return executeChannel.tracePromise(
    () =>
      run(pipeline, plan, call).finally(() => {
        if (call.trace) message.trace = call.trace;
      }),
    message,
  );
}

async function run(pipeline: Pipeline, plan: PlanState, call: ToolCall): Promise<ToolResult> {
  try {
    checkCancelled(call);
    const tool = findTool(pipeline, call);
    call.tool = tool;
    const tier = passGates(tool, call.context, pipeline);
    const invalid = checkInput(pipeline, tool, call);
    if (invalid) return fail(call, "invalid_input", invalid);
    call.marks.validated = performance.now();
    // A human has approved the call, with all of its attempts.
    if (
      pipeline.approvals &&
      call.approvalId === undefined &&
      needsApproval(tool, policiesOf(call.context, pipeline))
    ) {
      // Nobody is asked for what there is no budget for.
      plan.budget?.check(call.toolName, call.estimate);
      await approveCall(call, pipeline.approvals, pipeline.options.approvalTimeoutMs);
    }
    plan.budget?.open(call);
    call.budget = plan.budget;
    call.marks.approved = performance.now();
    if (plan.context.requireCheckpoints) await pipeline.checkpointed(plan, call, tool);
    if (tool.source.kind === "object") call.inCallerContext = AsyncLocalStorage.snapshot();
    if (!takeTurn(pipeline, call)) await turn(pipeline, call);
    call.marks.admitted = performance.now();
    const activation = pipeline.activationOf(plan, tool, tier);
    if (call.checkpoint) assertSaved(call, activation.granted);
    activation.run(call);
    const end = await call.ended;
    if (end.kind === "refused") {
      return fail(call, "invalid_input", notCopied(call, "INPUT_NOT_CLONEABLE", end.message));
    }
    const answer = answerOf(call, end);
    pipeline.executed(call);
    return closeAnswered(pipeline, tool, call, answer);
  } catch (error) {
    refuse(call, error);
    throw error;
  } finally {
    call.release();
    pipeline.closed(plan, call);
  }
}

/** Leaves the trace of a call that ends with an error. */
export function refuse(call: ToolCall, error: unknown): void {
  record(call, { outcome: outcomeOfError(error), error: asError(error), size: 0 });
}

function checkCancelled(call: ToolCall): void {
  const token = call.cancelledToken();
  if (token) call.interrupt("cancelled", token.reason);
  if (call.interruption) throw interruptedError(call, undefined);
}

function findTool(pipeline: Pipeline, call: ToolCall): Registration {
  const tool = pipeline.registry.registration(call.toolName);
  if (tool) return tool;
  const names = pipeline.registry.list().map(({ name }) => name);
  const meant = nearest(call.toolName, names);
  const hint = meant
    ? `Did you mean "${meant}"?`
    : names.length > 0
      ? `Registered are ${names.slice(0, NAMES_SHOWN).join(", ")}${names.length > NAMES_SHOWN ? ", …" : ""}.`
      : "No tool is registered yet.";
  throw new ToolRuntimeError(`Tool "${call.toolName}" is not registered (plan "${call.planId}"). ${hint}`, {
    code: "NOT_REGISTERED",
    details: { tool: call.toolName, planId: call.planId },
  });
}

function checkInput(pipeline: Pipeline, tool: Registration, call: ToolCall): ToolError | undefined {
  if (call.transfer && !canHandOver(call.transfer)) {
    return notCopied(
      call,
      "INPUT_NOT_CLONEABLE",
      "has a buffer in `transfer` that is listed twice or was handed over before",
    );
  }
  const { maxPayloadDepth, maxPayloadValues } = pipeline.options;
  const limits = { maxBytes: Infinity, maxDepth: maxPayloadDepth, maxValues: maxPayloadValues };
  const flat = flatSize(call.input, limits);
  call.inputIsFlat = flat >= 0;
  const size = call.inputIsFlat ? flat : measurePayload(call.input, limits);
  if (typeof size === "object") {
    const code = size.reason === "too_large" ? "INPUT_TOO_LARGE" : "INPUT_NOT_CLONEABLE";
    return notCopied(call, code, size.message);
  }
  const violations = tool.input.check(call.input);
  if (!violations) return undefined;
  return {
    code: "SCHEMA_VALIDATION_FAILED",
    message: `Input validation failed for tool "${call.toolName}": ${describeViolations(violations)}.`,
    details: { errors: violations },
  };
}

function canHandOver(buffers: readonly ArrayBuffer[]): boolean {
  try {
    // A view on a buffer that is gone throws.
    for (const buffer of buffers) new Uint8Array(buffer);
    return new Set(buffers).size === buffers.length;
  } catch {
    return false;
  }
}

function notCopied(call: ToolCall, code: ErrorCode, message: string): ToolError {
  return {
    code,
    message: `Input validation failed for tool "${call.toolName}": the input ${message.replace(/\.$/, "")}.`,
    details: {},
  };
}

/** A nested call goes with its caller's turn. */
function takeTurn(pipeline: Pipeline, call: ToolCall): boolean {
  return call.parent !== undefined || pipeline.admission.enter(call);
}

function turn(pipeline: Pipeline, call: ToolCall): Promise<void> {
  call.keepInput();
  return new Promise((resolve, reject) => {
    call.onTurn = () => {
      call.onInterrupt = undefined;
      resolve();
    };
    call.onInterrupt = () => {
      // The turn may have been given in this very moment; then the call goes on and is stopped later.
      if (pipeline.admission.leave(call)) reject(interruptedError(call, undefined));
    };
    // It may have been told to stop between a human's word and this moment, when nobody held it.
    if (call.interruption) call.onInterrupt();
  });
}

function closeAnswered(pipeline: Pipeline, tool: Registration, call: ToolCall, answer: Answered): ToolResult {
  for (const change of answer.changes ?? []) (call.changes ??= []).push(change);
  if (answer.kind === "tool_error") return fail(call, "tool_error", answer.error);
  const size = answer.size >= 0 ? answer.size : 0;
  const violations = tool.output?.check(answer.output);
  if (violations) {
    const text = `Output validation failed for tool "${call.toolName}": ${describeViolations(violations)}.`;
    if (pipeline.options.outputValidation === "error") {
      const error = { code: "SCHEMA_VALIDATION_FAILED", message: text, details: { errors: violations } };
      return fail(call, "invalid_output", error, size);
    }
    pipeline.events.warn({ code: "INVALID_OUTPUT", message: text, planId: call.planId, toolName: call.toolName });
  }
  const { changes, trace } = record(call, { outcome: "ok", size });
  return { success: true, output: answer.output, changes, trace };
}

/** Ends a call with an answer that is no success. */
function fail(call: ToolCall, outcome: Outcome, error: ToolError, size = 0): ToolResult {
  const { changes, trace } = record(call, { outcome, error, size });
  return { success: false, error, changes, trace };
}

/** Records changes, cost and trace. */
function record(
  call: ToolCall,
  { outcome, error, size }: { readonly outcome: Outcome; readonly error?: ToolError | Error; readonly size: number },
): { readonly changes: Change[]; readonly trace: ToolExecutionTrace } {
  const { context } = call;
  const checkpointId = call.checkpoint?.checkpointId;
  const changes = (call.changes ?? []).map((change) => context.keepChange(change, checkpointId));
  const trace = traceOf(call, { outcome, resultSizeBytes: size, ...(error && { error }) });
  call.trace = trace;
  call.meter?.ended(trace, call.moves);
  context.keepTrace(trace, call.serial);
  return { changes, trace };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new ToolCancelledError(String(error));
}
