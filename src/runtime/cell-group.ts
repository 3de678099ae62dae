/** The cells of one activation: how they start, how many there are, how they end. */
import { ToolActivationError, ToolDeactivationError } from "../protocol/errors.js";
import type { Cell, CellEnd, CellRequest, CellTier, RecycleReason } from "./cell.js";
import type { CellSupply, Permit, PermitHolder } from "./cell-supply.js";
import type { ResolvedOptions } from "./options.js";
import { Recycler } from "./recycler.js";
import type { RuntimeEvents } from "./runtime-events.js";
import { Seat } from "./seat.js";
import type { ToolCall } from "./tool-call.js";

/** Whose cells they are. */
export interface GroupOwner {
  /** Whether a cell that comes now is of use. */
  readonly wantsCell: boolean;
  cellReady(seat: Seat): void;
  /** No cell is on its way, or there for more than the calls it has. */
  startFailed(error: ToolActivationError): void;
  /** The cell is wanted by others. */
  reclaimed(seat: Seat): void;
  /** The cell takes no more calls; those without an answer are the owner's to settle. */
  cellEnded(seat: Seat, end: CellEnd): void;
}

/** What a group needs. */
export interface CellGroupOptions {
  readonly owner: GroupOwner;
  readonly tier: CellTier;
  readonly supply: CellSupply;
  readonly events: RuntimeEvents;
  readonly options: ResolvedOptions;
  readonly maxCells: number;
  /** Everything about a start but its signal. */
  readonly request: Omit<CellRequest<ToolCall>, "signal">;
}

/** Cells of one activation. */
export class CellGroup implements PermitHolder {
  readonly planId: string;
  readonly yields: boolean;
  readonly #options: CellGroupOptions;
  /** Only what keeps nothing between calls, in a worker of its own, can be replaced unnoticed. */
  readonly #recycler: Recycler | undefined;
  readonly #seats: Seat[] = [];
  /** Cells that are up, the ones included that are about to end. */
  #live = 0;
  /** What has to end before the group has. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #starts = new Set<AbortController>();
  #inLine = false;
  /** An idle cell of others is on its way here. */
  #urgent = false;
  #closing = false;

