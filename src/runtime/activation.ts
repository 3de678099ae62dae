/** One tool made ready for one plan: the calls that wait for its cells, run in them, and end. */
import { ToolActivationError, ToolCancelledError, ToolRuntimeError } from "../protocol/errors.js";
import type { ActivationMessage, CallEvent, CellAnswer } from "../protocol/messages.js";
import { isChange } from "../protocol/tool.js";
import type { CellInfo } from "../protocol/trace.js";
import type { CancellationToken, CancelSubscriber } from "./cancellation.js";
import { CellGroup, type GroupOwner } from "./cell-group.js";
import type { Cell, CellEnd, CellObserver, CellTier } from "./cell.js";
import type { CellSupply } from "./cell-supply.js";
import type { GrantedResources } from "./grant.js";
import type { ResolvedOptions } from "./options.js";
import { logEvent, progressEvent, type RuntimeEvents } from "./runtime-events.js";
import type { Seat } from "./seat.js";
import type { ToolCall } from "./tool-call.js";
import type { Registration } from "./tool-registry.js";

/** What activations share. */
export interface ActivationHost {
  readonly options: ResolvedOptions;
  /** Milliseconds a cancelled call has to stop; `close` may shorten it. */
  graceMs: number;
  readonly supply: CellSupply;
  readonly events: RuntimeEvents;
  /** The call waits for a cell, so its turn is free for others. */
  pauseTurn(call: ToolCall): void;
  resumeTurn(call: ToolCall): void;
  /** Answers what a running call asks of the host. */
  ask(call: ToolCall, name: string, args: unknown): Promise<unknown>;
  /** An answer came for a call that had ended; it is discarded. */
  lateResult(): void;
  /** The tool has a cell; the cache may show it. */
  activated(activation: Activation): void;
  /** The tool has lost its last cell, or never got one. */
  evicted(activation: Activation): void;
}

/** A call may be moved to another cell this often before its cells' deaths are its own. */
const MAX_MOVES = 3;
/** Milliseconds a call has waited in a cell before an idle sibling takes it over. */
const STEAL_AFTER_MS = 1;

interface ActivationWaiter extends CancelSubscriber {
  ready(): void;
  failed(error: Error): void;
}

