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
  /** What failed, for people. */
  readonly message: string;
  /** Plain data that helps to mend it. */
  readonly details?: unknown;
}

/** One item of a step with `forEach`. */
export interface ItemReport {
  /** How the item ended. */
  readonly outcome: StepOutcome;
  /** Calls made, retries included. */
  readonly attempts: number;
  /** Why it has no output, where it failed. */
  readonly error?: StepError;
  /** Why it did not run. */
  readonly reason?: string;
}

/** One step. */
export interface StepReport {
  /** `namespace/name`. */
  readonly tool: string;
  /** How the step ended. */
  readonly outcome: StepOutcome;
  /** What the tool answered; with `forEach` a list, in the order of the items. */
  readonly output?: unknown;
  /** Why it has no output, where it failed. */
  readonly error?: StepError;
  /** Why it did not run. */
  readonly reason?: string;
  /** Calls made, retries and items included. */
  readonly attempts: number;
  /** Milliseconds from the moment at which it could run. */
  readonly durationMs: number;
  /** Each item, where the step has `forEach`. */
  readonly items?: readonly ItemReport[];
}

/** What stand-ins read. */
export interface Scope {
  readonly plan: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, StepReport>>;
}

/** How a plan ended. */
export type PlanOutcome = "ok" | "failed" | "cancelled";

/** A whole plan. */
export interface PlanReport {
  /** The id that it ran under. */
  readonly plan: string;
  /** How the plan ended. */
  readonly outcome: PlanOutcome;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Milliseconds from begin to end. */
  readonly durationMs: number;
  /** Calls made. */
  readonly calls: number;
  /** What the tools reported, in their own unit. */
  readonly cost: number;
  /** The parameters, defaults filled in. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Each step, by its id. */
  readonly steps: Readonly<Record<string, StepReport>>;
}

/** What happens while a plan runs. */
export type PlanEvent =
  | {
      /** A step starts; one with `forEach` says so again once its items are known. */
      readonly type: "step";
      /** The step's id. */
      readonly step: string;
      /** The tool that it calls. */
      readonly tool: string;
      /** How many items it has; undefined for a step without `forEach`. */
      readonly items: number | undefined;
    }
  | {
      /** A call of a step starts. */
      readonly type: "call";
      /** The step's id. */
      readonly step: string;
      /** The item's place; undefined for a step without `forEach`. */
      readonly item: number | undefined;
      /** The call's id, as in its trace. */
      readonly callId: string;
      /** 1 for the first attempt. */
      readonly attempt: number;
    }
  | {
      /** A call of a step has ended. */
      readonly type: "ended";
      /** The step's id. */
      readonly step: string;
      /** The item's place; undefined for a step without `forEach`. */
      readonly item: number | undefined;
      /** The call's id, as in its trace. */
      readonly callId: string;
      /** Where the time went, where the call left a trace. */
      readonly trace: ToolExecutionTrace | undefined;
      /** Why it has no output; undefined where it has one. */
      readonly error: StepError | undefined;
    }
  | {
      /** A step is over. */
      readonly type: "report";
      /** The step's id. */
      readonly step: string;
      /** What it came to. */
      readonly report: StepReport;
    };
