/** Which cell a call goes to: the roomiest now, or the backlog until there is one. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { CellGroup } from "./cell-group.js";
import type { CellSupply } from "./cell-supply.js";
import type { Seat } from "./seat.js";
import type { ToolCall } from "./tool-call.js";

/** What a dispatcher asks of the runtime. */
export interface DispatchHost {
  readonly supply: CellSupply;
  /** The call waits for a cell, so its turn is free for others. */
  pauseTurn(call: ToolCall): void;
  resumeTurn(call: ToolCall): void;
}

/** What a dispatcher works with. */
export interface DispatcherParts {
  /** Whose calls they are. */
  readonly owner: {
    readonly planId: string;
    readonly toolName: string;
    /** Whether anything, these calls included, waits for a cell. */
    readonly wantsCell: boolean;
  };
  readonly host: DispatchHost;
  readonly cells: CellGroup;
  readonly maxCells: number;
}

/** Dispatches the calls of one activation. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #cells: CellGroup;
  readonly #backlog = new Set<ToolCall>();

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#cells = parts.cells;
  }

  /** Calls that wait for a cell. */
  get waiting(): number {
    return this.#backlog.size;
  }

  dispatch(call: ToolCall): void {
    // A nested call cannot wait for the end of a cell that waits for the end of its caller.
    const seat =
      (this.#backlog.size === 0 ? this.#cells.roomiest() : undefined) ??
      (call.parent ? this.#cells.draining() : undefined);
    if (seat) this.send(seat, call);
    else this.#queue(call);
    this.grow();
  }

  send(seat: Seat, call: ToolCall): void {
    const now = performance.now();
    const { marks } = call;
    if (marks.activated !== marks.activated) marks.activated = now;
    marks.dispatched = now;
    call.cell = seat.cell.info;
    if (seat.permit && seat.cell.inFlight === 0) this.#parts.host.supply.busy(seat.permit);
    // What was checked is what the tool gets. Behind others a call may wait and be moved, so that its caller could change
    // the input by then; one that is alone and too large to be copied twice leaves at once instead.
    if (call.inputIsFlat || seat.cell.inFlight > 0) call.keepInput();
    seat.cell.send(call);
    this.#cells.sent(seat);
  }

  /** Sends calls that were taken back from a cell to others, to those that are there before ones that have to start. */
  requeue(calls: readonly ToolCall[]): void {
    for (const call of calls) this.#queue(call);
    this.pump();
    if (this.#parts.owner.wantsCell) this.#cells.ensureFirst(false);
    this.grow();
  }

  /** Takes a call out of the backlog. @returns whether it waited there */
  unqueue(call: ToolCall): boolean {
    if (!this.#backlog.delete(call)) return false;
    this.#parts.host.resumeTurn(call);
    if (!this.#parts.owner.wantsCell) this.#cells.leaveLine();
    return true;
  }

  /** Ends every call that waits. */
  failAll(error: Error): void {
    for (const call of [...this.#backlog]) {
      this.unqueue(call);
      call.settle(call.interruption ? { kind: "interrupted" } : { kind: "failed", error });
    }
  }

  /** Sends what waits to cells with room. */
  pump(): void {
    for (const call of this.#backlog) {
      const seat = this.#cells.roomiest();
      if (!seat) return;
      this.unqueue(call);
      this.send(seat, call);
    }
  }

  /** Starts further cells for the load. */
  grow(): void {
    if (this.#parts.maxCells === 1) return;
    let load = this.#backlog.size;
    for (const { cell } of this.#cells.seats) load += cell.inFlight;
    this.#cells.growFor(load);
  }

  #queue(call: ToolCall): void {
    if (call.marks.dispatched === call.marks.dispatched) {
      call.moves++;
      call.marks.undispatch();
    }
    call.keepInput();
    this.#backlog.add(call);
    this.#parts.host.pauseTurn(call);
    // For a nested call every slot, and every cell, may be held by one that waits for it.
    const stuck = call.parent && this.#cells.full;
    if (stuck || !this.#cells.ensureFirst(call.parent !== undefined)) this.#failExhausted(call);
  }

  #failExhausted(call: ToolCall): void {
    const { planId, toolName } = this.#parts.owner;
    this.unqueue(call);
    const error = new ToolRuntimeError(
      `No cell is free for the nested call of "${toolName}" in plan "${planId}": every cell is pinned or busy, and ` +
        `waiting for one while holding one could wait for ever. Raise maxLiveCells, or let the caller end first.`,
      { code: "CELLS_EXHAUSTED", details: { tool: toolName, planId } },
    );
    call.settle({ kind: "failed", error });
  }
}
