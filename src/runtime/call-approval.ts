/** A call that waits for a human's word. */
import { ToolHumanApprovalRequiredError } from "../protocol/errors.js";
import { approvalRequest, awaitApproval, type ApprovalProvider } from "./approval.js";
import type { ToolCall } from "./tool-call.js";
import { unlessInterrupted } from "./unless-interrupted.js";

/**
 * Asks for a call's approval; its deadline stands still meanwhile.
 * @param expiresInMs how long the request is good for
 * @throws ToolHumanApprovalRequiredError, and what stopped the call while it waited
 */
export async function approveCall(call: ToolCall, provider: ApprovalProvider, expiresInMs: number): Promise<void> {
  // What is shown is what runs, whatever the caller does to its object meanwhile.
  call.keepInput();
  const { planId, callId, toolName, context, parent, tool } = call;
  const now = Date.now();
  const request = approvalRequest({
    planId,
    callId,
    ...(parent && { parentCallId: parent.callId }),
    toolName,
    ...(tool?.spec.version !== undefined && { toolVersion: tool.spec.version }),
    ...(context.actorName !== undefined && { actorName: context.actorName }),
    input: call.input,
    requestedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + expiresInMs).toISOString(),
  });
  if (typeof request === "string" || call.transfer) {
    const why = typeof request === "string" ? request : "buffers that are handed over cannot be shown and approved";
    throw new ToolHumanApprovalRequiredError(
      `Tool "${toolName}" (plan "${planId}", call ${callId}) needs a human's approval, and ${why}.`,
      { details: { tool: toolName, planId, callId } },
    );
  }
  const stop = new AbortController();
  call.pauseDeadline();
  try {
    await unlessInterrupted(call, awaitApproval(provider, request, stop.signal), stop);
    call.approvalId = request.approvalId;
  } finally {
    call.resumeDeadline();
  }
}
