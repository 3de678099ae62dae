/** What travels between the coordinator and a cell: discriminated unions, an id per request. */
import type { EncodedError } from "./error-codec.js";
import type { PayloadLimits } from "./payload.js";
import type { BoundResource, Change, LogLevel, ToolError } from "./tool.js";

/** Names a call within its cell: the slot it holds and the slot's generation. */
export interface CallKey {
  readonly slot: number;
  readonly generation: number;
}

/** One call on its way into a cell. */
export interface CallMessage extends CallKey {
  readonly callId: string;
  readonly input: unknown;
  /** Absent for the first attempt. */
  readonly attempt?: number;
  /** Absent where it is the call id. */
  readonly idempotencyKey?: string;
}

/** What a cell asked for, answered. */
export type HostReply =
  | { readonly type: "reply"; readonly requestId: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "reply"; readonly requestId: number; readonly ok: false; readonly error: EncodedError };

/** Calls as they travel, packed: five members a call, which are slot, generation, call id, input, and what few calls have. */
export type CallBatch = readonly unknown[];

/**
 * Answers as they travel, packed: four members an answer, which are slot, generation, size and output. An answer of
 * another kind stands whole in place of the output, with size -1.
 */
export type AnswerBatch = readonly unknown[];

/** Coordinator to cell, on the call port. */
export type ToCell = { readonly type: "calls"; readonly calls: CallBatch } | HostReply;

/** How a call ended, as the cell tells it. */
export type CellAnswer = CallKey &
  (
    | { readonly kind: "output"; readonly output: unknown; readonly size: number; readonly changes?: readonly Change[] }
    | { readonly kind: "tool_error"; readonly error: ToolError; readonly changes?: readonly Change[] }
    /** The tool threw, or its output cannot leave the cell. */
    | { readonly kind: "threw"; readonly error: EncodedError }
    /** Cancelled or withdrawn before it started. */
    | { readonly kind: "skipped" }
  );

/** What a running call tells on its way. */
export type CallEvent =
  | { readonly kind: "log"; readonly level: LogLevel; readonly message: string; readonly data?: unknown }
  | { readonly kind: "progress"; readonly done: number; readonly total?: number; readonly message?: string }
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "cost"; readonly amount: number };

/** Cell to coordinator, on the call port. */
export type FromCell =
  | { readonly type: "answers"; readonly answers: AnswerBatch }
  /** `key` is absent where the event belongs to no running call. */
  | { readonly type: "event"; readonly key?: CallKey; readonly event: CallEvent }
  /**
   * An error escaped from tool code. `key` names its call where that still runs; `late` says
   * that its call is over. With neither it cannot be told whose it is.
   */
  | { readonly type: "stray"; readonly key?: CallKey; readonly late: boolean; readonly error: EncodedError }
  /** Asks the coordinator for one of {@link HOST_FUNCTIONS}. */
  | {
      readonly type: "request";
      readonly key: CallKey;
      readonly requestId: number;
      readonly name: string;
      readonly args: unknown;
    };

/** What a cell may ask of the coordinator. Nothing else is answered. */
export const HOST_FUNCTIONS = ["call"] as const;

/** Bounds on what comes out of a cell. */
export interface CellLimits extends PayloadLimits {
  /** Estimated bytes that one call may log. */
  readonly maxLogBytes: number;
  /** Changes that one call may record. */
  readonly maxChanges: number;
}

/** What a cell needs to know to make its tool ready. */
export interface ActivationMessage {
  readonly toolName: string;
  readonly planId: string;
  /** 32 hex digits, the trace id of W3C Trace Context. */
  readonly traceId: string;
  readonly resources: readonly BoundResource[];
}

/** A control function's result. A thrown error would lose what the codec keeps. */
export type ControlReply<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: EncodedError };

/** What the coordinator may ask of a cell on its control port. */
export interface CellControl {
  /** Loads the tool and runs its `activate`. */
  activate(generation: number): Promise<ControlReply<ActivationReport>>;
  /** Runs the tool's `deactivate`. Both get a token of the lifecycle slot's given generation. */
  deactivate(generation: number): Promise<ControlReply<undefined>>;
  /** Reads the tool's own specification. */
  describe(): Promise<ControlReply<unknown>>;
  /** Ends the lease. `measure`: tells of the heap too. */
  release(measure: boolean): Promise<ReleaseReport>;
  stats(): Promise<CellStats>;
}

/** What a cell tells once its tool is ready. */
export interface ActivationReport {
  /** The worker's `performance.timeOrigin`; marks are comparable only where it is the coordinator's too. */
  readonly timeOrigin: number;
  readonly threadId: number;
}

/** Whether a worker can be leased again. */
export interface ReleaseReport {
  /** What the tool left behind, such as timers or sockets; empty when clean. */
  readonly leftovers: readonly string[];
  /** Bytes of V8 heap in use, where it was asked for. */
  readonly heapUsed?: number;
}

/** A cell's own view of itself. */
export interface CellStats {
  readonly threadId: number;
  /** Bytes of V8 heap in use. */
  readonly heapUsed: number;
  /** Calls that started and have not finished. */
  readonly running: number;
}
