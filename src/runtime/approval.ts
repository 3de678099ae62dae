/** A human's word on single calls: what is asked, what is answered, who carries both. */
import { createHash } from "node:crypto";
import { canonicalize } from "json-canonicalize";
import { ToolHumanApprovalRequiredError } from "../protocol/errors.js";

/**
 * What a human is asked: may this very call run? Plain JSON, so that it can be listed, stored, and answered by another
 * process.
 */
export interface ApprovalRequest {
  /** Made of all that the approval is bound to: plan, call, tool and version, input, actor. 64 hex digits. */
  readonly approvalId: string;
  /** The plan that it is a call of. */
  readonly planId: string;
  /** The call's own id. */
  readonly callId: string;
  /** The call in whose course this one was made. */
  readonly parentCallId?: string;
  /** `namespace/name` */
  readonly toolName: string;
  /** Where the tool has one. */
  readonly toolVersion?: string;
  /** Who acts, as the plan's context says. */
  readonly actorName?: string;
  /** The input as the tool would get it. */
  readonly input: unknown;
  /** SHA-256 of the input in the form of RFC 8785, in hex. */
  readonly inputDigest: string;
  /** ISO 8601, UTC. */
  readonly requestedAt: string;
  /** ISO 8601, UTC: an answer that comes later counts for nothing. */
  readonly expiresAt: string;
}

/** A human's answer. */
export interface ApprovalDecision {
  /** The request that is answered; for another one it counts for nothing. */
  readonly approvalId: string;
  /** Whether the call may run. */
  readonly approved: boolean;
  /** Who decided. */
  readonly decidedBy?: string;
  /** Why, for whoever made the call. */
  readonly reason?: string;
}

/** Carries requests to humans and brings back what they decide. */
export interface ApprovalProvider {
  /**
   * Asks. What is thrown, and whatever is no decision for this request with `approved: true`, means no.
   * @param signal aborts when nobody waits for the answer any more: the call was cancelled, or the request has expired
   */
  requestApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>;
}

/** What a request is about. */
export type ApprovalSubject = Omit<ApprovalRequest, "approvalId" | "inputDigest">;

/**
 * Words a request.
 * @returns why there can be none, where the input is no JSON: a human could not be shown what runs
 */
export function approvalRequest(subject: ApprovalSubject): ApprovalRequest | string {
  const stranger = noJson(subject.input);
  if (stranger !== undefined) return `its input holds ${stranger}, and only JSON can be shown and approved`;
  // Objects that are met twice in an input are two in JSON.
  const text = jsonOf(subject.input ?? null);
  if (text === undefined) return "its input holds a cycle, and only JSON can be shown and approved";
  const input = JSON.parse(text) as unknown;
  const inputDigest = sha256(canonicalize(input));
  const { planId, callId, toolName, toolVersion = null, actorName = null } = subject;
  const approvalId = sha256(canonicalize([planId, callId, toolName, toolVersion, inputDigest, actorName]));
  return Object.freeze({ ...subject, approvalId, input, inputDigest });
}

/**
 * Waits for the answer to a request.
 * @param stop aborts when the call is told to stop
 * @throws ToolHumanApprovalRequiredError for every answer but yes
 */
export async function awaitApproval(
  provider: ApprovalProvider,
  request: ApprovalRequest,
  stop: AbortSignal,
): Promise<void> {
  const expiry = new AbortController();
  const signal = AbortSignal.any([stop, expiry.signal]);
  const timer = setTimeout(
    () => {
      expiry.abort();
    },
    Math.max(0, Date.parse(request.expiresAt) - Date.now()),
  );
  const over = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  try {
    const decision = await Promise.race([asked(provider, request, signal), over]);
    const refusal = signal.aborted ? "nobody answered in time" : refusalOf(decision, request);
    if (refusal !== undefined) throw refused(request, refusal);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws ToolHumanApprovalRequiredError where the provider fails: without an answer nothing runs */
async function asked(provider: ApprovalProvider, request: ApprovalRequest, signal: AbortSignal): Promise<unknown> {
  try {
    return await provider.requestApproval(request, signal);
  } catch (cause) {
    throw refused(
      request,
      `it could not be asked for: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
}

function refusalOf(decision: unknown, { approvalId }: ApprovalRequest): string | undefined {
  if (typeof decision !== "object" || decision === null) return "the answer was no decision";
  const { approvalId: answered, approved, decidedBy, reason } = decision as Partial<ApprovalDecision>;
  if (answered !== approvalId) return "the answer was to another request";
  if (approved === true) return undefined;
  const who = typeof decidedBy === "string" ? ` by ${decidedBy}` : "";
  return `it was declined${who}${typeof reason === "string" ? `: ${reason}` : ""}`;
}

function refused(request: ApprovalRequest, why: string, cause?: unknown): ToolHumanApprovalRequiredError {
  const { toolName, planId, callId } = request;
  return new ToolHumanApprovalRequiredError(
    `Tool "${toolName}" (plan "${planId}", call ${callId}) needs a human's approval, and ${why}.`,
    { details: { tool: toolName, planId, callId, approval: request }, ...(cause !== undefined && { cause }) },
  );
}

/** What in a value is no JSON. */
function noJson(root: unknown): string | undefined {
  const rest: unknown[] = [root];
  const seen = new Set<object>();
  while (rest.length > 0) {
    const value = rest.pop();
    switch (typeof value) {
      case "string":
      case "boolean":
      case "undefined":
        continue;
      case "number":
        if (!Number.isFinite(value)) return String(value);
        continue;
      case "object":
        break;
      default:
        return `a ${typeof value}`;
    }
    if (value === null || seen.has(value)) continue;
    seen.add(value);
    const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
    if (Array.isArray(value) || prototype === null || prototype === Object.prototype) {
      for (const member of Object.values(value)) rest.push(member);
    } else return `a ${String(prototype.constructor?.name)}`;
  }
  return undefined;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
