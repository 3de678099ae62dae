/** The tools that are activated, by plan. Nothing is shared between plans. */
import type { CellInfo } from "../protocol/trace.js";

/** A tool that is made ready for a plan. */
export interface ActivatedTool {
  /** The plan that it is ready for. */
  readonly planId: string;
  /** `namespace/name`. */
  readonly toolName: string;
  /** The cells that are ready. */
  readonly cells: readonly CellInfo[];
  /** Whether any call runs or waits. */
  readonly inUse: boolean;
}

/** What the cache knows of one activated tool. */
export interface CachedToolStats {
  /** Calls counted since the tool was activated. */
  readonly executionCount: number;
  /** ISO 8601, UTC. */
  readonly activatedAt: string;
  /** How often the tool was activated in this plan, the first time included. */
  readonly activationCount: number;
}

/** What the cache knows of one plan. */
export interface PlanCacheStats {
  /** How many tools are activated. */
  readonly activeTools: number;
  /** Each of them, by its name. */
  readonly tools: Readonly<Record<string, CachedToolStats>>;
}

interface Entry<Instance> {
  readonly instance: Instance;
  readonly activatedAt: string;
  activationCount: number;
  executionCount: number;
}

/**
 * Cache of activated tools.
 * @example
 * ```ts
 * import { ToolLifecycleCache } from "toolcell";
 *
 * const cache = new ToolLifecycleCache<{ name: string }>();
 * cache.put("plan-1", "acme/tool", { name: "instance" });
 * console.log(cache.get("plan-1", "acme/tool")?.name, cache.stats("plan-1").activeTools); // → instance 1
 * ```
 */
export class ToolLifecycleCache<Instance = unknown> {
  readonly #plans = new Map<string, Map<string, Entry<Instance>>>();
  #size = 0;

  /** Plans with an activated tool. */
  get planCount(): number {
    return this.#plans.size;
  }

  /** Activated tools over all plans. */
  get size(): number {
    return this.#size;
  }

  /** Adds or replaces. */
  put(planId: string, toolName: string, instance: Instance, activationCount = 1): void {
    let plan = this.#plans.get(planId);
    if (!plan) this.#plans.set(planId, (plan = new Map<string, Entry<Instance>>()));
    if (!plan.has(toolName)) this.#size++;
    plan.set(toolName, { instance, activatedAt: new Date().toISOString(), activationCount, executionCount: 0 });
  }

  /** @returns the tool's instance in the plan, if it is activated there */
  get(planId: string, toolName: string): Instance | undefined {
    return this.#plans.get(planId)?.get(toolName)?.instance;
  }

  /** @returns what was removed */
  remove(planId: string, toolName: string): Instance | undefined {
    const plan = this.#plans.get(planId);
    const entry = plan?.get(toolName);
    if (!plan || !entry) return undefined;
    plan.delete(toolName);
    this.#size--;
    if (plan.size === 0) this.#plans.delete(planId);
    return entry.instance;
  }

  /** @returns what was removed, by tool name */
  removePlan(planId: string): Map<string, Instance> {
    const removed = new Map<string, Instance>();
    for (const [name, entry] of this.#plans.get(planId) ?? []) removed.set(name, entry.instance);
    this.#plans.delete(planId);
    this.#size -= removed.size;
    return removed;
  }

  /** Names of the plan's activated tools. */
  planTools(planId: string): string[] {
    return [...(this.#plans.get(planId)?.keys() ?? [])];
  }

  /** Counts one execution; of a tool that is not cached there is nothing to count. */
  incrementExecution(planId: string, toolName: string): void {
    const entry = this.#plans.get(planId)?.get(toolName);
    if (entry) entry.executionCount++;
  }

  /** @internal Notes how often the tool was activated, in another cell or again. */
  countActivation(planId: string, toolName: string, count: number): void {
    const entry = this.#plans.get(planId)?.get(toolName);
    if (entry) entry.activationCount = count;
  }

  /** What is activated in a plan, with counts; empty for a plan that has nothing. */
  stats(planId: string): PlanCacheStats {
    const tools: Record<string, CachedToolStats> = Object.create(null) as Record<string, CachedToolStats>;
    for (const [name, entry] of this.#plans.get(planId) ?? []) {
      const { executionCount, activatedAt, activationCount } = entry;
      tools[name] = { executionCount, activatedAt, activationCount };
    }
    return { activeTools: Object.keys(tools).length, tools };
  }
}
