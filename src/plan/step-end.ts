/** How a step, or an item of it, that gave no output has ended. */
import type { StepError, StepOutcome, StepReport } from "./document.js";
import { CallFailure } from "./step-call.js";
import { MissingValue } from "./template.js";

/** What a step came to, but for how long it took. */
export type StepEnd = Omit<StepReport, "durationMs" | "tool">;

/** The end that an error is. */
export function endOf(error: unknown, attempts: number): StepEnd & { readonly error: StepError } {
  if (error instanceof CallFailure) return { outcome: error.ended, error: error.error, attempts };
  const code = error instanceof MissingValue ? "INVALID_PLAN" : "RUNTIME_ERROR";
  const message = error instanceof Error ? error.message : String(error);
  return { outcome: "failed", error: { code, message }, attempts };
}

/** The end of what has not begun. */
export function notBegun(outcome: StepOutcome, reason: string): StepEnd & { readonly reason: string } {
  return { outcome, reason, attempts: 0 };
}

/** The end of what its `when` has passed over. */
export const SKIPPED = notBegun("skipped", "its `when` does not hold");
/** The end of what the plan's own end came before. */
export const CANCELLED = notBegun("cancelled", "the plan was cancelled before it began");
