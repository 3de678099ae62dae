/** The items of a step with `forEach`, and what the step came to with them. */
import pLimit from "p-limit";
import { holds } from "./condition.js";
import type { ItemReport, Scope, StepError } from "./document.js";
import type { PlanStep } from "./plan-file.js";
import { CallFailure, callStep, type StepCallParts } from "./step-call.js";
import { CANCELLED, endOf, notBegun, SKIPPED, type StepEnd } from "./step-end.js";
import { fill } from "./template.js";

/** Items at one time, where the step does not say. */
const DEFAULT_ITEMS = 4;

/** Runs the items of a step. Never rejects. */
export async function runItems(
  parts: StepCallParts,
  step: PlanStep,
  scope: Scope,
  items: readonly unknown[],
): Promise<StepEnd> {
  const { input = {}, when } = step;
  const { concurrency = DEFAULT_ITEMS, continueOnError = false } = step.forEach ?? {};
  parts.tell({ type: "step", step: step.id, tool: step.tool, items: items.length });
  const limit = pLimit(concurrency);
  const outputs = new Array<unknown>(items.length).fill(null);
  const reports = new Array<ItemReport>(items.length);
  /** Items that the budget kept from an output. */
  const unpaid = new Set<ItemReport>();
  let stopper: number | undefined;
  const runItem = async (item: unknown, index: number): Promise<ItemReport> => {
    const local = { ...scope, item, index };
    const counted = { attempts: 0 };
    if (parts.signal.aborted) return CANCELLED;
    if (stopper !== undefined) return notBegun("blocked", `item ${stopper} gave no output`);
    try {
      if (when && !holds(when, local)) return SKIPPED;
      outputs[index] = await callStep(parts, step, index, fill(input, local), counted);
      return { outcome: "ok", attempts: counted.attempts };
    } catch (error) {
      if (!continueOnError) stopper ??= index;
      const end = endOf(error, counted.attempts);
      if (error instanceof CallFailure && error.isUnpaid) unpaid.add(end);
      return end;
    }
  };
  const work = items.map((item, index) =>
    limit(async () => {
      reports[index] = await runItem(item, index);
    }),
  );
  await Promise.all(work);
  const attempts = reports.reduce((sum, item) => sum + item.attempts, 0);
  const decisive =
    reports.find(({ outcome }) => outcome === "cancelled") ??
    // Going on after errors is for the tool's; a budget that is used up is the plan's.
    reports.find((item) => item.outcome === "blocked" && unpaid.has(item)) ??
    reports.find((item) => unpaid.has(item)) ??
    (continueOnError ? undefined : reports.find(({ outcome }) => outcome === "failed"));
  if (!decisive) return { outcome: "ok", output: outputs, attempts, items: reports };
  return { outcome: decisive.outcome, error: errorOf(step, reports, decisive), attempts, items: reports };
}

/** What to say of the step, by the item that decides how it ended. */
function errorOf({ id }: PlanStep, items: readonly ItemReport[], decisive: ItemReport): StepError {
  // One that was under way has more to say than one that was not begun.
  const told = items.find(({ outcome, error }) => outcome === decisive.outcome && error !== undefined);
  const item = decisive.error ? decisive : (told ?? decisive);
  const count = (wanted: (item: ItemReport) => boolean): number => items.filter(wanted).length;
  const cancelled = count(({ outcome, attempts }) => outcome === "cancelled" && attempts > 0);
  const counts: [number, string][] = [
    [count(({ outcome }) => outcome === "failed"), "failed"],
    [cancelled, cancelled === 1 ? "was cancelled" : "were cancelled"],
    [count(({ outcome, attempts }) => ["cancelled", "blocked"].includes(outcome) && attempts === 0), "did not begin"],
  ];
  const [first, ...rest] = counts.filter(([number]) => number > 0);
  const others = rest.map(([number, became]) => `, ${number} ${became}`).join("");
  const summary = `${first?.[0]} of ${items.length} items of step "${id}" ${first?.[1]}${others}`;
  const { code = "CANCELLED", message = item.reason ?? "", ...details } = item.error ?? {};
  return { ...details, code, message: `${summary}; item ${items.indexOf(item)}: ${message}` };
}