/** One tool made ready for one plan. */
export class Activation implements CellObserver<ToolCall>, GroupOwner {
  readonly planId: string;
  readonly toolName: string;
  readonly tool: Registration;
  readonly #host: ActivationHost;
  readonly #cells: CellGroup;
  readonly #maxCells: number;
  readonly #backlog = new Set<ToolCall>();
  readonly #waiters = new Set<ActivationWaiter>();
  #stealLater: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(
    host: ActivationHost,
    tool: Registration,
    tier: CellTier,
    granted: GrantedResources,
    message: ActivationMessage,
  ) {
    const { options, supply, events } = host;
    const { stateless } = tool.capability;
    this.#host = host;
    this.tool = tool;
    this.planId = message.planId;
    this.toolName = message.toolName;
    this.#maxCells = stateless ? (tool.maxCells ?? options.maxCellsPerTool) : 1;
    this.#cells = new CellGroup({
      owner: this,
      tier,
      supply,
      events,
      options,
      maxCells: this.#maxCells,
      request: {
        toolName: this.toolName,
        source: tool.source,
        grant: granted.grant,
        activation: message,
        stateless,
        trusted: tool.trusted,
        observer: this,
        timeoutMs: options.activationTimeoutMs,
      },
    });
  }

  /** Whether any call runs or waits here. */
  get inUse(): boolean {
    return this.wantsCell || this.#cells.starting || this.#cells.seats.some(({ cell }) => cell.inFlight > 0);
  }

  get wantsCell(): boolean {
    return this.#backlog.size > 0 || this.#waiters.size > 0;
  }

  /** The cells that are ready. */
  get cells(): readonly CellInfo[] {
    return this.#cells.seats.map(({ cell }) => cell.info);
  }

  /**
   * Makes the tool ready; one start serves all who ask.
   * @throws ToolActivationError, ToolCancelledError
   */
  activate(token: CancellationToken): Promise<void> {
    if (this.#cells.seats.length > 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiters.delete(waiter);
        token.unsubscribe(waiter);
        if (!this.wantsCell) this.#cells.leaveLine();
      };
      const waiter: ActivationWaiter = {
        ready: () => {
          done();
          resolve();
        },
        failed: (error) => {
          done();
          reject(error);
        },
        tokenCancelled: (cause) => {
          const text = `The activation of tool "${this.toolName}" in plan "${this.planId}" was cancelled.`;
          waiter.failed(new ToolCancelledError(text, { cause, details: { tool: this.toolName, planId: this.planId } }));
        },
      };
      this.#waiters.add(waiter);
      token.subscribe(waiter);
      this.#cells.ensureFirst(false);
    });
  }

  /** Runs a call here; `call.ended` tells how it went. */
  run(call: ToolCall): void {
    call.activation = this;
    call.onInterrupt = () => {
      this.#interrupted(call);
    };
    // Between its turn and this moment the call may have been told to stop.
    if (call.interruption) {
      call.settle({ kind: "interrupted" });
      return;
    }
    const seat = this.#backlog.size === 0 ? this.#cells.roomiest() : undefined;
    if (seat) this.#send(seat, call);
    else this.#queue(call);
    if (this.#maxCells > 1) this.#grow();
  }

  /** Deactivates every cell, once no call runs any more. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#stealLater);
    const details = { tool: this.toolName, planId: this.planId };
    const text = `Tool "${this.toolName}" was deactivated in plan "${this.planId}" before it was ready.`;
    this.#failAll(new ToolActivationError(text, { details }));
    await this.#cells.close();
  }

  // ── calls ──────────────────────────────────────────────────────────────

  #send(seat: Seat, call: ToolCall): void {
    const now = performance.now();
    const { marks } = call;
    if (marks.activated !== marks.activated) marks.activated = now;
    marks.dispatched = now;
    call.cell = seat.cell.info;
    if (seat.permit && seat.cell.inFlight === 0) this.#host.supply.busy(seat.permit);
    seat.cell.send(call);
  }

  #queue(call: ToolCall): void {
    if (call.marks.dispatched === call.marks.dispatched) {
      call.moves++;
      call.marks.undispatch();
    }
    call.keepInput();
    this.#backlog.add(call);
    this.#host.pauseTurn(call);
    const { seats } = this.#cells;
    // For a nested call every slot, and every cell, may be held by one that waits for it.
    const stuck = call.parent && seats.length > 0 && !this.#cells.roomiest();
    if (stuck || !this.#cells.ensureFirst(call.parent !== undefined)) this.#failExhausted(call);
  }

  /** Sends calls that were taken back from a cell to others, to those that are there before ones that have to start. */
  #requeue(calls: readonly ToolCall[]): void {
    for (const call of calls) this.#queue(call);
    this.#pump();
    if (this.wantsCell) this.#cells.ensureFirst(false);
    if (this.#maxCells > 1) this.#grow();
  }

  #unqueue(call: ToolCall): boolean {
    if (!this.#backlog.delete(call)) return false;
    this.#host.resumeTurn(call);
    if (!this.wantsCell) this.#cells.leaveLine();
    return true;
  }

  #failExhausted(call: ToolCall): void {
    this.#unqueue(call);
    const error = new ToolRuntimeError(
      `No cell is free for the nested call of "${this.toolName}" in plan "${this.planId}": every cell is pinned or busy, and ` +
        `waiting for one while holding one could wait for ever. Raise maxLiveCells, or let the caller end first.`,
      { code: "CELLS_EXHAUSTED", details: { tool: this.toolName, planId: this.planId } },
    );
    call.settle({ kind: "failed", error });
  }

  #failAll(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.failed(error);
    for (const call of [...this.#backlog]) {
      this.#unqueue(call);
      call.settle(call.interruption ? { kind: "interrupted" } : { kind: "failed", error });
    }
  }

  #pump(): void {
    for (const call of this.#backlog) {
      const seat = this.#cells.roomiest();
      if (!seat) return;
      this.#unqueue(call);
      this.#send(seat, call);
    }
  }

  #grow(): void {
    let load = this.#backlog.size;
    for (const { cell } of this.#cells.seats) load += cell.inFlight;
    this.#cells.growFor(load);
  }

  #interrupted(call: ToolCall): void {
    if (this.#unqueue(call)) {
      call.settle({ kind: "interrupted" });
      return;
    }
    const seat = this.#cells.seatOfCall(call);
    if (!seat || !call.interruption) return;
    if (!seat.cell.cancel(call, call.interruption.reason)) {
      call.settle({ kind: "interrupted" });
      return;
    }
    const timer = setTimeout(() => {
      // An answer in the meantime has made the kill pointless.
      if (call.settled || this.#cells.seatOfCall(call) !== seat) return;
      if (seat.cell.canBeKilled) this.#kill(seat, call);
      // Its neighbours are well, and nothing can be done about it: its answer will come too late.
      else call.settle({ kind: "cell_ended", end: { kind: "abandoned" } });
    }, this.#host.graceMs);
    void call.ended.then(() => {
      clearTimeout(timer);
    });
  }

  /** Ends a cell by force, for the sake of a call that did not stop; who has not started goes elsewhere. */
  #kill(seat: Seat, culprit: ToolCall | undefined): void {
    seat.killedFor ??= culprit;
    seat.leaving = "spoiled";
    const waiting = seat.withdraw();
    this.#cells.kill(seat);
    this.#requeue(waiting);
  }

  #idle(seat: Seat): void {
    if (seat.leaving) {
      void this.#cells.giveUp(seat);
      return;
    }
    if (this.#cells.seats.length > 1 && this.#steal(seat)) return;
    if (seat.permit) this.#host.supply.idle(seat.permit);
  }

  /** Takes over calls that wait behind a busy sibling. */
  #steal(seat: Seat): boolean {
    const before = performance.now() - STEAL_AFTER_MS;
    let crowded = false;
    for (const sibling of this.#cells.seats) {
      if (sibling === seat || sibling.cell.inFlight < 2) continue;
      const taken = sibling.withdraw({ limit: Math.ceil(sibling.cell.inFlight / 2), sentBefore: before, nested: true });
      for (const call of taken) {
        call.marks.undispatch();
        this.#send(seat, call);
      }
      if (taken.length > 0) return true;
      // Calls that run may take as long as they like; only one that waits is worth looking for again.
      crowded ||= sibling.crowded;
    }
    // What was sent just now may turn out to wait.
    if (crowded) this.#stealLater ??= setTimeout(this.#stealAgain, STEAL_AFTER_MS * 2);
    return false;
  }

  readonly #stealAgain = (): void => {
    this.#stealLater = undefined;
    for (const seat of this.#cells.seats) if (seat.open && seat.cell.inFlight === 0) this.#idle(seat);
  };

  // ── what the cells come to ─────────────────────────────────────────────

  cellReady(seat: Seat): void {
    this.#host.activated(this);
    for (const waiter of [...this.#waiters]) waiter.ready();
    this.#pump();
    if (seat.cell.inFlight === 0) this.#idle(seat);
    if (this.#maxCells > 1) this.#grow();
  }

  startFailed(error: ToolActivationError): void {
    this.#failAll(error);
    if (!this.#closing) this.#host.evicted(this);
  }

  reclaimed(seat: Seat): void {
    seat.leaving = "yield";
    const waiting = seat.withdraw();
    if (seat.cell.inFlight === 0) void this.#cells.giveUp(seat);
    this.#requeue(waiting);
  }

  cellEnded(seat: Seat, end: CellEnd): void {
    this.#requeue(seat.cell.calls().filter((call) => this.#outlives(call, seat, end)));
    if (
      !this.wantsCell &&
      this.#cells.seats.length === 0 &&
      !this.#cells.starting &&
      !this.#closing &&
      end.kind !== "released"
    ) {
      this.#host.evicted(this);
    }
  }

  /** Settles a call whose cell has ended. @returns whether it never started and so goes to another cell */
  #outlives(call: ToolCall, seat: Seat, end: CellEnd): boolean {
    if (call.settled) return false;
    const movable = !seat.cell.hasStarted(call) && !call.transfer && call.moves < MAX_MOVES && !this.#closing;
    if (movable && !call.interruption) return true;
    const culprit = seat.killedFor;
    call.settle({ kind: "cell_ended", end, ...(culprit && culprit !== call && { killedBy: culprit.callId }) });
    return false;
  }

  // ── what the cells tell ────────────────────────────────────────────────

  answered(cell: Cell<ToolCall>, call: ToolCall | undefined, answer: CellAnswer): void {
    // The caller has been told already where the call was not waited for any longer.
    if (call && !call.settle({ kind: "answer", answer }) && answer.kind !== "skipped") this.#host.lateResult();
    this.#slotFreed(cell);
  }

  #slotFreed(cell: Cell<ToolCall>): void {
    if (this.#backlog.size > 0) this.#pump();
    if (cell.inFlight > 0) return;
    const seat = this.#cells.seatOf(cell);
    if (seat) this.#idle(seat);
  }

  refused(cell: Cell<ToolCall>, call: ToolCall, message: string): void {
    call.settle({ kind: "refused", message });
    this.#slotFreed(cell);
  }

  told(cell: Cell<ToolCall>, call: ToolCall | undefined, event: CallEvent): void {
    const { planId, toolName } = this;
    const { events } = this.#host;
    switch (event.kind) {
      case "change":
        if (call && isChange(event.change)) (call.changes ??= []).push(event.change);
        break;
      case "cost":
        if (call && event.amount >= 0) call.cost = (call.cost ?? 0) + event.amount;
        break;
      case "progress":
        if (call) events.tell("progress", progressEvent(planId, toolName, call.callId, event));
        break;
      case "log":
        events.tell("log", logEvent(planId, toolName, call?.callId, cell.info, event));
    }
  }

  asked(_cell: Cell<ToolCall>, call: ToolCall, name: string, args: unknown): Promise<unknown> {
    return this.#host.ask(call, name, args);
  }

  stray(cell: Cell<ToolCall>, call: ToolCall | undefined, late: boolean, error: Error): void {
    const seat = this.#cells.seatOf(cell);
    if (call) call.escaped = true;
    else {
      const whose = late ? "after its call had ended" : "and cannot be told whose it is";
      this.#host.events.warn({
        code: "ESCAPED_ERROR",
        message: `An error escaped from tool "${this.toolName}" in plan "${this.planId}" ${whose}; its cell is replaced: ${error.message}`,
        planId: this.planId,
        toolName: this.toolName,
        cause: error,
      });
    }
    if (!seat) return;
    seat.leaving = "spoiled";
    if (call ?? late) {
      const waiting = seat.withdraw();
      if (cell.inFlight === 0) void this.#cells.giveUp(seat);
      this.#requeue(waiting);
    } else {
      // One of the running calls may wait for ever for what just failed: none can be trusted to end.
      seat.crash = error;
      this.#kill(seat, undefined);
    }
  }
}
