/** One call, from the moment it is made until it has ended. */
import type { CancelReason } from "../protocol/cancel-words.js";
import type { CellAnswer } from "../protocol/messages.js";
import { copyPayload } from "../protocol/payload.js";
import type { Change } from "../protocol/tool.js";
import { CallMarks, type CellInfo, type ToolExecutionTrace } from "../protocol/trace.js";
import type { TurnTaker } from "./admission.js";
import type { PlanBudget } from "./budget.js";
import type { BudgetedCall } from "./budget-account.js";
import { callIdOf, nextSerial } from "./call-ids.js";
import type { CallMeter } from "./call-meter.js";
import type { CancellationToken, CancelSubscriber, CancelSubscription } from "./cancellation.js";
import { NO_SLOT, type CellCall, type CellEnd } from "./cell.js";
import type { Link } from "./chain.js";
import type { CheckpointResource } from "./checkpoint.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { Registration } from "./tool-registry.js";
import type { WriteTurn } from "./write-line.js";

/** Why a call should stop, and since when. The first reason stays. */
export interface Interruption {
  readonly reason: CancelReason;
  /** What the caller gave. */
  readonly detail: unknown;
  /** `performance.now()` */
  readonly at: number;
}

/** How a call came back from its activation. */
export type CallEnd =
  | { readonly kind: "answer"; readonly answer: CellAnswer }
  /** Stopped before it started. */
  | { readonly kind: "interrupted" }
  /** Its cell ended under it; `killedBy` is the neighbour for whose sake the cell was killed. */
  | { readonly kind: "cell_ended"; readonly end: CellEnd; readonly killedBy?: string }
  /** Its input cannot be copied into a cell. */
  | { readonly kind: "refused"; readonly message: string }
  /** It never reached a cell. */
  | { readonly kind: "failed"; readonly error: Error };

/** What a call has of its checkpoint. */
export interface CallCheckpoint {
  /** In which it is taken and the call writes. */
  readonly turn: WriteTurn;
  /** What the call may write. */
  readonly resources: readonly CheckpointResource[];
  /** Once it is taken. */
  readonly checkpointId?: string;
}

/** Who runs a call. */
export interface CallRunner {
  /** Whether the tool has been reached. */
  hasStarted(call: ToolCall): boolean;
}

/** What a call is made of. */
export interface ToolCallInit {
  /** The caller's own id; else one is made. */
  readonly callId?: string | undefined;
  readonly context: ToolExecutionContext;
  readonly toolName: string;
  readonly input: unknown;
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  readonly parent?: ToolCall | undefined;
  readonly tokens: readonly CancellationToken[];
  readonly timeoutMs?: number | undefined;
  /** Default 1. */
  readonly attempt?: number;
  /** A human's word that was given for an attempt before. */
  readonly approvalId?: string | undefined;
  /** Who counts it. */
  readonly meter?: CallMeter | undefined;
}

/** One call. */
export class ToolCall implements CellCall, TurnTaker, CancelSubscriber, BudgetedCall {
  readonly callId: string;
  /** What the id was made of, unless the caller gave it. */
  readonly serial: number | undefined;
  readonly context: ToolExecutionContext;
  readonly planId: string;
  readonly toolName: string;
  input: unknown;
  /** Whether the input is a primitive or an object of primitives, which is cheap to copy. */
  inputIsFlat = false;
  inputIsKept = false;
  readonly transfer: readonly ArrayBuffer[] | undefined;
  readonly attempt: number;
  readonly idempotencyKey = undefined;
  readonly parent: ToolCall | undefined;
  readonly depth: number;
  readonly marks = new CallMarks(performance.now());
  inCallerContext: CellCall["inCallerContext"];
  /** Who counts it once it is over. */
  readonly meter: CallMeter | undefined;
  /** What it runs, once its name is found. */
  tool: Registration | undefined;
  /** The record of it, once it is over. */
  trace: ToolExecutionTrace | undefined;
  /** What the tool said it did, in order. */
  changes: Change[] | undefined;
  cost: number | undefined;
  /** The human's word on which it runs. */
  approvalId: string | undefined;
  /** Where it writes in a plan that requires checkpoints. */
  checkpoint: CallCheckpoint | undefined;
  /** The books in which it has a share. */
  budget: PlanBudget | undefined;
  /** Its place among the calls of its plan. */
  planLink: Link<ToolCall> | undefined;
  slot = NO_SLOT;
  /** Who runs it. */
  activation: CallRunner | undefined;
  /** Where it was last sent. */
  cell: CellInfo | undefined;
  interruption: Interruption | undefined;
  /** An error of this call escaped from its promise. */
  escaped = false;
  hasTurn = false;
  lends = 0;
  /** How often it was sent to another cell. */
  moves = 0;
  /** Called once when the call should stop; set by whoever holds the call now. */
  onInterrupt: (() => void) | undefined;
  /** Called when a turn that had to be waited for is given. */
  onTurn: (() => void) | undefined;
  readonly ended: Promise<CallEnd>;
  #resolve!: (end: CallEnd) => void;
  #settled = false;
  #over = false;
  #onOver: (() => void)[] | undefined;
  readonly #tokens: readonly CancellationToken[];
  readonly #subscriptions: readonly CancelSubscription[];
  #deadline: NodeJS.Timeout | undefined;
  #deadlineAt = Infinity;
  #leftMs = Infinity;
  #pauses = 0;
  #children: Set<ToolCall> | undefined;

