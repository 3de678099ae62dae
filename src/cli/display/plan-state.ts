/** What is known of a plan while it runs, from its events. */
import type { OpenCall, ProgressEvent } from "../../index.js";
import type { PlanEvent, PlanFile, StepOutcome, StepReport } from "../../plan/index.js";

/** One step as people see it. */
export interface StepState {
  readonly id: string;
  readonly tool: string;
  state: StepOutcome | "waiting" | "running";
  /** `performance.now()` */
  since: number;
  /** Items that have ended, of how many; absent without `forEach`. */
  items: { done: number; readonly total: number } | undefined;
  calls: number;
  /** What the tool last said of itself, of a step without items. */
  progress:
    { readonly done: number; readonly total: number | undefined; readonly message: string | undefined } | undefined;
  report: StepReport | undefined;
}

/** Follows a plan. */
export class PlanState {
  readonly planId: string;
  readonly steps: readonly StepState[];
  readonly began = performance.now();
  /** Calls under way, as the runtime tells. */
  open: readonly OpenCall[] = [];
  readonly #byId: ReadonlyMap<string, StepState>;
  /** By call id. */
  readonly #stepOf = new Map<string, StepState>();

  constructor(planId: string, plan: PlanFile) {
    this.planId = planId;
    this.steps = plan.steps.map(({ id, tool }) => ({
      id,
      tool,
      state: "waiting",
      since: 0,
      items: undefined,
      calls: 0,
      progress: undefined,
      report: undefined,
    }));
    this.#byId = new Map(this.steps.map((step) => [step.id, step]));
  }

  apply(event: PlanEvent): void {
    const step = this.#byId.get(event.step);
    if (!step) return;
    switch (event.type) {
      case "step":
        if (step.state === "waiting") step.since = performance.now();
        step.state = "running";
        if (event.items !== undefined) step.items = { done: 0, total: event.items };
        break;
      case "call":
        step.calls++;
        this.#stepOf.set(event.callId, step);
        break;
      case "ended":
        this.#stepOf.delete(event.callId);
        if (step.items && !event.error) step.items.done++;
        break;
      case "report":
        step.state = event.report.outcome;
        step.report = event.report;
    }
  }

  progressed({ callId, done, total, message }: ProgressEvent): void {
    const step = this.#stepOf.get(callId);
    if (step && !step.items) step.progress = { done, total, message };
  }

  /** The calls under way of a step. */
  callsOf(step: StepState): OpenCall[] {
    return this.open.filter(({ callId }) => this.#stepOf.get(callId) === step);
  }

  get ended(): number {
    return this.steps.filter(({ state }) => state !== "waiting" && state !== "running").length;
  }
}
