/** Those who wait for a tool to be made ready. */
import { ToolCancelledError } from "../protocol/errors.js";
import type { CancellationToken, CancelSubscriber } from "./cancellation.js";

/** Whose waiters they are. */
export interface WaitersOwner {
  readonly planId: string;
  readonly toolName: string;
  /** One has stopped waiting. */
  waiterLeft(): void;
}

interface Waiter extends CancelSubscriber {
  ready(): void;
  failed(error: Error): void;
}

/** Waits for one activation; one start serves all who ask. */
export class ActivationWaiters {
  readonly #owner: WaitersOwner;
  readonly #waiters = new Set<Waiter>();

  constructor(owner: WaitersOwner) {
    this.#owner = owner;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits until the tool is ready, cannot be made ready, or is not wanted any more. */
  wait(token: CancellationToken): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiters.delete(waiter);
        token.unsubscribe(subscription);
        this.#owner.waiterLeft();
      };
      const waiter: Waiter = {
        ready: () => {
          done();
          resolve();
        },
        failed: (error) => {
          done();
          reject(error);
        },
        tokenCancelled: (cause) => {
          const { toolName, planId } = this.#owner;
          const text = `The activation of tool "${toolName}" in plan "${planId}" was cancelled.`;
          waiter.failed(new ToolCancelledError(text, { cause, details: { tool: toolName, planId } }));
        },
      };
      this.#waiters.add(waiter);
      const subscription = token.subscribe(waiter);
    });
  }

  ready(): void {
    for (const waiter of [...this.#waiters]) waiter.ready();
  }

  failed(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.failed(error);
  }
}