  constructor(init: ToolCallInit) {
    this.serial = init.callId === undefined ? nextSerial() : undefined;
    this.callId = init.callId ?? callIdOf(this.serial ?? 0);
    this.context = init.context;
    this.planId = init.context.planId;
    this.toolName = init.toolName;
    this.input = init.input;
    // A list of none hands nothing over, and its call may be moved like any other.
    this.transfer = init.transfer?.length ? [...init.transfer] : undefined;
    this.attempt = init.attempt ?? 1;
    this.approvalId = init.approvalId;
    this.parent = init.parent;
    this.depth = init.parent ? init.parent.depth + 1 : 0;
    this.meter = init.meter;
    this.#tokens = init.tokens;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    if (init.timeoutMs !== undefined) this.#setDeadline(init.timeoutMs);
    this.#subscriptions = init.tokens.map((token) => token.subscribe(this));
    init.parent?.adopt(this);
  }

  /** What it is thought to cost. */
  get estimate(): number {
    return this.tool?.capability.cost ?? 0;
  }

  /** Whether the tool was reached. */
  get reached(): boolean {
    return !Number.isNaN(this.marks.started);
  }

  /** Whether how the call ended is known. */
  get settled(): boolean {
    return this.#settled;
  }

  /** The token that already asks for a stop, if one does. */
  cancelledToken(): CancellationToken | undefined {
    return this.#tokens.find((token) => token.isCancelled);
  }

  tokenCancelled(reason: unknown): void {
    this.interrupt("cancelled", reason);
  }

  turnGiven(): void {
    this.onTurn?.();
  }

  /** Asks the call to stop, and the calls it made. Only the first reason counts. */
  interrupt(reason: CancelReason, detail: unknown): void {
    if (this.#settled) return;
    if (this.interruption) {
      // The first reason stays, but an end of the plan or the runtime may leave less time to stop.
      if (reason === "plan_deactivated" || reason === "runtime_closed") this.onInterrupt?.();
      return;
    }
    this.interruption = { reason, detail, at: performance.now() };
    for (const child of this.#children ?? []) child.interrupt(reason, detail);
    this.onInterrupt?.();
  }

  /** Stops the clock of the deadline, and of those whom the call was made by: they wait for it. */
  pauseDeadline(): void {
    if (this.#pauses++ === 0 && this.#deadline) {
      clearTimeout(this.#deadline);
      this.#leftMs = Math.max(0, this.#deadlineAt - performance.now());
    }
    this.parent?.pauseDeadline();
  }

  resumeDeadline(): void {
    if (--this.#pauses === 0 && this.#deadline && !this.#settled) this.#setDeadline(this.#leftMs);
    this.parent?.resumeDeadline();
  }

  #setDeadline(ms: number): void {
    this.#deadlineAt = performance.now() + ms;
    this.#deadline = setTimeout(() => {
      this.interrupt("deadline", undefined);
    }, ms);
  }

  /** Copies the input, for a call that waits: what was checked is what the tool gets, whatever the caller does meanwhile. */
  keepInput(): void {
    if (this.inputIsKept || this.transfer) return;
    this.inputIsKept = true;
    try {
      this.input = copyPayload(this.input, this.inputIsFlat);
    } catch {
      // An input that cannot be copied is refused when it is sent.
    }
  }

  /** Says how the call ended. Only the first word counts. @returns whether it was the first */
  settle(end: CallEnd): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.marks.settled = performance.now();
    this.onInterrupt = undefined;
    this.#resolve(end);
    return true;
  }

  /** Resolves when the call is over and everything it held is given back. */
  whenOver(): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => (this.#onOver ??= []).push(resolve));
  }

  /** Gives back timers and listeners. */
  release(): void {
    this.#settled = true;
    this.#over = true;
    if (this.#deadline) clearTimeout(this.#deadline);
    this.#tokens.forEach((token, at) => {
      const subscription = this.#subscriptions[at];
      if (subscription) token.unsubscribe(subscription);
    });
    this.parent?.disown(this);
    for (const resolve of this.#onOver ?? []) resolve();
  }

  private adopt(child: ToolCall): void {
    (this.#children ??= new Set()).add(child);
    if (this.interruption) child.interrupt(this.interruption.reason, this.interruption.detail);
  }

  private disown(child: ToolCall): void {
    this.#children?.delete(child);
  }
}
