/**
 * Who may have a live cell. Cells are bounded; when all are out, the least recently used idle
 * cell of a stateless tool goes to who waits, and busy ones are asked to yield. Plans that wait
 * are served in turn.
 */
import { FairQueue } from "./fair-queue.js";

/** The right to one live cell. */
export interface Permit {
  readonly holder: PermitHolder;
  /** `performance.now()` when its cell was up; a cell that is starting cannot be asked for. */
  since: number | undefined;
}

/** Holds permits and waits for them. */
export interface PermitHolder {
  readonly planId: string;
  /** Whether its cells may be taken back: the tool keeps nothing between calls. */
  readonly yields: boolean;
  /** A permit that had to be waited for. */
  permitGiven(permit: Permit): void;
  /** Asks for the permit's cell back. The holder returns the permit when the cell has ended. */
  reclaim(permit: Permit): void;
}

/**
 * Milliseconds a cell serves one activation at least while others wait. A change of hands costs
 * about a millisecond, so quick calls of two plans would otherwise spend their time on it.
 */
const TENURE_MS = 4;

/** Hands out permits. */
export class CellSupply {
  readonly #limit: number;
  readonly #out = new Set<Permit>();
  /** Idle permits whose holders yield, the least recently used first. */
  readonly #idle = new Set<Permit>();
  readonly #asked = new Set<Permit>();
  /** Those of the asked whose cells were idle. */
  readonly #coming = new Set<Permit>();
  /** Those whose cells are being ended, asked for or not: they come back in bounded time. */
  readonly #ending = new Set<Permit>();
  readonly #waiting = new FairQueue<PermitHolder>();
  readonly #urgent: PermitHolder[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Permits that there are. */
  get limit(): number {
    return this.#limit;
  }

  /** Permits that come back only when their holders' plans end. */
  get pinned(): number {
    let count = 0;
    for (const { holder } of this.#out) if (!holder.yields) count++;
    return count;
  }

  /** Permits given out. */
  get live(): number {
    return this.#out.size;
  }

  /** Holders that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A permit if one is free and nobody waits for it. */
  tryTake(holder: PermitHolder): Permit | undefined {
    return this.#waiting.size === 0 ? this.#takeFree(holder) : undefined;
  }

  /**
   * A permit for a call that holds a cell itself: waiting for somebody else's call could wait for
   * ever, so it goes ahead of all who wait, and there is one now, or one from an idle cell or one that ends, or none.
   * @returns the permit, or whether `permitGiven` will be called
   */
  takeUrgently(holder: PermitHolder): Permit | boolean {
    const permit = this.#takeFree(holder);
    if (permit) return permit;
    const [idle] = this.#idle;
    if (!idle && this.#ending.size <= this.#urgent.length) return false;
    this.#urgent.push(holder);
    if (idle) this.#ask(idle);
    return true;
  }

  /** Stands in line; `permitGiven` is called in turn. */
  wait(holder: PermitHolder): void {
    this.#waiting.push(holder.planId, holder);
    this.#press();
  }

  /** Leaves the line. */
  leave(holder: PermitHolder): void {
    this.#waiting.remove(holder.planId, holder);
    const at = this.#urgent.indexOf(holder);
    if (at >= 0) this.#urgent.splice(at, 1);
  }

  /** The permit's cell is up. */
  ready(permit: Permit): void {
    permit.since = performance.now();
    if (this.#waiting.size > 0) this.#press();
  }

  /** The permit's cell serves no call now. */
  idle(permit: Permit): void {
    if (!this.#out.has(permit) || this.#asked.has(permit) || !permit.holder.yields) return;
    this.#idle.add(permit);
    if (this.#waiting.size > 0) this.#press();
  }

  /** The permit's cell serves a call. */
  busy(permit: Permit): void {
    this.#idle.delete(permit);
  }

  /** The permit's cell has no calls any more and is being ended. */
  ending(permit: Permit): void {
    if (this.#out.has(permit)) this.#ending.add(permit);
  }

  /** The permit's cell has ended. */
  giveBack(permit: Permit): void {
    if (!this.#out.delete(permit)) return;
    this.#idle.delete(permit);
    this.#asked.delete(permit);
    this.#coming.delete(permit);
    this.#ending.delete(permit);
    this.#serve();
  }

  /** Forgets all who wait. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #takeFree(holder: PermitHolder): Permit | undefined {
    if (this.#out.size >= this.#limit) return undefined;
    const permit: Permit = { holder, since: undefined };
    this.#out.add(permit);
    return permit;
  }

  #serve(): void {
    while (this.#waiting.size + this.#urgent.length > 0 && this.#out.size < this.#limit) {
      const holder = this.#urgent.shift() ?? this.#waiting.shift();
      const permit = holder && this.#takeFree(holder);
      if (holder && permit) holder.permitGiven(permit);
    }
    if (this.#waiting.size > 0) this.#press();
  }

  /** Asks for as many cells back as there are holders waiting. */
  #press(): void {
    this.#serveIfFree();
    // An idle cell that was asked for is on its way; a busy one may take for ever.
    let missing = this.#waiting.size + this.#urgent.length - this.#coming.size;
    for (const permit of this.#idle) {
      if (missing <= 0) return;
      this.#ask(permit);
      missing--;
    }
    missing -= this.#asked.size - this.#coming.size;
    if (missing <= 0) return;
    const now = performance.now();
    let soonest = Infinity;
    for (const permit of this.#out) {
      if (missing <= 0) return;
      if (permit.since === undefined || this.#asked.has(permit) || !permit.holder.yields) continue;
      const left = permit.since + TENURE_MS - now;
      if (left > 0) soonest = Math.min(soonest, left);
      else {
        this.#ask(permit);
        missing--;
      }
    }
    if (missing > 0 && soonest < Infinity && !this.#timer) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        if (this.#waiting.size > 0) this.#press();
      }, Math.ceil(soonest));
    }
  }

  #serveIfFree(): void {
    if (this.#out.size < this.#limit) this.#serve();
  }

  #ask(permit: Permit): void {
    if (this.#idle.delete(permit)) this.#coming.add(permit);
    this.#asked.add(permit);
    permit.holder.reclaim(permit);
  }
}
