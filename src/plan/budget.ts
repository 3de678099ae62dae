/** What a plan may still spend. */
import type { PlanFile } from "./plan-file.js";

/** Counts calls and cost. Calls under way are counted when they start, their cost when they end. */
export class PlanBudget {
  readonly #limits: { readonly calls: number; readonly cost: number };
  calls = 0;
  cost = 0;

  constructor({ calls = Infinity, cost = Infinity }: NonNullable<PlanFile["budget"]> = {}) {
    this.#limits = { calls, cost };
  }

  /** Takes one call. @returns why there is none left */
  takeCall(): string | undefined {
    const { calls, cost } = this.#limits;
    if (this.calls >= calls) return `the plan's budget of ${calls} calls is used up`;
    if (this.cost >= cost) return `the plan's budget of ${cost} cost units is used up (${this.cost} spent)`;
    this.calls++;
    return undefined;
  }

  spend(cost: number | undefined): void {
    this.cost += cost ?? 0;
  }
}
