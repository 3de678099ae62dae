/** The attempts of one call, and the waits between them. */
import pRetry from "p-retry";
import type { CancelReason } from "../protocol/cancel-words.js";
import { ToolCancelledError, ToolRetryLimitExceededError } from "../protocol/errors.js";
import type { ToolResult } from "../protocol/tool.js";
import type { Outcome } from "../protocol/trace.js";
import { whyCancelled } from "./call-outcome.js";
import { mayRetry, type RetryPolicy } from "./retry-policy.js";

/** How an attempt ended. */
export interface AttemptEnd {
  readonly outcome: Outcome;
  /** The tool's answer, whether a success or not. */
  readonly result?: ToolResult;
  readonly error?: unknown;
}

/** What a series works with. */
export interface RetrySeriesParts {
  readonly toolName: string;
  readonly planId: string;
  readonly policy: RetryPolicy;
  /** Whether calling the tool once more does no harm. */
  readonly idempotent: boolean;
  /** Aborts the waits. */
  readonly signals: readonly AbortSignal[];
  /** Makes one attempt. Never rejects. */
  attempt(number: number): Promise<AttemptEnd>;
}

/** Carries how an attempt ended through the library that repeats it. */
class AttemptFailed extends Error {
  readonly end: AttemptEnd;

  constructor(end: AttemptEnd) {
    super("the attempt failed", { cause: end.error });
    this.end = end;
  }
}

/** Makes attempts until one succeeds, none is left, or none would help. */
export class RetrySeries {
  readonly #parts: RetrySeriesParts;
  readonly #stop = new AbortController();
  readonly #ends: AttemptEnd[] = [];
  #reason: CancelReason | undefined;
  #leave!: () => void;
  readonly #over = new Promise<void>((resolve) => (this.#leave = resolve));

  constructor(parts: RetrySeriesParts) {
    this.#parts = parts;
  }

  /** Lets no further attempt begin; one that runs is told to stop by itself. */
  interrupt(reason: CancelReason): void {
    this.#reason ??= reason;
    this.#stop.abort();
  }

  /** Resolves when there will be no further attempt. */
  whenOver(): Promise<void> {
    return this.#over;
  }

  /**
   * @returns the answer of the last attempt, where that is one
   * @throws what the last attempt ended with; ToolRetryLimitExceededError around it where another would have been made
   */
  async run(): Promise<ToolResult> {
    const { policy, signals } = this.#parts;
    const { attempts, delayMs = 100, factor = 2, maxDelayMs = 30_000 } = policy;
    const failed = async (number: number): Promise<ToolResult> => {
      const end = await this.#parts.attempt(number);
      this.#ends.push(end);
      if (end.outcome === "ok" && end.result) return end.result;
      throw new AttemptFailed(end);
    };
    try {
      return await pRetry(failed, {
        retries: attempts - 1,
        minTimeout: delayMs,
        maxTimeout: Math.max(delayMs, maxDelayMs),
        factor,
        // Many calls that failed together would else come back together.
        randomize: true,
        signal: AbortSignal.any([this.#stop.signal, ...signals]),
        // Asked only where an attempt is left.
        shouldRetry: ({ error }) => this.#goesOn(error),
      });
    } catch (error) {
      return this.#ended(error);
    } finally {
      this.#leave();
    }
  }

  #goesOn(error: unknown): boolean {
    const { policy, idempotent } = this.#parts;
    if (!(error instanceof AttemptFailed) || !mayRetry(policy, error.end.outcome, idempotent)) return false;
    if (this.#stop.signal.aborted) return true;
    const { outcome, error: cause } = error.end;
    try {
      policy.onRetry?.({ attempt: this.#ends.length, outcome, ...(cause !== undefined && { error: cause }) });
    } catch (fault) {
      process.emitWarning(`A listener for retries threw: ${textOf(fault)}`, "ToolcellWarning");
    }
    return true;
  }

  #ended(error: unknown): ToolResult {
    const last = this.#ends.at(-1);
    const { policy, idempotent } = this.#parts;
    // An answer that came in the very moment of a cancel is one.
    if (last?.outcome === "ok" && last.result) return last.result;
    if (last?.error instanceof ToolCancelledError) throw last.error;
    if (!(error instanceof AttemptFailed) || !last) throw this.#interrupted(last);
    if (last.result) return last.result;
    const before = this.#ends.at(-2);
    // One that was refused never ran: what became of the one before it is what the caller has to know.
    if (before && (last.outcome === "denied" || last.outcome === "overloaded")) throw this.#exceeded(before, last);
    if (!mayRetry(policy, last.outcome, idempotent) || policy.attempts === 1) throw last.error;
    throw this.#exceeded(last, undefined);
  }

  #exceeded(end: AttemptEnd, refusal: AttemptEnd | undefined): ToolRetryLimitExceededError {
    const { toolName, planId } = this.#parts;
    const made = this.#ends.length - (refusal ? 1 : 0);
    const failedWith = failureOf(end);
    const refusedWith = refusal && failureOf(refusal);
    const why = refusedWith ? `, and another was refused: ${refusedWith.message}` : "";
    return new ToolRetryLimitExceededError(
      `Tool "${toolName}" (plan "${planId}") failed in ${made} attempt${made === 1 ? "" : "s"}, the last time: ${failedWith.message}${why}`,
      {
        cause: end.error,
        details: {
          ...{ tool: toolName, planId, attempts: made, outcomes: this.#ends.map(({ outcome }) => outcome), failedWith },
          ...(refusedWith && { refusedWith }),
        },
      },
    );
  }

  #interrupted(last: AttemptEnd | undefined): Error {
    const { toolName, planId } = this.#parts;
    return new ToolCancelledError(
      `Tool "${toolName}" (plan "${planId}") was cancelled between two attempts${whyCancelled(this.#reason)}.`,
      {
        cause: last?.error,
        details: {
          ...{ tool: toolName, planId, attempts: this.#ends.length },
          ...(last && { failedWith: failureOf(last) }),
        },
      },
    );
  }
}

function failureOf({ result, error }: AttemptEnd): { code: string; message: string } {
  if (result?.error) return { code: result.error.code, message: result.error.message };
  const { code } = (error ?? {}) as { code?: unknown };
  return { code: typeof code === "string" ? code : "EXECUTION_FAILED", message: textOf(error) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
