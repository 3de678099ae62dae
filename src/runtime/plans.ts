/** The plans in use, and how they end. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { CancelReason } from "../protocol/cancel-words.js";
import type { Activation } from "./activation.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { ToolLifecycleCache } from "./lifecycle-cache.js";
import { PlanState } from "./plan-state.js";
import type { ToolCall } from "./tool-call.js";

/** Bounds on plans. */
export interface PlansOptions {
  readonly planIdleMs: number;
  readonly maxActivations: number;
  readonly maxActivationsPerPlan: number;
  readonly maxPlans: number;
}

/** Keeps plans. */
export class Plans {
  readonly #plans = new Map<string, PlanState>();
  readonly #options: PlansOptions;
  readonly #cache: ToolLifecycleCache<Activation>;
  #sweeper: NodeJS.Timeout | undefined;
  /** Tools that are being deactivated, also of plans that are forgotten. */
  readonly #ending = new Set<Promise<void>>();
  #activations = 0;

  constructor(options: PlansOptions, cache: ToolLifecycleCache<Activation>) {
    this.#options = options;
    this.#cache = cache;
  }

  /**
   * The plan of a context, begun when it is not in use.
   * @throws ToolRuntimeError `PLAN_CONFLICT`, `PLAN_CLOSING`, `OVERLOADED` when too many plans are in use
   */
  open(context: ToolExecutionContext): PlanState {
    let plan = this.#plans.get(context.planId);
    if (plan) {
      plan.join(context);
      plan.lastUsed = performance.now();
    } else {
      if (this.#plans.size >= this.#options.maxPlans) this.#makeRoomForPlan(context.planId);
      plan = new PlanState(context);
      this.#plans.set(context.planId, plan);
      this.#watch();
    }
    return plan;
  }

  get(planId: string): PlanState | undefined {
    return this.#plans.get(planId);
  }

  /** Plans in use. */
  get count(): number {
    return this.#plans.size;
  }

  /** Tools activated, over all plans. */
  get activationCount(): number {
    return this.#activations;
  }

  /** Calls that wait for a cell. */
  get waitingCalls(): number {
    let count = 0;
    for (const { activations } of this.#plans.values())
      for (const { waiting } of activations.values()) count += waiting;
    return count;
  }

  ids(): string[] {
    return [...this.#plans.keys()];
  }

  /** The calls that are not over, of one plan or of all. */
  calls(planId?: string): ToolCall[] {
    const plans = planId === undefined ? [...this.#plans.values()] : [this.#plans.get(planId)];
    return plans.flatMap((plan) => plan?.calls ?? []);
  }

  /** Plans in which a tool is activated. */
  plansOf(toolName: string): string[] {
    return this.ids().filter((planId) => this.#cache.get(planId, toolName) !== undefined);
  }

  /**
   * Adds an activation.
   * @throws ToolRuntimeError `OVERLOADED` when too many tools are activated and all are in use
   */
  add(plan: PlanState, activation: Activation): void {
    if (plan.sealed) throw plan.closingError();
    const { maxActivationsPerPlan } = this.#options;
    if (plan.activations.size >= maxActivationsPerPlan) {
      throw new ToolRuntimeError(
        `Tool "${activation.toolName}" was not activated in plan "${plan.planId}": ${maxActivationsPerPlan} tools are activated there ` +
          `already. Deactivate some of them, or raise maxActivationsPerPlan.`,
        { code: "OVERLOADED", details: { tool: activation.toolName, planId: plan.planId } },
      );
    }
    if (this.#activations >= this.#options.maxActivations && !this.#makeRoom(plan)) {
      throw new ToolRuntimeError(
        `Tool "${activation.toolName}" was not activated in plan "${plan.planId}": ${this.#activations} tools are activated and all ` +
          `are in use. Deactivate plans that have ended, or raise maxActivations.`,
        { code: "OVERLOADED", details: { tool: activation.toolName, planId: plan.planId } },
      );
    }
    plan.activations.set(activation.toolName, activation);
    this.#activations++;
  }

  /** A tool has a cell: the cache shows it. */
  activated(activation: Activation): void {
    const { planId, toolName } = activation;
    const plan = this.#plans.get(planId);
    // One that was replaced, or whose plan has ended, finishes its calls unseen.
    if (plan?.activations.get(toolName) !== activation) return;
    const count = (plan.activationCounts.get(toolName) ?? 0) + 1;
    plan.activationCounts.set(toolName, count);
    if (this.#cache.get(planId, toolName) === activation) this.#cache.countActivation(planId, toolName, count);
    else this.#cache.put(planId, toolName, activation, count);
  }

  /** Forgets an activation that has no cell. */
  evict(activation: Activation): void {
    const plan = this.#plans.get(activation.planId);
    if (plan?.activations.get(activation.toolName) !== activation) return;
    plan.activations.delete(activation.toolName);
    this.#activations--;
    this.#cache.remove(activation.planId, activation.toolName);
  }

  /** A call of the plan is over. A plan that activated nothing has nothing to keep. */
  left(plan: PlanState, call: ToolCall): void {
    plan.remove(call);
    plan.lastUsed = performance.now();
    this.tidy(plan);
  }

  /** Forgets a plan of which there is nothing to remember. */
  tidy(plan: PlanState): void {
    if (plan.empty) this.#forget(plan);
  }

  /** Deactivates one tool of a plan; a call that comes meanwhile gets an activation of its own. Never rejects. */
  async deactivate(planId: string, toolName: string, drain: boolean): Promise<void> {
    const plan = this.#plans.get(planId);
    const activation = plan?.activations.get(toolName);
    if (!plan || !activation) return;
    this.evict(activation);
    await this.#track(this.#endTool(plan, activation, drain));
    this.tidy(plan);
  }

  /** Resolves when every tool that is being deactivated has ended. */
  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  async #endTool(plan: PlanState, activation: Activation, drain: boolean): Promise<void> {
    await this.#end(() => plan.calls.filter((call) => call.activation === activation), drain, "plan_deactivated");
    await activation.close();
  }

  async #track(work: Promise<void>): Promise<void> {
    this.#ending.add(work);
    try {
      await work;
    } finally {
      this.#ending.delete(work);
    }
  }

  /** Deactivates a plan: its calls end, then its tools. Never rejects. */
  async deactivatePlan(planId: string, drain: boolean, reason: CancelReason = "plan_deactivated"): Promise<void> {
    const plan = this.#plans.get(planId);
    if (!plan) return;
    if (plan.closing) {
      if (!drain) for (const call of stoppable(plan)) call.interrupt(reason, undefined);
      await plan.closing;
      return;
    }
    plan.closing = this.#close(plan, drain, reason);
    await plan.closing;
  }

  async #close(plan: PlanState, drain: boolean, reason: CancelReason): Promise<void> {
    // A plan without calls gives its activations back at once.
    if (plan.hasCalls) await this.#end(() => stoppable(plan), drain, reason);
    plan.sealed = true;
    const activations = [...plan.activations.values()];
    for (const activation of activations) this.evict(activation);
    await Promise.all(activations.map((activation) => activation.close()));
    this.#forget(plan);
  }

  /** Ends calls, those included that they make meanwhile. */
  async #end(find: () => readonly Stoppable[], drain: boolean, reason: CancelReason): Promise<void> {
    for (let calls = find(); calls.length > 0; calls = find()) {
      if (!drain) for (const call of calls) call.interrupt(reason, undefined);
      await Promise.all(calls.map((call) => call.whenOver()));
    }
  }

  #forget(plan: PlanState): void {
    if (this.#plans.get(plan.planId) === plan) this.#plans.delete(plan.planId);
    if (this.#plans.size === 0) this.close();
  }

  /** @throws ToolRuntimeError `OVERLOADED` where every plan is in use */
  #makeRoomForPlan(planId: string): void {
    const idle = this.#longestIdle(() => true);
    if (!idle) {
      throw new ToolRuntimeError(
        `Plan "${planId}" was not begun: ${this.#plans.size} plans are in use. Deactivate plans that have ended, or raise maxPlans.`,
        { code: "OVERLOADED", details: { planId } },
      );
    }
    this.#retire(idle);
  }

  /** Deactivates the tools of the longest idle plan that is not the one in need. @returns whether there was one */
  #makeRoom(needy: PlanState): boolean {
    const idle = this.#longestIdle((plan) => plan !== needy && plan.activations.size > 0);
    if (!idle) return false;
    this.#retire(idle);
    return this.#activations < this.#options.maxActivations;
  }

  #longestIdle(mayGo: (plan: PlanState) => boolean): PlanState | undefined {
    let longest: PlanState | undefined;
    for (const plan of this.#plans.values()) {
      if (!mayGo(plan) || plan.inUse || plan.closing) continue;
      if (!longest || plan.lastUsed < longest.lastUsed) longest = plan;
    }
    return longest;
  }

  /** Looks for abandoned plans now and then, without keeping the process alive. */
  #watch(): void {
    const { planIdleMs } = this.#options;
    if (this.#sweeper || planIdleMs === 0) return;
    this.#sweeper = setInterval(
      () => {
        this.#sweep();
      },
      Math.max(1, planIdleMs / 4),
    ).unref();
  }

  /** Ends a plan that nobody uses. Its user may come back at any moment and begin it anew. */
  #retire(plan: PlanState): void {
    for (const activation of [...plan.activations.values()]) {
      this.evict(activation);
      void this.#track(activation.close());
    }
    this.#forget(plan);
  }

  #sweep(): void {
    const before = performance.now() - this.#options.planIdleMs;
    for (const plan of this.#plans.values()) {
      if (!plan.inUse && !plan.closing && plan.lastUsed <= before) this.#retire(plan);
    }
  }

  /** Stops looking for abandoned plans. */
  close(): void {
    if (this.#sweeper) clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

/** What ends with a plan. */
interface Stoppable {
  interrupt(reason: CancelReason, detail: unknown): void;
  whenOver(): Promise<void>;
}

function stoppable(plan: PlanState): Stoppable[] {
  // Those that would make further calls come first.
  return [...plan.retries, ...plan.calls];
}
