/** Runs a plan: steps that wait for nothing run at once, a failure stops what depends on it. */
import pLimit from "p-limit";
import type { ToolExecutionContext, ToolRuntime } from "../index.js";
import type { PlanEvent, PlanOutcome, PlanReport, Scope, StepReport } from "./document.js";
import { needsOf, type StepNeeds } from "./graph.js";
import { checkPlan, invalidPlan, type LoadedPlan } from "./load.js";
import { contextOf } from "./plan-context.js";
import type { PlanFile, PlanStep } from "./plan-file.js";
import { paramsOf } from "./plan-params.js";
import { runStep } from "./run-step.js";
import type { StepCallParts } from "./step-call.js";
import { CANCELLED, notBegun, type StepEnd } from "./step-end.js";

/** Steps at one time, where the plan does not say. */
const DEFAULT_STEPS = 16;

/** How a plan is run. */
export interface RunPlanOptions {
  /** Values of the plan's parameters. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Cancels the plan. */
  readonly signal?: AbortSignal;
  /** Another id than the plan's own, to run it twice at one time. */
  readonly planId?: string;
  /** Hears of steps and calls. */
  readonly onEvent?: (event: PlanEvent) => void;
}

/**
 * Runs a plan to its end. What goes wrong in it stands in the report.
 * @throws ToolRuntimeError `INVALID_PLAN` where it cannot be begun
 * @example
 * ```yaml
 * # plan.yaml
 * readOnly: true
 * resources: { repo: { path: . } }
 * steps:
 *   - { id: read, tool: builtin/read-file, input: { path: README.md } }
 * ```
 *
 * ```ts
 * import { builtins, ToolRuntime } from "toolcell";
 * import { loadPlan, runPlan } from "toolcell/plan";
 *
 * await using runtime = new ToolRuntime();
 * await runtime.use(builtins());
 * const { outcome, steps } = await runPlan(runtime, await loadPlan("plan.yaml"));
 * console.log(outcome, steps["read"]?.attempts); // → ok 1
 * ```
 */
export async function runPlan(
  runtime: ToolRuntime,
  loaded: LoadedPlan,
  options: RunPlanOptions = {},
): Promise<PlanReport> {
  const { plan: file } = loaded;
  const problems = checkPlan(loaded, runtime, Object.keys(options.params ?? {}));
  if (problems.length > 0) throw invalidPlan(loaded.file, problems);
  const params = paramsOf(loaded, options.params ?? {});
  const context = contextOf(loaded, options.planId);
  const stop = stopSignal(file, options.signal);
  const cancel = (): void => {
    context.cancellationToken.cancel(stop.reason);
  };
  stop.addEventListener("abort", cancel, { once: true });
  const run = new PlanRun(runtime, loaded, context, params, stop, options.onEvent ?? (() => undefined));
  try {
    return await run.toEnd();
  } finally {
    stop.removeEventListener("abort", cancel);
    await runtime.deactivatePlan(context.planId);
  }
}

class PlanRun {
  readonly #file: PlanFile;
  readonly #needs: ReadonlyMap<string, StepNeeds>;
  readonly #tell: (event: PlanEvent) => void;
  readonly #stop: AbortSignal;
  readonly #context: ToolExecutionContext;
  readonly #parts: StepCallParts;
  readonly #scope: Scope & { readonly steps: Record<string, StepReport> };
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #ends = new Map<string, Promise<StepReport>>();

  constructor(
    runtime: ToolRuntime,
    { plan: file }: LoadedPlan,
    context: ToolExecutionContext,
    params: Readonly<Record<string, unknown>>,
    stop: AbortSignal,
    tell: (event: PlanEvent) => void,
  ) {
    this.#file = file;
    this.#needs = needsOf(file);
    this.#tell = tell;
    this.#stop = stop;
    this.#context = context;
    this.#parts = { plan: runtime.plan(context), signal: stop, tell };
    this.#scope = { plan: context.planId, params, steps: {} };
    this.#limit = pLimit(file.concurrency ?? DEFAULT_STEPS);
  }

  async toEnd(): Promise<PlanReport> {
    const startedAt = new Date();
    const begin = performance.now();
    // Promises first, then their work: a step may come before one that it waits for.
    const starts: (() => void)[] = [];
    for (const step of this.#file.steps) {
      const started = new Promise<void>((resolve) => starts.push(resolve));
      this.#ends.set(
        step.id,
        started.then(() => this.#step(step)),
      );
    }
    for (const start of starts) start();
    await Promise.all(this.#ends.values());
    const { plan, params, steps } = this.#scope;
    const { calls = 0, cost = 0 } = this.#context.spending() ?? {};
    return {
      plan,
      outcome: this.#outcome(),
      startedAt: startedAt.toISOString(),
      durationMs: performance.now() - begin,
      calls,
      cost,
      params,
      // In the file's order, not in that of their ends.
      steps: Object.fromEntries(this.#file.steps.map(({ id }) => [id, steps[id]])) as Record<string, StepReport>,
    };
  }

  async #step(step: PlanStep): Promise<StepReport> {
    const blocked = await this.#blocked(step);
    const begin = performance.now();
    const end = blocked ?? (await this.#limit(() => this.#run(step)));
    const report: StepReport = { tool: step.tool, ...end, durationMs: performance.now() - begin };
    this.#scope.steps[step.id] = report;
    this.#tell({ type: "report", step: step.id, report });
    return report;
  }

  #run(step: PlanStep): Promise<StepEnd> {
    if (this.#stop.aborted) return Promise.resolve(CANCELLED);
    this.#tell({ type: "step", step: step.id, tool: step.tool, items: undefined });
    return runStep(this.#parts, step, this.#scope);
  }

  /** Waits for what the step waits for. @returns how it ends where it cannot run */
  async #blocked({ id }: PlanStep): Promise<StepEnd | undefined> {
    const { values, order } = this.#needs.get(id) ?? { values: new Set<string>(), order: new Set<string>() };
    const found: StepEnd[] = [];
    for (const other of [...values, ...order]) {
      const { outcome, attempts } = (await this.#ends.get(other)) ?? { outcome: "ok", attempts: 0 };
      const tolerated = !values.has(other) && (outcome === "skipped" || this.#mayFail(other));
      if (outcome === "ok" || tolerated) continue;
      const inherited = outcome === "failed" ? "blocked" : outcome;
      const became = {
        failed: "failed",
        skipped: "was skipped",
        blocked: attempts > 0 ? "did not run to its end" : "did not run",
        cancelled: "was cancelled",
        ok: "",
      }[outcome];
      found.push(notBegun(inherited, `it waits for "${other}", which ${became}`));
    }
    return found.find(({ outcome }) => outcome !== "skipped") ?? found[0];
  }

  #mayFail(id: string): boolean {
    return this.#file.steps.find((step) => step.id === id)?.continueOnError ?? false;
  }

  #outcome(): PlanOutcome {
    const bad = this.#file.steps.filter((step) => {
      const outcome = this.#scope.steps[step.id]?.outcome;
      return outcome !== "ok" && outcome !== "skipped" && !(outcome === "failed" && step.continueOnError);
    });
    if (bad.length === 0) return "ok";
    return this.#stop.aborted ? "cancelled" : "failed";
  }
}

/** Aborts when the caller asks for it, or when the plan's time is up. */
function stopSignal({ budget }: PlanFile, signal: AbortSignal | undefined): AbortSignal {
  const signals = signal ? [signal] : [];
  if (budget?.wallMs !== undefined) signals.push(AbortSignal.timeout(budget.wallMs));
  return AbortSignal.any(signals);
}