  constructor(options: CellGroupOptions) {
    this.#options = options;
    this.planId = options.request.activation.planId;
    this.yields = options.request.stateless;
    const { recycleAfterCalls, recycleHeapMb } = options.options;
    if (this.yields && options.tier.bounded && (recycleAfterCalls ?? recycleHeapMb) !== undefined) {
      this.#recycler = new Recycler(options.options, (seat, reason) => {
        this.#retire(seat, reason);
      });
    }
  }

  /** Cells that are ready. */
  get seats(): readonly Seat[] {
    return this.#seats;
  }

  get starting(): boolean {
    return this.#starts.size > 0;
  }

  /** Whether no cell is there, on its way, or about to end. */
  get empty(): boolean {
    return this.#live === 0 && this.#starts.size === 0;
  }

  /** Whether cells are there that are not about to leave, and none of them has room. */
  get full(): boolean {
    return this.#takesCalls() && !this.roomiest();
  }

  /** The open cell with the fewest calls. */
  roomiest(): Seat | undefined {
    let best: Seat | undefined;
    for (const seat of this.#seats) {
      if (seat.open && (!best || seat.cell.inFlight < best.cell.inFlight)) best = seat;
    }
    return best;
  }

  /** A cell that has calls, takes no more of them, and has room for one that a call of its own waits for. */
  draining(): Seat | undefined {
    return this.#seats.find(({ leaving, cell }) => (leaving === "worn" || leaving === "yield") && cell.hasRoom);
  }

  /** A cell was sent a call. */
  sent(seat: Seat): void {
    this.#recycler?.sent(seat);
  }

  /** A cell has answered a call. */
  answered(cell: Cell<ToolCall>): void {
    if (!this.#recycler?.looks) return;
    const seat = this.seatOf(cell);
    if (seat) this.#recycler.answered(seat);
  }

  seatOf(cell: Cell<ToolCall>): Seat | undefined {
    return this.#seats.find((seat) => seat.cell === cell);
  }

  seatOfCall(call: ToolCall): Seat | undefined {
    return this.#seats.find((seat) => seat.cell.info === call.cell);
  }

  /**
   * Sees to it that a cell is there or will be.
   * @param urgent the cell is for a call whose caller holds one itself
   * @returns false where an urgent call would have to wait for somebody else's
   */
  ensureFirst(urgent: boolean): boolean {
    if (this.#closing || this.#takesCalls() || this.#starts.size > 0 || this.#urgent) return true;
    const { tier, supply } = this.#options;
    if (!tier.bounded) {
      void this.#start(undefined);
      return true;
    }
    const permit = this.#inLine ? undefined : supply.tryTake(this);
    if (permit) {
      void this.#start(permit);
      return true;
    }
    if (urgent) {
      const sooner = supply.takeUrgently(this);
      if (typeof sooner === "object") void this.#start(sooner);
      else this.#urgent = sooner;
      return sooner !== false;
    }
    if (!this.#inLine) {
      this.#inLine = true;
      supply.wait(this);
    }
    return true;
  }

  /** Starts further cells for a load, where they are free: nobody's cell is taken back for a second one. */
  growFor(load: number): void {
    const { tier, supply, maxCells } = this.#options;
    if (this.#closing || !this.#takesCalls()) return;
    for (let present = this.#seats.length + this.#starts.size; present < maxCells && present < load; present++) {
      const permit = tier.bounded ? supply.tryTake(this) : undefined;
      if (tier.bounded && !permit) return;
      void this.#start(permit);
    }
  }

  /** Waits for no cell any more. */
  leaveLine(): void {
    if (!this.#inLine && !this.#urgent) return;
    this.#inLine = this.#urgent = false;
    this.#options.supply.leave(this);
  }

  permitGiven(permit: Permit): void {
    this.#inLine = this.#urgent = false;
    if (this.#closing || this.#takesCalls() || this.#starts.size > 0 || !this.#options.owner.wantsCell)
      this.#options.supply.giveBack(permit);
    else void this.#start(permit);
  }

  reclaim(permit: Permit): void {
    const seat = this.#seats.find((candidate) => candidate.permit === permit);
    // A cell that is starting or ending comes back by itself, and one that is worn is on its way for who waits here.
    const { waiting } = this.#options.supply;
    const wornForOthers = seat?.leaving === "worn" && waiting > (this.#inLine ? 1 : 0);
    if (seat && (!seat.leaving || wornForOthers)) this.#options.owner.reclaimed(seat);
  }

  /** Deactivates a cell and gives it back. Never rejects. */
  giveUp(seat: Seat): Promise<void> {
    this.#drop(seat);
    if (seat.permit) this.#options.supply.ending(seat.permit);
    seat.ending ??= this.#end(this.#deactivate(seat));
    return seat.ending;
  }

  /** Ends a cell by force. */
  kill(seat: Seat): void {
    this.#drop(seat);
    void this.#end(seat.cell.kill());
  }

  /** Ends every cell. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    this.leaveLine();
    for (const start of this.#starts) start.abort();
    for (const seat of [...this.#seats]) void this.giveUp(seat);
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** Gives a cell up once its calls are over. Another one comes at once where one is free, else with the next call. */
  #retire(seat: Seat, reason: RecycleReason): void {
    if (seat.leaving || this.#closing) return;
    seat.leaving = "worn";
    seat.worn = reason;
    if (seat.cell.inFlight === 0) void this.giveUp(seat);
    if (this.#takesCalls() || this.#starts.size > 0 || this.#inLine || this.#urgent) return;
    const permit = this.#options.supply.tryTake(this);
    if (permit) void this.#start(permit);
    else if (this.#options.owner.wantsCell) this.ensureFirst(false);
  }

  #start(permit: Permit | undefined): Promise<void> {
    const controller = new AbortController();
    this.#starts.add(controller);
    return this.#end(this.#started(permit, controller));
  }

  async #started(permit: Permit | undefined, controller: AbortController): Promise<void> {
    const { tier, request, supply, owner } = this.#options;
    let cell: Cell<ToolCall>;
    try {
      cell = await tier.start({ ...request, signal: controller.signal });
    } catch (error) {
      this.#starts.delete(controller);
      if (permit) supply.giveBack(permit);
      this.#failed(error);
      return;
    }
    this.#starts.delete(controller);
    const seat = new Seat(cell, permit);
    this.#seats.push(seat);
    this.#live++;
    if (permit) supply.ready(permit);
    void cell.ended.then((end) => {
      this.#ended(seat, end);
    });
    this.#tell(seat, undefined);
    if (this.#closing) void this.giveUp(seat);
    else owner.cellReady(seat);
  }

  #failed(cause: unknown): void {
    const { request, owner, events } = this.#options;
    const { toolName } = request;
    const message = cause instanceof Error ? cause.message : String(cause);
    const timedOut = (cause as { code?: unknown } | undefined)?.code === "ACTIVATION_TIMED_OUT";
    const error = new ToolActivationError(
      `Tool "${toolName}" could not be activated in plan "${this.planId}": ${message}`,
      {
        code: timedOut ? "ACTIVATION_TIMED_OUT" : "ACTIVATION_FAILED",
        cause,
        details: { tool: toolName, planId: this.planId },
      },
    );
    if (!this.#takesCalls() && this.#starts.size === 0) owner.startFailed(error);
    else {
      const { planId } = this;
      events.warn({ code: "CELL_START_FAILED", message: `A further cell: ${error.message}`, planId, toolName, cause });
    }
  }

  async #deactivate(seat: Seat): Promise<void> {
    const { options, events, request } = this.#options;
    const { toolName } = request;
    try {
      await seat.cell.deactivate(options.deactivateTimeoutMs);
    } catch (cause) {
      const { planId } = this;
      const message = cause instanceof Error ? cause.message : String(cause);
      events.warn({
        code: "DEACTIVATION_FAILED",
        message: `Tool "${toolName}" did not deactivate cleanly in plan "${planId}": ${message}`,
        planId,
        toolName,
        cause: new ToolDeactivationError(message, { cause, details: { tool: toolName, planId } }),
      });
      await seat.cell.kill();
      return;
    }
    if (seat.leaving === "spoiled") await seat.cell.kill();
    else await seat.cell.release(seat.worn !== undefined);
  }

  #ended(seat: Seat, end: CellEnd): void {
    const { supply, owner, events, request } = this.#options;
    this.#drop(seat);
    this.#live--;
    this.#recycler?.ended(seat);
    const told = seat.crash ? ({ ...end, kind: "crashed", error: seat.crash } as const) : end;
    if (seat.permit) supply.giveBack(seat.permit);
    this.#tell(seat, told);
    if (end.kind === "quarantined") {
      events.warn({
        code: "CELL_QUARANTINED",
        message: `Cell ${seat.cell.info.id} of tool "${request.toolName}" could not be ended and may hold a core until the process ends.`,
        planId: this.planId,
        toolName: request.toolName,
      });
    }
    owner.cellEnded(seat, told);
  }

  #tell(seat: Seat, end: CellEnd | undefined): void {
    const { events, request } = this.#options;
    events.tell("cell", {
      type: end ? "ended" : "started",
      planId: this.planId,
      toolName: request.toolName,
      cell: seat.cell.info,
      ...(end ? { end } : { origin: seat.cell.origin }),
      ...(end?.kind === "released" && seat.worn && { recycled: seat.worn }),
    });
  }

  /** Whether a cell is there that is not about to leave. */
  #takesCalls(): boolean {
    return this.#seats.some(({ leaving }) => leaving === undefined);
  }

  #drop(seat: Seat): void {
    const index = this.#seats.indexOf(seat);
    if (index >= 0) this.#seats.splice(index, 1);
  }

  #end(work: Promise<unknown>): Promise<void> {
    const ending = work.then(() => {
      this.#ending.delete(ending);
    });
    this.#ending.add(ending);
    return ending;
  }
}
