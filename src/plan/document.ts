/** What a plan came to, as one JSON document; while it runs, what its stand-ins read. */
import type { ToolExecutionTrace } from "../index.js";

/** How a step ended. */
export type StepOutcome =
  | "ok"
  /** Its call failed, or a value it needed was not there. */
  | "failed"
  /** Its `when` did not hold, or a step whose value it uses was skipped. */
  | "skipped"
  /** A step that it waits for failed, or the plan's budget was used up. */
  | "blocked"
  /** The plan was cancelled before or while it ran. */
  | "cancelled";

/** Why a step has no output. */
export interface StepError {
  /** A stable code of toolcell's, or the tool's own. */
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** One item of a step with `forEach`. */
export interface ItemReport {
  readonly outcome: StepOutcome;
  readonly attempts: number;
  readonly error?: StepError;
}

/** One step. */
export interface StepReport {
  readonly tool: string;
  readonly outcome: StepOutcome;
  readonly output?: unknown;
  readonly error?: StepError;
  /** Why it did not run. */
  readonly reason?: string;
  /** Calls made, retries and items included. */
  readonly attempts: number;
  /** Milliseconds from the moment at which it could run. */
  readonly durationMs: number;
  readonly items?: readonly ItemReport[];
}

/** How a plan ended. */
export type PlanOutcome = "ok" | "failed" | "cancelled";

/** A whole plan. */
export interface PlanReport {
  readonly plan: string;
  readonly outcome: PlanOutcome;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Calls made. */
  readonly calls: number;
  /** What the tools reported, in their own unit. */
  readonly cost: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, StepReport>>;
}

/** What happens while a plan runs. */
export type PlanEvent =
  | { readonly type: "step"; readonly step: string; readonly tool: string; readonly items: number | undefined }
  /** A call of a step starts. */
  | {
      readonly type: "call";
      readonly step: string;
      readonly item: number | undefined;
      readonly callId: string;
      readonly attempt: number;
    }
  /** A call of a step has ended. */
  | {
      readonly type: "ended";
      readonly step: string;
      readonly item: number | undefined;
      readonly callId: string;
      readonly trace: ToolExecutionTrace | undefined;
      readonly error: StepError | undefined;
    }
  | { readonly type: "report"; readonly step: string; readonly report: StepReport };
