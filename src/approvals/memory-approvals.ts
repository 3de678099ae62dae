/** Requests for approval that wait in this process until somebody decides. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { ApprovalDecision, ApprovalProvider, ApprovalRequest } from "../runtime/approval.js";

/** What a decider says: a decision without the id, which is given beside it. */
export type Verdict = Omit<ApprovalDecision, "approvalId">;

/** What {@link MemoryApprovals} takes. */
export interface MemoryApprovalsOptions {
  /** Hears of each request when it begins to wait. */
  readonly onRequest?: (request: ApprovalRequest) => void;
}

/**
 * Keeps requests in memory: list them with `pending`, answer them with `decide`, in any order.
 *
 * @example
 * ```ts
 * import { MemoryApprovals, ToolRuntime } from "toolcell";
 *
 * const approvals: MemoryApprovals = new MemoryApprovals({
 *   onRequest: ({ approvalId, toolName }) => approvals.decide(approvalId, { approved: toolName === "acme/double", decidedBy: "me" }),
 * });
 * await using runtime = new ToolRuntime({ approvals });
 * const spec = { name: "acme/double", description: "Doubles a number.", inputSchema: { type: "number" } };
 * runtime.register(spec, { execute: (input) => Number(input) * 2, capability: { requiresApproval: true } });
 * await using plan = runtime.plan({ planId: "sums" });
 * console.log((await plan.execute("acme/double", 21)).output); // → 42
 * ```
 */
export class MemoryApprovals implements ApprovalProvider {
  readonly #onRequest: ((request: ApprovalRequest) => void) | undefined;
  readonly #waiting = new Map<
    string,
    { readonly request: ApprovalRequest; answer(decision: ApprovalDecision): void }
  >();

  constructor({ onRequest }: MemoryApprovalsOptions = {}) {
    this.#onRequest = onRequest;
  }

  requestApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { approvalId } = request;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(approvalId);
        signal.removeEventListener("abort", gone);
      };
      const gone = (): void => {
        leave();
        reject(new Error("nobody waits for it any more"));
      };
      if (this.#waiting.has(approvalId)) {
        reject(new Error("the same request is waiting already"));
        return;
      }
      this.#waiting.set(approvalId, {
        request,
        answer: (decision) => {
          leave();
          resolve(decision);
        },
      });
      signal.addEventListener("abort", gone, { once: true });
      this.#onRequest?.(request);
    });
  }

  /** The requests that wait, oldest first. */
  pending(): ApprovalRequest[] {
    return [...this.#waiting.values()].map(({ request }) => request);
  }

  /**
   * Answers a request.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where no such request waits: it was answered, has expired, or never was
   */
  decide(approvalId: string, verdict: Verdict): void {
    const waiting = this.#waiting.get(approvalId);
    if (!waiting) {
      throw new ToolRuntimeError(`No request for approval "${approvalId}" waits; pending() lists those that do.`, {
        code: "INVALID_ARGUMENT",
        details: { approvalId },
      });
    }
    waiting.answer({ ...verdict, approvalId });
  }
}
