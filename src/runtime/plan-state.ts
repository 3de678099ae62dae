/** What the runtime keeps of a plan that is in use. */
import { randomBytes } from "node:crypto";
import { ToolRuntimeError } from "../protocol/errors.js";
import type { Activation } from "./activation.js";
import type { PlanBudget } from "./budget.js";
import { isMadeId } from "./call-ids.js";
import { Chain } from "./chain.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { RetrySeries } from "./retry-series.js";
import type { ToolCall } from "./tool-call.js";

/** One plan. */
export class PlanState {
  readonly planId: string;
  /** The first context that used the id; it settles what the plan's tools are granted. */
  readonly context: ToolExecutionContext;
  /** 32 hex digits, the trace id of W3C Trace Context. */
  readonly traceId = randomBytes(16).toString("hex");
  readonly #calls = new Chain<ToolCall>();
  /** Calls that may be made again. */
  readonly retries = new Set<RetrySeries>();
  /** Ids that callers gave themselves. */
  readonly #givenIds = new Set<string>();
  readonly activations = new Map<string, Activation>();
  /** How often each tool was activated, also by activations that are gone. */
  readonly activationCounts = new Map<string, number>();
  /** Resolves when the plan's deactivation under way has ended. */
  closing: Promise<void> | undefined;
  /** Its tools are being deactivated: no further one may be activated. */
  sealed = false;
  /** `performance.now()` */
  lastUsed = performance.now();

  constructor(context: ToolExecutionContext) {
    this.planId = context.planId;
    this.context = context;
  }

  /**
   * Another context may share the plan where it grants the same.
   * @throws ToolRuntimeError `PLAN_CONFLICT`, `PLAN_CLOSING`
   */
  join(context: ToolExecutionContext): void {
    if (this.closing) throw this.closingError();
    if (context !== this.context && fingerprint(context) !== fingerprint(this.context)) {
      throw new ToolRuntimeError(
        `Plan "${this.planId}" is in use by a context with another grant (read-only, checkpoints, safety profile, budget or resources differ). Deactivate ` +
          `the plan first, or use another plan id.`,
        { code: "PLAN_CONFLICT", details: { planId: this.planId } },
      );
    }
  }

  closingError(): ToolRuntimeError {
    return new ToolRuntimeError(
      `Plan "${this.planId}" is being deactivated. Wait for deactivatePlan() before you use it again.`,
      { code: "PLAN_CLOSING", details: { planId: this.planId } },
    );
  }

  /** @throws ToolRuntimeError `CALL_ID_IN_USE` */
  add(call: ToolCall): void {
    if (this.#hasId(call)) {
      throw new ToolRuntimeError(`A call with the id "${call.callId}" is still running in plan "${this.planId}".`, {
        code: "CALL_ID_IN_USE",
        details: { callId: call.callId, planId: this.planId },
      });
    }
    if (call.serial === undefined) this.#givenIds.add(call.callId);
    call.planLink = this.#calls.add(call);
  }

  /** A call is over. */
  remove(call: ToolCall): void {
    if (call.serial === undefined) this.#givenIds.delete(call.callId);
    if (call.planLink) this.#calls.remove(call.planLink);
  }

  /** What the plan may spend. */
  get budget(): PlanBudget | undefined {
    return this.context.books;
  }

  /** The calls that are not over. */
  get calls(): ToolCall[] {
    return this.#calls.values();
  }

  #hasId({ callId, serial }: ToolCall): boolean {
    if (this.#givenIds.size > 0 && this.#givenIds.has(callId)) return true;
    // Ids that are made differ from each other; one that is given may be one that was made.
    return serial === undefined && isMadeId(callId) && this.calls.some((call) => call.callId === callId);
  }

  /** Whether there is nothing to remember of the plan. */
  get empty(): boolean {
    return !this.hasCalls && this.activations.size === 0 && this.activationCounts.size === 0 && !this.closing;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0 || this.retries.size > 0;
  }

  get inUse(): boolean {
    return this.hasCalls || [...this.activations.values()].some(({ inUse }) => inUse);
  }
}

function fingerprint(context: ToolExecutionContext): string {
  const resources = [...context.boundResources].sort((one, other) => (one.slotName < other.slotName ? -1 : 1));
  return JSON.stringify([
    context.readOnly,
    context.requireCheckpoints,
    context.safety?.text,
    context.books?.text,
    resources.map(({ slotName, resourceId, resourceType, access, path }) => [
      slotName,
      resourceId,
      resourceType,
      access,
      path,
    ]),
  ]);
}
