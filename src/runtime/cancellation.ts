/** The coordinator's cancellation token, interoperable with `AbortSignal` both ways. */
import { ToolCancelledError, ToolRuntimeError } from "../protocol/errors.js";
import { Chain, type Link } from "./chain.js";

/** Is told once when a token is cancelled. */
export interface CancelSubscriber {
  tokenCancelled(reason: unknown): void;
}

/** Takes a subscriber off its token again. */
export type CancelSubscription = Link<CancelSubscriber>;

const fromSignals = new WeakMap<AbortSignal, CancellationToken>();

/**
 * Says that work should stop. Cancelling is final; the first reason stays.
 * @example
 * ```ts
 * import { CancellationToken, ToolRuntime } from "toolcell";
 *
 * await using runtime = new ToolRuntime();
 * const cancellationToken = new CancellationToken();
 * await using plan = runtime.plan({ planId: "p", cancellationToken });
 * cancellationToken.cancel("the user pressed stop");
 * console.log(plan.context.cancellationToken.isCancelled, cancellationToken.reason); // → true the user pressed stop
 * ```
 */
export class CancellationToken {
  readonly #source: AbortSignal | undefined;
  #subscribers: Chain<CancelSubscriber> | undefined;
  #controller: AbortController | undefined;
  #cancelled = false;
  #reason: unknown;

  /** @param source cancels the token too when it aborts; `CancellationToken.from` shares one token a signal */
  constructor(source?: AbortSignal) {
    this.#source = source;
  }

  /**
   * A token that is cancelled when the signal aborts. One signal has one token, and a signal
   * gets one listener however many calls it serves, and only while one of them runs.
   * @throws ToolRuntimeError `INVALID_ARGUMENT`
   * @example
   * ```ts
   * import { CancellationToken } from "toolcell";
   *
   * const controller = new AbortController();
   * const token = CancellationToken.from(controller.signal);
   * controller.abort("too late");
   * console.log(token.isCancelled, token.reason); // → true too late
   * ```
   */
  static from(signal: AbortSignal): CancellationToken {
    if (!((signal as unknown) instanceof AbortSignal)) {
      throw new ToolRuntimeError("CancellationToken.from: the argument must be an AbortSignal.", {
        code: "INVALID_ARGUMENT",
      });
    }
    let token = fromSignals.get(signal);
    if (!token) fromSignals.set(signal, (token = new CancellationToken(signal)));
    return token;
  }

  /** Whether the work should stop. */
  get isCancelled(): boolean {
    return this.#cancelled || this.#source?.aborted === true;
  }

  /** Why, as given to `cancel`; `undefined` before. */
  get reason(): unknown {
    return this.#cancelled ? this.#reason : (this.#source?.reason as unknown);
  }

  /** Cancels. A second call has no effect. */
  cancel(reason?: unknown): void {
    if (this.isCancelled) return;
    this.#cancelled = true;
    this.#reason = reason;
    this.#announce();
  }

  /** @throws ToolCancelledError once cancelled */
  check(): void {
    if (this.isCancelled) throw new ToolCancelledError("Stop: the token is cancelled.", { cause: this.reason });
  }

  /** Aborts when the token is cancelled; for whatever takes a signal. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.isCancelled) this.#controller.abort(this.reason);
    else this.#listen();
    return this.#controller.signal;
  }

  /** @internal A subscriber of a cancelled token is never told; ask `isCancelled` first. */
  subscribe(subscriber: CancelSubscriber): CancelSubscription {
    this.#subscribers ??= new Chain();
    const subscription = this.#subscribers.add(subscriber);
    if (this.#subscribers.size === 1) this.#listen();
    return subscription;
  }

  /** @internal */
  unsubscribe(subscription: CancelSubscription): void {
    if (this.#subscribers?.remove(subscription) && this.#subscribers.size === 0 && !this.#controller) {
      this.#source?.removeEventListener("abort", this.#announce);
    }
  }

  #listen(): void {
    // A listener that is added twice stands once.
    this.#source?.addEventListener("abort", this.#announce, { once: true });
  }

  readonly #announce = (): void => {
    const { reason } = this;
    this.#source?.removeEventListener("abort", this.#announce);
    this.#controller?.abort(reason);
    this.#subscribers?.drain((subscriber) => {
      subscriber.tokenCancelled(reason);
    });
  };
}
