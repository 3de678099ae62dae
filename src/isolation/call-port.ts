/** The coordinator's end of a cell's call path: slots, coalesced messages, answers. */
import type { CancelReason, CancelWords } from "../protocol/cancel-words.js";
import { LIFECYCLE_SLOT, SlotState } from "../protocol/cancel-words.js";
import { packCall, unpackAnswers } from "../protocol/call-batch.js";
import { decodeError, encodeError, type EncodedError } from "../protocol/error-codec.js";
import { ToolRuntimeError } from "../protocol/errors.js";
import type { CallKey, CallMessage, CellAnswer, FromCell, ToCell } from "../protocol/messages.js";
import { isChange, type Change, type ToolError } from "../protocol/tool.js";
import { NO_SLOT, type Cell, type CellCall, type CellObserver } from "../runtime/cell.js";

/** What a call port stands on. */
export interface CallPortOptions<Call extends CellCall> {
  readonly cell: Cell<Call>;
  readonly words: CancelWords;
  readonly observer: CellObserver<Call>;
  /** Sends a message. Throws where it cannot be cloned. */
  post(message: ToCell, transfer: readonly ArrayBuffer[]): void;
}

const MAX_REQUESTS = 1_024;
const NO_TRANSFER: readonly ArrayBuffer[] = [];
const { setImmediate: afterThisTick } = globalThis;

/** Sends calls to one cell and hears its answers. */
export class CallPort<Call extends CellCall> {
  readonly #options: CallPortOptions<Call>;
  readonly #free: number[] = [];
  readonly #generations: number[];
  readonly #taken: boolean[];
  readonly #table: (Call | undefined)[];
  /** Calls whose answer is still to come. */
  #pending = 0;
  /** Slots whose calls leave with the next message. */
  #batch: number[] = [];
  #requests = 0;
  #sent = 0;
  #open = true;

  constructor(options: CallPortOptions<Call>) {
    this.#options = options;
    const { slots } = options.words;
    this.#generations = new Array<number>(slots).fill(0);
    this.#taken = new Array<boolean>(slots).fill(false);
    this.#table = new Array<Call | undefined>(slots).fill(undefined);
    for (let slot = slots - 1; slot > LIFECYCLE_SLOT; slot--) this.#free.push(slot);
  }

  /** Calls that were ever sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Slots in use. */
  get inFlight(): number {
    return this.#generations.length - 1 - this.#free.length;
  }

  get hasRoom(): boolean {
    return this.#open && this.#free.length > 0;
  }

  /** Calls whose answer is still to come. */
  calls(): Call[] {
    return this.#table.filter((call) => call !== undefined);
  }

  /** The call that a key names, if its answer is still to come. */
  at(key: CallKey | undefined): Call | undefined {
    // A cell may name anything, members of an array too.
    const known = isRecord(key) && this.#taken[key.slot] === true && this.#generations[key.slot] === key.generation;
    return known ? this.#table[key.slot] : undefined;
  }

