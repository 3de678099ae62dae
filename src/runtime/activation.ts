/** One tool made ready for one plan: the calls that wait for its cells, run in them, and end. */
import { ToolActivationError } from "../protocol/errors.js";
import type { ActivationMessage, CallEvent, CellAnswer } from "../protocol/messages.js";
import { isChange } from "../protocol/tool.js";
import type { CellInfo } from "../protocol/trace.js";
import { ActivationWaiters } from "./activation-waiters.js";
import type { CancellationToken } from "./cancellation.js";
import { CellGroup, type GroupOwner } from "./cell-group.js";
import type { Cell, CellEnd, CellObserver, CellTier } from "./cell.js";
import { Dispatcher, type DispatchHost } from "./dispatcher.js";
import type { GrantedResources } from "./grant.js";
import type { ResolvedOptions } from "./options.js";
import { logEvent, progressEvent, type RuntimeEvents } from "./runtime-events.js";
import { Rebalancer } from "./rebalancer.js";
import type { Seat } from "./seat.js";
import type { CallRunner, ToolCall } from "./tool-call.js";
import type { Registration } from "./tool-registry.js";

/** What activations share. */
export interface ActivationHost extends DispatchHost {
  readonly options: ResolvedOptions;
  /** Milliseconds a cancelled call has to stop; `close` may shorten it. */
  graceMs: number;
  readonly events: RuntimeEvents;
  /** Answers what a running call asks of the host. */
  ask(call: ToolCall, name: string, args: unknown): Promise<unknown>;
  /** An answer came for a call that had ended; it is discarded. */
  lateResult(): void;
  /** The tool has a cell; the cache may show it. */
  activated(activation: Activation, cell: Cell<ToolCall>): void;
  /** The tool has lost its last cell, or never got one. */
  evicted(activation: Activation): void;
}

/** A call may be moved to another cell this often before its cells' deaths are its own. */
const MAX_MOVES = 3;

/** One tool made ready for one plan. */
export class Activation implements CallRunner, CellObserver<ToolCall>, GroupOwner {
  readonly planId: string;
  readonly toolName: string;
  readonly tool: Registration;
  /** What its cells may touch. */
  readonly granted: GrantedResources;
  readonly #host: ActivationHost;
  readonly #cells: CellGroup;
  readonly #dispatcher: Dispatcher;
  readonly #waiters: ActivationWaiters;
  readonly #rebalancer: Rebalancer;
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
    this.granted = granted;
    this.planId = message.planId;
    this.toolName = message.toolName;
    const maxCells = stateless ? (tool.maxCells ?? options.maxCellsPerTool) : 1;
    this.#cells = new CellGroup({
      owner: this,
      tier,
      supply,
      events,
      options,
      maxCells,
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
    this.#dispatcher = new Dispatcher({ owner: this, host, cells: this.#cells, maxCells });
    this.#waiters = new ActivationWaiters({
      planId: this.planId,
      toolName: this.toolName,
      waiterLeft: () => {
        if (!this.wantsCell) this.#cells.leaveLine();
      },
    });
    this.#rebalancer = new Rebalancer({
      seats: this.#cells.seats,
      send: (seat, call) => {
        this.#dispatcher.send(seat, call);
      },
      idle: (seat) => {
        this.#idle(seat);
      },
    });
  }

  /** Calls that wait for a cell. */
  get waiting(): number {
    return this.#dispatcher.waiting;
  }

  /** Whether any call runs or waits here. */
  get inUse(): boolean {
    return this.wantsCell || this.#cells.starting || this.#cells.seats.some(({ cell }) => cell.inFlight > 0);
  }

  get wantsCell(): boolean {
    return this.#dispatcher.waiting > 0 || this.#waiters.size > 0;
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
    const ready = this.#waiters.wait(token);
    this.#cells.ensureFirst(false);
    return ready;
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
    this.#dispatcher.dispatch(call);
  }

  hasStarted(call: ToolCall): boolean {
    return this.#cells.seatOfCall(call)?.cell.hasStarted(call) ?? false;
  }

  /** Deactivates every cell, once no call runs any more. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#rebalancer.close();
    const details = { tool: this.toolName, planId: this.planId };
    const text = `Tool "${this.toolName}" was deactivated in plan "${this.planId}" before it was ready.`;
    this.#failWaiting(new ToolActivationError(text, { details }));
    await this.#cells.close();
  }

  #failWaiting(error: Error): void {
    this.#waiters.failed(error);
    this.#dispatcher.failAll(error);
  }

  // ── calls that should stop ─────────────────────────────────────────────

  #interrupted(call: ToolCall): void {
    if (this.#dispatcher.unqueue(call)) {
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
    this.#dispatcher.requeue(waiting);
  }

  #idle(seat: Seat): void {
    if (seat.leaving) {
      void this.#cells.giveUp(seat);
      return;
    }
    if (this.#cells.seats.length > 1 && this.#rebalancer.fill(seat)) return;
    if (seat.permit) this.#host.supply.idle(seat.permit);
  }

  // ── what the cells come to ─────────────────────────────────────────────

  cellReady(seat: Seat): void {
    this.#host.activated(this, seat.cell);
    this.#waiters.ready();
    this.#dispatcher.pump();
    if (seat.cell.inFlight === 0) this.#idle(seat);
    this.#dispatcher.grow();
  }

  startFailed(error: ToolActivationError): void {
    this.#failWaiting(error);
    if (!this.#closing && this.#cells.empty) this.#host.evicted(this);
  }

  reclaimed(seat: Seat): void {
    seat.leaving = "yield";
    const waiting = seat.withdraw();
    if (seat.cell.inFlight === 0) void this.#cells.giveUp(seat);
    this.#dispatcher.requeue(waiting);
  }

  cellEnded(seat: Seat, end: CellEnd): void {
    this.#dispatcher.requeue(seat.cell.calls().filter((call) => this.#outlives(call, seat, end)));
    // While a cell still ends, calls may come back from it, and the plan's end waits for it.
    if (!this.wantsCell && this.#cells.empty && !this.#closing && end.kind !== "released") this.#host.evicted(this);
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
    // The cell saw that it was taken back in the very moment in which it seemed to have started: it never did.
    if (call && answer.kind === "skipped" && !call.settled && !call.interruption) this.#dispatcher.requeue([call]);
    // The caller has been told already where the call was not waited for any longer.
    else if (call && !call.settle({ kind: "answer", answer }) && answer.kind !== "skipped") this.#host.lateResult();
    this.#slotFreed(cell);
  }

  #slotFreed(cell: Cell<ToolCall>): void {
    this.#cells.answered(cell);
    if (this.#dispatcher.waiting > 0) this.#dispatcher.pump();
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
        if (call && event.amount >= 0 && Number.isFinite(event.amount)) spend(call, event.amount);
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
      this.#dispatcher.requeue(waiting);
    } else {
      // One of the running calls may wait for ever for what just failed: none can be trusted to end.
      seat.crash = error;
      this.#kill(seat, undefined);
    }
  }
}

function spend(call: ToolCall, amount: number): void {
  const before = call.cost ?? 0;
  call.cost = before + amount;
  call.budget?.reported(call, before);
}
