/** How much a call, or a cell outside of calls, may log. */
import { measurePayload, type PayloadLimits } from "../src/protocol/payload.js";
import type { CallEvent } from "../src/protocol/messages.js";

type LogLine = CallEvent & { kind: "log" };

/** Counts. A tool that prints from a tight loop does not fill the host's memory. */
export class LogMeter {
  readonly #limits: PayloadLimits;
  readonly #maxBytes: number;
  #left: number;
  #dropped = 0;

  constructor(maxBytes: number, limits: PayloadLimits) {
    this.#maxBytes = this.#left = maxBytes;
    this.#limits = limits;
  }

  /** @returns what is to be sent in place of a line: itself, one that says that the rest is dropped, or nothing */
  pass(line: LogLine): LogLine | undefined {
    const bytes = line.message.length + this.#sizeOf(line.data);
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return line;
    }
    // What is shorter than a line that was dropped would give a log with holes.
    this.#left = -1;
    this.#dropped++;
    if (this.#dropped > 1) return undefined;
    return this.#note(`What is logged beyond ${this.#maxBytes} bytes in one call is dropped (option maxLogBytes).`);
  }

  /** @returns a line that says how many were dropped, where some were */
  end(): LogLine | undefined {
    return this.#dropped > 1 ? this.#note(`${this.#dropped} log lines of this call were dropped.`) : undefined;
  }

  #note(message: string): LogLine {
    return { kind: "log", level: "warn", message };
  }

  #sizeOf(data: unknown): number {
    if (data === undefined) return 0;
    const size = measurePayload(data, { ...this.#limits, maxBytes: Math.max(0, this.#left) });
    // What cannot travel is told as such.
    if (typeof size === "number") return size;
    return size.reason === "too_large" ? Infinity : 0;
  }
}
