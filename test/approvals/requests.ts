/** Requests for approval as the runtime words them. */
import type { ApprovalRequest } from "../../src/index.js";
import { approvalRequest, type ApprovalSubject } from "../../src/runtime/approval.js";

/** One that is good for an hour. */
export function requestFor(change: Partial<ApprovalSubject> = {}): ApprovalRequest {
  const now = Date.now();
  const request = approvalRequest({
    planId: "plan",
    callId: "call",
    toolName: "acme/tool",
    input: { path: "a.txt" },
    requestedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 3_600_000).toISOString(),
    ...change,
  });
  if (typeof request === "string") throw new Error(request);
  return request;
}
