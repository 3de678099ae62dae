/** One step: whether it runs, its items, and what it came to. */
import pLimit from "p-limit";
import { validateToolInput } from "../index.js";
import type { ItemReport, StepError, StepOutcome, StepReport } from "./document.js";
import type { PlanStep, StepCondition } from "./plan-file.js";
import { keysOf, lookup } from "./pointer.js";
import { CallFailure, callStep, type StepCallParts } from "./step-call.js";
import { fill, MissingValue } from "./template.js";

/** Items at one time, where the step does not say. */
const DEFAULT_ITEMS = 4;

/** What stand-ins read. */
export interface Scope {
  readonly plan: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, StepReport>>;
}

/** What a step came to, but for how long it took. */
export type StepEnd = Omit<StepReport, "durationMs" | "tool">;

/** Runs a step. Never rejects. */
export async function runStep(parts: StepCallParts, step: PlanStep, scope: Scope): Promise<StepEnd> {
  try {
    if (!step.forEach) return await runOnce(parts, step, scope);
    const items = fill(step.forEach.items, scope);
    if (!Array.isArray(items)) {
      const kind = items === null ? "null" : typeof items;
      return failed({ code: "INVALID_PLAN", message: `\`forEach.items\` is no list but ${kind}` }, 0);
    }
    return await runItems(parts, step, scope, items);
  } catch (error) {
    return failed(errorOf(error), 0, outcomeOf(error));
  }
}

async function runOnce(parts: StepCallParts, step: PlanStep, scope: Scope): Promise<StepEnd> {
  if (step.when && !holds(step.when, scope)) return skipped();
  const counted = { attempts: 0 };
  try {
    const output = await callStep(parts, step, undefined, fill(step.input ?? {}, scope), counted);
    return { outcome: "ok", output, attempts: counted.attempts };
  } catch (error) {
    return failed(errorOf(error), counted.attempts, outcomeOf(error));
  }
}

async function runItems(
  parts: StepCallParts,
  step: PlanStep,
  scope: Scope,
  items: readonly unknown[],
): Promise<StepEnd> {
  const { concurrency = DEFAULT_ITEMS, continueOnError = false } = step.forEach ?? {};
  parts.tell({ type: "step", step: step.id, tool: step.tool, items: items.length });
  const limit = pLimit(concurrency);
  const outputs = new Array<unknown>(items.length).fill(null);
  const reports = new Array<ItemReport>(items.length);
  let stopped = false;
  const runItem = async (item: unknown, index: number): Promise<void> => {
    const local = { ...scope, item, index };
    const counted = { attempts: 0 };
    try {
      if (stopped) reports[index] = { outcome: "blocked", attempts: 0 };
      else if (step.when && !holds(step.when, local)) reports[index] = { outcome: "skipped", attempts: 0 };
      else {
        outputs[index] = await callStep(parts, step, index, fill(step.input ?? {}, local), counted);
        reports[index] = { outcome: "ok", attempts: counted.attempts };
      }
    } catch (error) {
      stopped ||= !continueOnError;
      reports[index] = { outcome: outcomeOf(error), attempts: counted.attempts, error: errorOf(error) };
    }
  };
  await Promise.all(items.map((item, index) => limit(() => runItem(item, index))));
  return endOf(step, outputs, reports, continueOnError);
}

function endOf(
  step: PlanStep,
  outputs: readonly unknown[],
  items: readonly ItemReport[],
  continueOnError: boolean,
): StepEnd {
  const attempts = items.reduce((sum, item) => sum + item.attempts, 0);
  const bad = items.filter(({ error }) => error !== undefined);
  const [first] = bad;
  if (!first?.error) return { outcome: "ok", output: outputs, attempts, items };
  if (continueOnError && first.outcome !== "cancelled") return { outcome: "ok", output: outputs, attempts, items };
  const error: StepError = {
    ...first.error,
    message: `${bad.length} of ${items.length} items of step "${step.id}" failed; item ${items.indexOf(first)}: ${first.error.message}`,
  };
  return { outcome: first.outcome, error, attempts, items };
}

/** Whether a condition holds. What is not there holds nothing. */
function holds({ $from, matches, not = false }: StepCondition, scope: unknown): boolean {
  const { found, value } = lookup(scope, keysOf($from) ?? []);
  const held = found && (matches === undefined ? isTruthy(value) : isValid(matches, value));
  return held !== not;
}

function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

function isValid(schema: object | boolean, value: unknown): boolean {
  try {
    validateToolInput({ name: "when", inputSchema: schema as Record<string, unknown> }, value);
    return true;
  } catch {
    return false;
  }
}

function skipped(): StepEnd {
  return { outcome: "skipped", reason: "its `when` does not hold", attempts: 0 };
}

function failed(error: StepError, attempts: number, outcome: StepOutcome = "failed"): StepEnd {
  return { outcome, error, attempts };
}

function errorOf(error: unknown): StepError {
  if (error instanceof CallFailure) return error.error;
  if (error instanceof MissingValue) return { code: "INVALID_PLAN", message: error.message };
  return { code: "RUNTIME_ERROR", message: error instanceof Error ? error.message : String(error) };
}

function outcomeOf(error: unknown): StepOutcome {
  if (!(error instanceof CallFailure)) return "failed";
  if (error.outcome === "budget") return "blocked";
  return error.error.code === "CANCELLED" ? "cancelled" : "failed";
}