  /**
   * Sends a call. Calls made in one tick travel as one message: an idle cell gets them at the
   * end of the running job, a busy one when the event loop has handled what is at hand. A call
   * whose input the caller could still change takes along what has gathered, and leaves at once.
   */
  send(call: Call): void {
    const slot = this.#free.pop();
    if (slot === undefined) throw new ToolRuntimeError("A cell was sent more calls than it has room for.");
    const idle = this.#pending === 0;
    this.#generations[slot] = this.#options.words.open(slot, this.#generations[slot] ?? 0);
    this.#taken[slot] = true;
    this.#table[slot] = call;
    this.#pending++;
    call.slot = slot;
    const first = this.#batch.push(slot) === 1;
    if (!call.inputIsKept) this.#flush();
    else if (!first) return;
    else if (idle) queueMicrotask(this.#flush);
    else afterThisTick(this.#flush);
  }

  cancel(call: Call, reason: CancelReason): boolean {
    const slot = this.#slotOf(call);
    if (slot === undefined) return false;
    const { words } = this.#options;
    const started = words.cancel(slot, this.#generations[slot] ?? 0, reason);
    // No answer may ever come: the trace then has to tell how far the call had come.
    words.readMarks(slot, call.marks);
    if (!started) neverStarted(call);
    return started;
  }

  withdraw(call: Call): boolean {
    const slot = this.#slotOf(call);
    if (slot === undefined || !this.#options.words.withdraw(slot, this.#generations[slot] ?? 0)) return false;
    const unsent = this.#batch.indexOf(slot);
    if (unsent >= 0) {
      this.#batch.splice(unsent, 1);
      this.#forget(slot);
      return true;
    }
    // The slot stays taken until the cell has said that it skipped the call.
    this.#part(slot);
    return true;
  }

  hasStarted(call: Call): boolean {
    const slot = this.#slotOf(call);
    return slot !== undefined && this.#options.words.state(slot) >= SlotState.started;
  }

  /** Sends nothing more; what the cell has published of its calls is read for the last time. */
  close(): void {
    this.#open = false;
    this.#batch = [];
    for (const call of this.calls()) this.#options.words.readMarks(call.slot, call.marks);
  }

  /** Takes a message of the cell. It may send anything; what has no known form is passed over. */
  receive(message: FromCell): void {
    if (!isRecord(message)) return;
    const { cell, observer } = this.#options;
    switch (message.type) {
      case "answers":
        if (Array.isArray(message.answers)) unpackAnswers(message.answers, this.#answered);
        return;
      case "event": {
        const { key, event } = message;
        const call = this.at(key);
        if ((key === undefined || call) && isRecord(event)) observer.told(cell, call, event);
        return;
      }
      case "stray":
        observer.stray(cell, this.at(message.key), message.late, decodeError(message.error));
        return;
      case "request":
        void this.#requested(message);
    }
  }

  readonly #answered = (raw: CellAnswer): void => {
    const { slot, generation } = raw;
    // An answer to a call of another generation comes too late, or was made up.
    if (!(slot > LIFECYCLE_SLOT) || this.#generations[slot] !== generation || this.#taken[slot] !== true) return;
    const call = this.#table[slot];
    if (call) this.#options.words.readMarks(slot, call.marks);
    if (call && raw.kind === "skipped") neverStarted(call);
    this.#forget(slot);
    this.#options.observer.answered(this.#options.cell, call, checkedAnswer(raw));
  };

  readonly #flush = (): void => {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    try {
      this.#post(batch);
    } catch {
      // One input that cannot travel costs its own call only.
      for (const slot of batch) this.#postAlone(slot);
    }
  };

  #postAlone(slot: number): void {
    try {
      this.#post([slot]);
    } catch (cause) {
      const call = this.#table[slot];
      this.#forget(slot);
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (call) this.#options.observer.refused(this.#options.cell, call, `cannot be copied: ${reason}`);
    }
  }

  #post(batch: readonly number[]): void {
    const calls: unknown[] = [];
    let transfer: ArrayBuffer[] | undefined;
    for (const slot of batch) {
      const call = this.#table[slot];
      if (!call) {
        // The cell has answered it unasked.
        this.#forget(slot);
        continue;
      }
      packCall(calls, messageOf(slot, this.#generations[slot] ?? 0, call));
      if (call.transfer) (transfer ??= []).push(...call.transfer);
    }
    this.#sent += batch.length;
    if (calls.length > 0) this.#options.post({ type: "calls", calls }, transfer ?? NO_TRANSFER);
  }

  /** Frees a slot whose call the cell will never answer for, or has. */
  #forget(slot: number): void {
    if (!this.#taken[slot]) return;
    this.#part(slot);
    this.#taken[slot] = false;
    this.#free.push(slot);
  }

  /** Parts a slot from its call. */
  #part(slot: number): void {
    const call = this.#table[slot];
    if (!call) return;
    call.slot = NO_SLOT;
    this.#table[slot] = undefined;
    this.#pending--;
  }

  #slotOf(call: Call): number | undefined {
    return this.#table[call.slot] === call ? call.slot : undefined;
  }

  async #requested({ key, requestId, name, args }: FromCell & { type: "request" }): Promise<void> {
    const call = this.at(key);
    if (!call) return;
    this.#requests++;
    let reply: ToCell;
    try {
      if (this.#requests > MAX_REQUESTS)
        throw new ToolRuntimeError("Too many requests of this cell are unanswered.", { code: "OVERLOADED" });
      const value = await this.#options.observer.asked(this.#options.cell, call, name, args);
      reply = { type: "reply", requestId, ok: true, value };
    } catch (error) {
      reply = { type: "reply", requestId, ok: false, error: encodeError(error) };
    } finally {
      this.#requests--;
    }
    if (!this.#open) return;
    try {
      this.#options.post(reply, NO_TRANSFER);
    } catch (error) {
      this.#options.post({ type: "reply", requestId, ok: false, error: encodeError(error) }, NO_TRANSFER);
    }
  }
}

/** The cell marks a start before it looks whether it may. */
function neverStarted({ marks }: CellCall): void {
  marks.started = marks.finished = NaN;
}

function messageOf(slot: number, generation: number, call: CellCall): CallMessage {
  const { callId, input, attempt, idempotencyKey } = call;
  if (attempt === 1 && idempotencyKey === undefined) return { slot, generation, callId, input };
  return { slot, generation, callId, input, attempt, ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

function checkedAnswer(raw: CellAnswer): CellAnswer {
  const { slot, generation } = raw;
  switch (raw.kind) {
    case "output":
      return raw.changes ? { ...raw, changes: checkedChanges(raw.changes) } : raw;
    case "tool_error":
      return { ...raw, error: checkedToolError(raw.error), changes: checkedChanges(raw.changes) };
    case "threw":
      return { slot, generation, kind: "threw", error: checkedError(raw.error) };
    case "skipped":
      return raw;
    default:
      return {
        slot,
        generation,
        kind: "threw",
        error: { name: "Error", message: "the cell sent an answer of no known form" },
      };
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function checkedChanges(changes: unknown): Change[] {
  return Array.isArray(changes) ? (changes.filter(isChange) as Change[]) : [];
}

function checkedToolError(error: Partial<ToolError> | undefined): ToolError {
  const { code, message, details } = error ?? {};
  return {
    code: typeof code === "string" ? code : "TOOL_ERROR",
    message: typeof message === "string" ? message : "the tool answered with an error that says nothing",
    details: typeof details === "object" ? details : {},
  };
}

function checkedError(error: EncodedError | undefined): EncodedError {
  return typeof error?.name === "string" && typeof error.message === "string"
    ? error
    : { name: "Error", message: "the cell sent an error of no known form" };
}
