/** What a plan may spend: calls, cost, wall time, CPU time; of all tools, and of some. */
import { Type } from "@sinclair/typebox";
import { ToolCostLimitExceededError, ToolRuntimeError } from "../protocol/errors.js";
import { SchemaCache } from "../schema/cache.js";
import { fieldProblem } from "./field-check.js";
import {
  BudgetAccount,
  type BudgetedCall,
  type BudgetLimits,
  type MeteredCell,
  type Spending,
} from "./budget-account.js";
import { covers } from "./tool-pattern.js";

/**
 * Limits of a plan, and of single tools or namespaces in it. A call has to fit into all that cover it.
 *
 * @example
 * ```ts
 * import { ToolExecutionContext } from "toolcell";
 * const context = new ToolExecutionContext({
 *   planId: "plan-1",
 *   budget: { calls: 100, cost: 5, tools: { "acme/*": { wallMs: 60_000 } } },
 * });
 * console.log(context.spending()); // → { calls: 0, cost: 0, wallMs: 0, cpuMs: 0 }
 * ```
 */
export interface Budget extends BudgetLimits {
  /** By tool, in full or by namespace as in `acme/*`. */
  readonly tools?: Readonly<Record<string, BudgetLimits>>;
}

const limits = {
  calls: Type.Optional(Type.Integer({ minimum: 0 })),
  cost: Type.Optional(Type.Number({ minimum: 0 })),
  wallMs: Type.Optional(Type.Number({ minimum: 0 })),
  cpuMs: Type.Optional(Type.Number({ minimum: 0 })),
};
const BudgetSchema = Type.Object(
  {
    ...limits,
    tools: Type.Optional(Type.Record(Type.String(), Type.Object(limits, { additionalProperties: false }))),
  },
  { additionalProperties: false },
);
const compiled = new SchemaCache({ maxEntries: 1 }).compile(BudgetSchema);

/** The books of a plan. What is spent stays spent when the plan ends and is begun anew with the same context. */
export class PlanBudget {
  /** The limits as plain data. */
  readonly text: string;
  readonly #planId: string;
  readonly #whole: BudgetAccount;
  readonly #parts: readonly BudgetAccount[];
  readonly #accounts = new Map<string, readonly BudgetAccount[]>();

  /** @throws ToolRuntimeError `INVALID_ARGUMENT` */
  constructor(planId: string, budget: Budget) {
    const problem = fieldProblem(compiled, BudgetSchema.properties, budget);
    if (problem) {
      throw new ToolRuntimeError(`Budget of plan "${planId}": ${problem.text}.`, {
        code: "INVALID_ARGUMENT",
        details: { planId, errors: problem.errors },
      });
    }
    const { tools = {}, ...whole } = structuredClone(budget);
    this.text = JSON.stringify(budget);
    this.#planId = planId;
    this.#whole = new BudgetAccount(`plan "${planId}"`, "*", whole);
    this.#parts = Object.entries(tools).map(
      ([pattern, limits]) => new BudgetAccount(`"${pattern}" in plan "${planId}"`, pattern, limits),
    );
  }

  /** What the plan, or what a tool or namespace of its own limits, has spent. */
  spending(tool?: string): Spending | undefined {
    if (tool === undefined) return this.#whole.spending();
    return this.#parts.find(({ pattern }) => pattern === tool)?.spending();
  }

  /**
   * Whether a call could be made now; reserves nothing.
   * @throws ToolCostLimitExceededError
   */
  check(toolName: string, estimate: number): void {
    for (const account of this.#accountsOf(toolName)) {
      const problem = account.problem(estimate);
      if (problem !== undefined) throw this.#exceeded(toolName, account, problem);
    }
  }

  /**
   * Takes a call's share: of every account, or of none.
   * @throws ToolCostLimitExceededError
   */
  open(call: BudgetedCall): void {
    this.check(call.toolName, call.estimate);
    for (const account of this.#accountsOf(call.toolName)) account.open(call);
  }

  /** A call has reported cost. One that goes beyond what is left is stopped. */
  reported(call: BudgetedCall, before: number): void {
    for (const account of this.#accountsOf(call.toolName)) account.reported(call, before);
  }

  /** A call is over: what it took is what it spent. */
  close(call: BudgetedCall): void {
    for (const account of this.#accountsOf(call.toolName)) account.close(call);
  }

  /** Counts the CPU time of a cell. */
  meter(toolName: string, cell: MeteredCell): void {
    for (const account of this.#accountsOf(toolName)) account.meter(cell);
  }

  #accountsOf(toolName: string): readonly BudgetAccount[] {
    let accounts = this.#accounts.get(toolName);
    if (!accounts) {
      accounts = [this.#whole, ...this.#parts.filter(({ pattern }) => covers(pattern, toolName))];
      this.#accounts.set(toolName, accounts);
    }
    return accounts;
  }

  #exceeded(toolName: string, account: BudgetAccount, problem: string): ToolCostLimitExceededError {
    return new ToolCostLimitExceededError(
      `Tool "${toolName}" was not called in plan "${this.#planId}": the budget of ${account.whose}: ${problem}.`,
      { details: { tool: toolName, planId: this.#planId, spent: account.spending(), limits: account.limits } },
    );
  }
}
