/**
 * The newest traces of a context. A busy plan leaves hundreds of thousands a second, and objects
 * that live just long enough to be moved by the garbage collector cost more than the calls they
 * tell of. So the log keeps their numbers and texts in arrays, and makes objects for who asks.
 */
import { PHASES, type ToolExecutionTrace, type TracePhases } from "../protocol/trace.js";
import { callIdOf } from "./call-ids.js";

/** The call's serial, durationMs, resultSizeBytes, attempt, cost, then the phases. */
const NUMBERS = 5 + PHASES.length;
/** The fields that are no numbers, in the order in which they are kept. */
const REFERENCES = [
  "toolName",
  "toolVersion",
  "planId",
  "callId",
  "parentCallId",
  "approvalId",
  "checkpointId",
  "startedAt",
  "endedAt",
  "error",
  "outcome",
  "cell",
] as const;
const FIRST_CAPACITY = 64;

/** Keeps traces. */
export class TraceLog {
  readonly #limit: number;
  #capacity = 0;
  #numbers = new Float64Array(0);
  readonly #references: unknown[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many were ever added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a trace; beyond the limit it takes the oldest one's place.
   * @param serial the number that the call's id was made of, where it was: ids are the one text that no two traces share
   */
  add(trace: ToolExecutionTrace, serial?: number): void {
    const place = this.#place();
    const { phases } = trace;
    let at = place * NUMBERS;
    const numbers = this.#numbers;
    numbers[at++] = serial ?? NaN;
    numbers[at++] = trace.durationMs;
    numbers[at++] = trace.resultSizeBytes;
    numbers[at++] = trace.attempt;
    numbers[at++] = trace.cost ?? NaN;
    numbers[at++] = phases.gates;
    numbers[at++] = phases.approval;
    numbers[at++] = phases.admission;
    numbers[at++] = phases.activation;
    numbers[at++] = phases.dispatch;
    numbers[at++] = phases.outbound;
    numbers[at++] = phases.start;
    numbers[at++] = phases.run;
    numbers[at++] = phases.inbound;
    numbers[at] = phases.close;
    let reference = place * REFERENCES.length;
    const references = this.#references;
    references[reference++] = trace.toolName;
    references[reference++] = trace.toolVersion;
    references[reference++] = trace.planId;
    references[reference++] = serial === undefined ? trace.callId : undefined;
    references[reference++] = trace.parentCallId;
    references[reference++] = trace.approvalId;
    references[reference++] = trace.checkpointId;
    references[reference++] = trace.startedAt;
    references[reference++] = trace.endedAt;
    references[reference++] = trace.error;
    references[reference++] = trace.outcome;
    references[reference] = trace.cell;
  }

  /** The newest, oldest first. */
  get members(): ToolExecutionTrace[] {
    const kept = Math.min(this.#count, this.#limit);
    const first = this.#count - kept;
    return Array.from({ length: kept }, (_none, index) => this.#read((first + index) % this.#limit));
  }

  /** Where the next trace goes. Room grows with use: most plans make a few calls only. */
  #place(): number {
    const place = this.#count++ % this.#limit;
    if (place >= this.#capacity) {
      this.#capacity = Math.min(this.#limit, Math.max(FIRST_CAPACITY, this.#capacity * 2));
      const numbers = new Float64Array(this.#capacity * NUMBERS);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
      const references = this.#references;
      while (references.length < this.#capacity * REFERENCES.length) references.push(undefined);
    }
    return place;
  }

  #read(place: number): ToolExecutionTrace {
    const at = place * NUMBERS;
    const [serial = NaN, durationMs = 0, resultSizeBytes = 0, attempt = 1, cost = NaN, ...phases] =
      this.#numbers.subarray(at, at + NUMBERS);
    const from = place * REFERENCES.length;
    const texts = REFERENCES.map((name, index) => [name, this.#references[from + index]] as const);
    return Object.freeze({
      ...(Object.fromEntries(texts.filter(([, value]) => value !== undefined)) as unknown as ToolExecutionTrace),
      ...(serial === serial && { callId: callIdOf(serial) }),
      durationMs,
      phases: Object.freeze(Object.fromEntries(PHASES.map((name, index) => [name, phases[index] ?? 0]))) as TracePhases,
      resultSizeBytes,
      success: this.#references[from + REFERENCES.indexOf("outcome")] === "ok",
      attempt,
      ...(cost === cost && { cost }),
    });
  }
}
