/** When a call is made again: how often, after what wait, and after what has become of it. */
import { OUTCOMES, type Outcome } from "../protocol/trace.js";
import { isObject, unknownField } from "./arguments.js";

/** How a call that failed is made again. */
export interface RetryPolicy {
  /** How often the tool is called at most, the first time included; from 1 to 1,000. */
  readonly attempts: number;
  /** Milliseconds before the second attempt; from 0 to 2,147,483,647. Default 100. */
  readonly delayMs?: number;
  /** By what each further wait is longer; at least 1. Default 2. */
  readonly factor?: number;
  /** Milliseconds that a wait takes at most. Default 30,000. */
  readonly maxDelayMs?: number;
  /**
   * Milliseconds that one attempt may take, queue and activation included. Default: what is left of the call's `timeoutMs`,
   * and where that is not given the tool's or the runtime's own.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * What is tried again. Default: every outcome of which another attempt may get the better: `threw`,
   * `activation_failed`, `overloaded`, and of a tool that declares `idempotent` also `timed_out`, `killed`, `crashed` and
   * `out_of_memory`. An answer (`tool_error`, `invalid_output`) is tried again only where it is named here.
   */
  readonly outcomes?: readonly Outcome[];
  /** Hears of each attempt that failed and will be followed by another, before the wait. */
  readonly onRetry?: (failed: FailedAttempt) => void;
}

/** An attempt that another will follow. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  /** How it ended. */
  readonly outcome: Outcome;
  /** What it failed with; absent where the tool answered. */
  readonly error?: unknown;
}

const FIELDS = [
  "attempts",
  "delayMs",
  "factor",
  "maxDelayMs",
  "attemptTimeoutMs",
  "outcomes",
  "onRetry",
] as const satisfies readonly (keyof RetryPolicy)[];

/** The tool may have done its work, or half of it. */
const UNCERTAIN: readonly Outcome[] = ["timed_out", "killed", "crashed", "out_of_memory"];
const DEFAULT: readonly Outcome[] = ["threw", "activation_failed", "overloaded", ...UNCERTAIN];
/** Another attempt cannot help, or nobody wants it. */
const FINAL: readonly Outcome[] = ["ok", "invalid_input", "denied", "not_registered", "cancelled", "unsettled"];
const MAX_MS = 2 ** 31 - 1;

/** What is wrong with a policy. */
export function retryProblem(policy: unknown): string | undefined {
  if (!isObject(policy)) return "`retry` must be an object with `attempts`";
  const unknown = unknownField(policy, FIELDS);
  if (unknown !== undefined) return `of \`retry\`: ${unknown}`;
  const { attempts, delayMs = 0, factor = 1, maxDelayMs = 0, attemptTimeoutMs = 1, outcomes = [], onRetry } = policy;
  if (onRetry !== undefined && typeof onRetry !== "function") return "`retry.onRetry` must be a function";
  if (!Number.isInteger(attempts) || !within(attempts, 1, 1_000))
    return "`retry.attempts` must be a whole number from 1 to 1,000";
  if (!within(delayMs, 0, MAX_MS)) return "`retry.delayMs` must be a number of milliseconds from 0";
  if (!within(maxDelayMs, 0, MAX_MS)) return "`retry.maxDelayMs` must be a number of milliseconds from 0";
  if (!within(factor, 1, 1_000)) return "`retry.factor` must be a number from 1 to 1,000";
  if (!within(attemptTimeoutMs, Number.MIN_VALUE, MAX_MS))
    return "`retry.attemptTimeoutMs` must be a number of milliseconds above 0";
  const retriable = OUTCOMES.filter((outcome) => !FINAL.includes(outcome));
  if (!Array.isArray(outcomes) || !outcomes.every((outcome) => retriable.includes(outcome as Outcome))) {
    return `\`retry.outcomes\` must be a list of ${retriable.join(", ")}`;
  }
  return undefined;
}

/** Whether a call that ended so is made again; after an uncertain end only where that does no harm. */
export function mayRetry({ outcomes = DEFAULT }: RetryPolicy, outcome: Outcome, idempotent: boolean): boolean {
  if (FINAL.includes(outcome) || !outcomes.includes(outcome)) return false;
  return idempotent || !UNCERTAIN.includes(outcome);
}

function within(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}
