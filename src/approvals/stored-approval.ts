/** Approvals as text in files. What is read there is believed only as far as it is what its id stands for. */
import { isObject } from "../runtime/arguments.js";
import { approvalRequest, type ApprovalDecision, type ApprovalRequest } from "../runtime/approval.js";

const ID = /^[0-9a-f]{64}$/;
const NEEDED = ["planId", "callId", "toolName", "requestedAt", "expiresAt"] as const;
const OPTIONAL = ["parentCallId", "toolVersion", "actorName"] as const;

/** A decision, and until when it counts: a request that is made anew does not revive an answer to the one before. */
export type StoredDecision = ApprovalDecision & { readonly expiresAt: string };

/** Whether a text can be an approval's id, and so a part of a file's name. */
export function isApprovalId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

/** Whether the time of something that expires is over. */
export function isExpired({ expiresAt }: { readonly expiresAt: string }): boolean {
  return Date.parse(expiresAt) <= Date.now();
}

export function textOfRequest(request: ApprovalRequest): string {
  return `${JSON.stringify(request, undefined, 2)}\n`;
}

export function textOfDecision(decision: StoredDecision): string {
  return `${JSON.stringify(decision, undefined, 2)}\n`;
}

/**
 * Reads a request. Its id is made anew from all that it says, so that nobody approves one thing and lets run another.
 * @throws Error which says what is wrong
 */
export function requestOf(text: string, approvalId: string): ApprovalRequest {
  const stored = objectOf(text);
  const wrong =
    NEEDED.find((name) => typeof stored[name] !== "string") ??
    OPTIONAL.find((name) => stored[name] !== undefined && typeof stored[name] !== "string") ??
    (["requestedAt", "expiresAt"] as const).find((name) => !isTime(stored[name]));
  if (wrong !== undefined) throw new Error(`its \`${wrong}\` is missing or wrong`);
  const known = [...NEEDED, ...OPTIONAL, "input"].filter((name) => stored[name] !== undefined);
  const subject = Object.fromEntries(known.map((name) => [name, stored[name]])) as unknown as ApprovalRequest;
  const request = approvalRequest(subject);
  if (typeof request === "string") throw new Error(request);
  const isWhole = request.approvalId === stored["approvalId"] && request.inputDigest === stored["inputDigest"];
  if (!isWhole || request.approvalId !== approvalId) throw new Error("what it says is not what its id was made of");
  return request;
}

/**
 * Reads the decision on a request.
 * @throws Error which says what is wrong
 */
export function decisionOf(text: string, { approvalId }: ApprovalRequest): ApprovalDecision {
  const { approvalId: answered, approved, decidedBy, reason, expiresAt } = objectOf(text);
  if (answered !== approvalId) throw new Error("it is on another request");
  if (typeof approved !== "boolean") throw new Error("its `approved` is neither true nor false");
  for (const [name, value] of Object.entries({ decidedBy, reason })) {
    if (value !== undefined && typeof value !== "string") throw new Error(`its \`${name}\` is no text`);
  }
  if (!isTime(expiresAt)) throw new Error("its `expiresAt` is missing or wrong");
  if (isExpired({ expiresAt })) throw new Error("it is on a request that has expired");
  return {
    approvalId,
    approved,
    ...(typeof decidedBy === "string" && { decidedBy }),
    ...(typeof reason === "string" && { reason }),
  };
}

function objectOf(text: string): Partial<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    throw new Error("it is no JSON");
  }
  if (!isObject(value)) throw new Error("it is no object");
  return value;
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && Number.isFinite(Date.parse(value));
}
