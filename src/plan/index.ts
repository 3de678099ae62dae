/**
 * Plan files: {@link loadPlan} reads one, {@link checkPlan} tells what is wrong with it, {@link runPlan} runs it.
 * @module toolcell/plan
 */
export { loadPlan, parsePlan, checkPlan, type LoadedPlan } from "./load.js";
export { runPlan, type RunPlanOptions } from "./run-plan.js";
export {
  PLAN_SCHEMA,
  type PlanFile,
  type PlanStep,
  type StepCondition,
  type StepRetry,
  type Template,
} from "./plan-file.js";
export { PlanSource, type Position, type Problem } from "./source.js";
export type { ItemReport, PlanEvent, PlanOutcome, PlanReport, StepError, StepOutcome, StepReport } from "./document.js";
