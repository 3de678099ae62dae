/** Plans and tools for tests of plan files. */
import { parsePlan, runPlan, type LoadedPlan, type PlanReport, type RunPlanOptions } from "../../src/plan/index.js";
import { toolError, type ToolContext, type ToolRuntime } from "../../src/index.js";
import { specOf } from "../support/runtimes.js";

/** A plan of steps, as if it had stood in a file. */
export function planOf(plan: object | string): LoadedPlan {
  const text = typeof plan === "string" ? plan : JSON.stringify(plan, undefined, 2);
  return parsePlan(text, { file: "plan.yaml", folder: "/" });
}

/** Registers tools: `test/echo`, `test/list`, `test/fail`, `test/throw`, and what is given. */
export function registerTools(
  runtime: ToolRuntime,
  more: Readonly<Record<string, (input: never, context: ToolContext) => unknown>> = {},
): void {
  const tools: Record<string, (input: never, context: ToolContext) => unknown> = {
    echo: (input) => input,
    list: ({ length = 3 }: { length?: number }) => Array.from({ length }, (_, index) => ({ name: `n${index}`, index })),
    fail: () => toolError({ code: "NO_LUCK", message: "no luck today" }),
    throw: () => {
      throw new Error("thrown");
    },
    ...more,
  };
  for (const [name, execute] of Object.entries(tools)) {
    runtime.register(specOf(`test/${name}`, { capability: { writes: false } }), {
      execute,
    });
  }
}

/** Runs a plan. */
export function run(runtime: ToolRuntime, plan: object | string, options?: RunPlanOptions): Promise<PlanReport> {
  return runPlan(runtime, planOf(plan), options);
}

/** How the steps of a plan ended, by id. */
export function outcomesOf({ steps }: PlanReport): Record<string, string> {
  return Object.fromEntries(Object.entries(steps).map(([id, { outcome }]) => [id, outcome]));
}
