/** Keeps what a runtime tells, and lets a test wait for it. */
import { inspect } from "node:util";
import type { CellEvent, LogEvent, ProgressEvent, ToolRuntime, WarningEvent } from "../../src/index.js";

interface Waiter {
  check(): boolean;
}

/** Listens to one runtime. */
export class Recorder {
  readonly logs: LogEvent[] = [];
  readonly progress: ProgressEvent[] = [];
  readonly warnings: WarningEvent[] = [];
  readonly cells: CellEvent[] = [];
  readonly #waiters = new Set<Waiter>();

  constructor(runtime: ToolRuntime) {
    const keep =
      <Event>(list: Event[]) =>
      (event: Event): void => {
        list.push(event);
        for (const waiter of this.#waiters) if (waiter.check()) this.#waiters.delete(waiter);
      };
    runtime
      .on("log", keep(this.logs))
      .on("progress", keep(this.progress))
      .on("warning", keep(this.warnings))
      .on("cell", keep(this.cells));
  }

  /** Resolves when `message` was logged `times` times, counted from the start. */
  async logged(message: string, times = 1): Promise<LogEvent> {
    const found = (): LogEvent[] => this.logs.filter((event) => event.message === message);
    await this.until(() => found().length >= times);
    return found()[times - 1] as LogEvent;
  }

  async warned(code: WarningEvent["code"]): Promise<WarningEvent> {
    const found = (): WarningEvent | undefined => this.warnings.find((event) => event.code === code);
    await this.until(() => found() !== undefined);
    return found() as WarningEvent;
  }

  /** Resolves when so many cells have ended. */
  async cellsEnded(count: number): Promise<CellEvent[]> {
    const found = (): CellEvent[] => this.cells.filter(({ type }) => type === "ended");
    await this.until(() => found().length >= count);
    return found();
  }

  /** How often `message` was logged. */
  count(message: string): number {
    return this.logs.filter((event) => event.message === message).length;
  }

  /** Resolves when the condition holds; it is looked at after each event. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const waiter = {
        check: (): boolean => {
          if (!condition()) return false;
          resolve();
          return true;
        },
      };
      if (!waiter.check()) this.#waiters.add(waiter);
    });
  }
}

/** A value whose form the test asserts. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what tools return and throw has no static type here
export type Loose = any;

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Loose> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${inspect(value).slice(0, 1_000)}`);
}
