/** Moves calls that wait behind a busy cell to a sibling that has nothing to do. */
import type { Seat } from "./seat.js";
import type { ToolCall } from "./tool-call.js";

/** Milliseconds a call has waited in a cell before an idle sibling takes it over. */
const STEAL_AFTER_MS = 1;

/** Whose cells they are. */
export interface Siblings {
  readonly seats: readonly Seat[];
  send(seat: Seat, call: ToolCall): void;
  /** A cell may have something to take over now. */
  idle(seat: Seat): void;
}

/** Balances the cells of one activation. */
export class Rebalancer {
  readonly #siblings: Siblings;
  #later: NodeJS.Timeout | undefined;

  constructor(siblings: Siblings) {
    this.#siblings = siblings;
  }

  /**
   * Takes over calls for an idle cell.
   * @returns whether there were any
   */
  fill(seat: Seat): boolean {
    const before = performance.now() - STEAL_AFTER_MS;
    let crowded = false;
    for (const sibling of this.#siblings.seats) {
      if (sibling === seat || sibling.cell.inFlight < 2) continue;
      const taken = sibling.withdraw({ limit: Math.ceil(sibling.cell.inFlight / 2), sentBefore: before, nested: true });
      for (const call of taken) {
        call.marks.undispatch();
        this.#siblings.send(seat, call);
      }
      if (taken.length > 0) return true;
      // Calls that run may take as long as they like; only one that waits is worth looking for again.
      crowded ||= sibling.crowded;
    }
    // What was sent just now may turn out to wait.
    if (crowded) this.#later ??= setTimeout(this.#again, STEAL_AFTER_MS * 2);
    return false;
  }

  /** Looks no more. */
  close(): void {
    clearTimeout(this.#later);
  }

  readonly #again = (): void => {
    this.#later = undefined;
    for (const seat of this.#siblings.seats) if (seat.open && seat.cell.inFlight === 0) this.#siblings.idle(seat);
  };
}
