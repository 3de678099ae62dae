/** Cancellation as the tool sees it: one atomic load per poll. */
import type { CancelReason, CancelWords } from "../src/protocol/cancel-words.js";
import { ToolCancelledError } from "../src/protocol/errors.js";
import type { CancellationView } from "../src/protocol/tool.js";

const TEXTS: Readonly<Record<CancelReason, string>> = {
  cancelled: "the call was cancelled",
  deadline: "the call's deadline passed",
  plan_deactivated: "the plan was deactivated",
  runtime_closed: "the runtime was closed",
  budget: "the plan's budget is used up",
};

/**
 * A flag cannot stop code that neither polls it nor awaits; for that there is the kill.
 * Once its call is over a token stays cancelled, so work left behind finds a reason to stop.
 */
export class CancelToken implements CancellationView {
  readonly #words: CancelWords;
  readonly #slot: number;
  readonly #generation: number;
  #closed = false;
  #controller: AbortController | undefined;

  constructor(words: CancelWords, slot: number, generation: number) {
    this.#words = words;
    this.#slot = slot;
    this.#generation = generation;
  }

  get isCancelled(): boolean {
    return this.#closed || this.#words.isCancelled(this.#slot, this.#generation);
  }

  check(): void {
    if (this.isCancelled) throw this.#error();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    this.ring();
    return this.#controller.signal;
  }

  /** Aborts the signal if there is one and the call is cancelled. */
  ring(): void {
    const controller = this.#controller;
    if (controller && !controller.signal.aborted && this.#words.isCancelled(this.#slot, this.#generation)) {
      controller.abort(this.#error());
    }
  }

  /** The call is over; the slot is about to serve another. */
  close(): void {
    this.#closed = true;
  }

  #error(): ToolCancelledError {
    if (this.#closed) return new ToolCancelledError("The call is over.");
    const reason = this.#words.reason(this.#slot);
    return new ToolCancelledError(`Stop: ${TEXTS[reason]}.`, { details: { reason } });
  }
}
