/** A live cell together with what its activation knows of it. */
import type { Cell, RecycleReason } from "./cell.js";
import type { Permit } from "./cell-supply.js";
import type { ToolCall } from "./tool-call.js";

/** One cell of an activation. */
export class Seat {
  readonly cell: Cell<ToolCall>;
  readonly permit: Permit | undefined;
  /** Takes no more calls: it is to be given back, has served long enough, or an error escaped in it. */
  leaving: "yield" | "worn" | "spoiled" | undefined;
  /** Why its worker is to serve nobody any more, where that is since it has served long enough. */
  worn: RecycleReason | undefined;
  /** Calls that its worker was ever sent. */
  sent: number;
  /** Until its heap is looked at, and while it is. */
  look: NodeJS.Timeout | undefined;
  /** It is being ended by force, for the sake of this call where there is one. */
  killedFor: ToolCall | undefined;
  /** Resolves when the cell that was given up has ended. */
  ending: Promise<void> | undefined;
  /** The error that nobody's call could be blamed for. */
  crash: Error | undefined;

  constructor(cell: Cell<ToolCall>, permit: Permit | undefined) {
    this.cell = cell;
    this.permit = permit;
    this.sent = cell.served;
  }

  /** Whether another call can be sent. */
  get open(): boolean {
    return this.leaving === undefined && this.cell.hasRoom;
  }

  /**
   * Takes back calls that have not started, at most `limit`.
   * @param sentBefore leaves alone what was sent later, on the clock of `performance.now()`
   * @param nested whether calls of calls too; these could not wait for another cell
   */
  withdraw({ limit = Infinity, sentBefore = Infinity, nested = false } = {}): ToolCall[] {
    const taken: ToolCall[] = [];
    for (const call of this.#movable(nested)) {
      if (taken.length >= limit) break;
      if (!(call.marks.dispatched > sentBefore) && this.cell.withdraw(call)) taken.push(call);
    }
    return taken;
  }

  /** Whether a call waits here that another cell could take. */
  get crowded(): boolean {
    return this.#movable(true).length > 0;
  }

  #movable(nested: boolean): ToolCall[] {
    return this.cell.calls().filter((call) => {
      // A call whose buffers were handed over cannot be sent again; one that is told to stop ends here.
      const fixed = (call.parent && !nested) || call.settled || call.transfer || call.interruption;
      return !fixed && !this.cell.hasStarted(call);
    });
  }
}
