/**
 * When the cells of one activation have served long enough. Calls are counted as they are sent; the heap is asked for
 * between calls, now and then, never with each of them.
 */
import type { RecycleReason } from "./cell.js";
import type { ResolvedOptions } from "./options.js";
import type { Seat } from "./seat.js";

/** Milliseconds from a call's end until its cell is asked for its heap; further calls in between change nothing. */
const LOOK_AFTER_MS = 100;
const MIB = 1024 * 1024;

/** Finds cells that are worn. */
export class Recycler {
  readonly #calls: number | undefined;
  readonly #heapBytes: number | undefined;
  readonly #worn: (seat: Seat, reason: RecycleReason) => void;

  /** @param worn hears of a cell that is to take no more calls */
  constructor(
    { recycleAfterCalls, recycleHeapMb }: ResolvedOptions,
    worn: (seat: Seat, reason: RecycleReason) => void,
  ) {
    this.#calls = recycleAfterCalls;
    this.#heapBytes = recycleHeapMb === undefined ? undefined : recycleHeapMb * MIB;
    this.#worn = worn;
  }

  /** Whether cells are asked for their heap. */
  get looks(): boolean {
    return this.#heapBytes !== undefined;
  }

  /** The cell was sent one more call. */
  sent(seat: Seat): void {
    if (++seat.sent === this.#calls) this.#worn(seat, "calls");
  }

  /** A call of the cell has ended. */
  answered(seat: Seat): void {
    if (this.#heapBytes === undefined || seat.leaving) return;
    seat.look ??= setTimeout(this.#look, LOOK_AFTER_MS, seat).unref();
  }

  /** The cell has ended. */
  ended(seat: Seat): void {
    clearTimeout(seat.look);
  }

  readonly #look = (seat: Seat): void => {
    // A cell that does not answer is not asked again; its calls' deadlines end it.
    void seat.cell.heapUsed().then((used = 0) => {
      seat.look = undefined;
      if (used > (this.#heapBytes ?? Infinity) && !seat.leaving) this.#worn(seat, "heap");
    });
  };
}
