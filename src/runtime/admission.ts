/** Turns for calls: fair over plans, bounded, never held by a call that waits for something else. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { FairQueue } from "./fair-queue.js";

/** Who asks for a turn. */
export interface TurnTaker {
  readonly planId: string;
  readonly toolName: string;
  /** Whether a turn is its own, lent out or not. */
  hasTurn: boolean;
  /** How many waits its turn is lent out for. */
  lends: number;
  /** Called when a turn that had to be waited for is given. */
  turnGiven(): void;
}

/** Bounds on turns. */
export interface AdmissionOptions {
  /** Turns at one time. */
  readonly maxActiveCalls: number;
  /** Calls that may wait for one. */
  readonly maxQueuedCalls: number;
}

/** Gives turns. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #waiting = new FairQueue<TurnTaker>();
  #taken = 0;
  /** Calls that hold a turn, lent out or not, or wait for one. */
  #open = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Turns in use. */
  get active(): number {
    return this.#taken;
  }

  /** Calls that wait for a turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Asks for a turn.
   * @returns true when it is given at once; else `turnGiven` will be called
   * @throws ToolRuntimeError `OVERLOADED`
   */
  enter(taker: TurnTaker): boolean {
    const { maxActiveCalls, maxQueuedCalls } = this.#options;
    // A lent turn frees its place, not its call: who waits for a cell counts as waiting too.
    if (this.#open >= maxActiveCalls + maxQueuedCalls) throw this.#overloaded(taker);
    if (this.#taken < maxActiveCalls && this.#waiting.size === 0) {
      this.#open++;
      this.#give(taker);
      return true;
    }
    if (this.#waiting.size >= maxQueuedCalls) throw this.#overloaded(taker);
    this.#open++;
    this.#waiting.push(taker.planId, taker);
    return false;
  }

  /** Leaves the line. @returns whether the taker stood in it */
  leave(taker: TurnTaker): boolean {
    const left = this.#waiting.remove(taker.planId, taker);
    if (left) this.#open--;
    return left;
  }

  /** Frees the turn of a call that waits for a cell or for a call of its own; a turn is never held idle. */
  lend(taker: TurnTaker): void {
    if (taker.hasTurn && taker.lends++ === 0) this.#free();
  }

  /** Ends such a wait. The turn is back at once, even beyond the bound: who waits here could wait for ever. */
  takeBack(taker: TurnTaker): void {
    if (taker.hasTurn && --taker.lends === 0) this.#taken++;
  }

  /** Gives the turn back for good. */
  end(taker: TurnTaker): void {
    if (!taker.hasTurn) return;
    taker.hasTurn = false;
    this.#open--;
    if (taker.lends === 0) this.#free();
  }

  #overloaded({ toolName, planId }: TurnTaker): ToolRuntimeError {
    return new ToolRuntimeError(
      `Too many calls wait (${this.#open} are open); the call of "${toolName}" in plan "${planId}" was not queued. Send fewer calls ` +
        `at a time, or raise maxActiveCalls or maxQueuedCalls.`,
      { code: "OVERLOADED", details: { tool: toolName, planId, open: this.#open } },
    );
  }

  #give(taker: TurnTaker): void {
    this.#taken++;
    taker.hasTurn = true;
    taker.lends = 0;
  }

  #free(): void {
    this.#taken--;
    while (this.#taken < this.#options.maxActiveCalls) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#give(next);
      next.turnGiven();
    }
  }
}
