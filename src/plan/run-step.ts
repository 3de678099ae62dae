/** One step: whether it runs, and what it came to. */
import { holds } from "./condition.js";
import type { Scope } from "./document.js";
import type { PlanStep } from "./plan-file.js";
import { runItems } from "./run-items.js";
import { callStep, type StepCallParts } from "./step-call.js";
import { endOf, SKIPPED, type StepEnd } from "./step-end.js";
import { fill } from "./template.js";

/** Runs a step. Never rejects. */
export async function runStep(parts: StepCallParts, step: PlanStep, scope: Scope): Promise<StepEnd> {
  const { input = {}, forEach, when } = step;
  const counted = { attempts: 0 };
  try {
    if (!forEach) {
      if (when && !holds(when, scope)) return SKIPPED;
      const output = await callStep(parts, step, undefined, fill(input, scope), counted);
      return { outcome: "ok", output, attempts: counted.attempts };
    }
    const items = fill(forEach.items, scope);
    if (Array.isArray(items)) return await runItems(parts, step, scope, items);
    const message = `\`forEach.items\` is no list but ${items === null ? "null" : typeof items}`;
    return { outcome: "failed", error: { code: "INVALID_PLAN", message }, attempts: 0 };
  } catch (error) {
    return endOf(error, counted.attempts);
  }
}
