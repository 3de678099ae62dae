/**
 * The words that the coordinator and one cell share. They are a courtesy to honest tools: a
 * hostile one can write to them, so no limit rests on them; deadlines and kills are main's.
 *
 * Int32 words:
 *
 * | word          | writer | reader | meaning |
 * | ------------- | ------ | ------ | ------- |
 * | doorbell      | main   | worker | grows with every cancel; the worker sleeps on it |
 * | slot.cancel   | main   | worker | generation of the call that is cancelled; never cleared |
 * | slot.reason   | main   | worker | why, written before `cancel` |
 * | slot.withdraw | main   | worker | generation of the call that must not start any more |
 * | slot.state    | worker | main   | how far the slot's call has come; main sets it to `sent` |
 *
 * A call holds its slot until it is settled and carries the slot's generation, so a cancel can
 * neither be lost nor reach the slot's next call. The worker stores `started` and then reads
 * `cancel` and `withdraw`; main stores one of those and then reads `state`. Both orders are
 * sequentially consistent, so at least one side sees the other's write: a call that main saw
 * not started never starts.
 *
 * Float64 words hold the marks of each slot's call (received, started, finished), so that a
 * killed call's trace still tells when it began to run.
 */

/** How far a call has come in its cell. */
export const SlotState = { sent: 0, received: 1, started: 2, finished: 3 } as const;

/** Why a call is cancelled; the index travels in `slot.reason`. */
export const CANCEL_REASONS = ["cancelled", "deadline", "plan_deactivated", "runtime_closed", "budget"] as const;
/** One of {@link CANCEL_REASONS}. */
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** The slot whose generations stand for the activation and the deactivation; calls take the others. */
export const LIFECYCLE_SLOT = 0;

const DOORBELL = 0;
const HEADER_WORDS = 2;
const WORDS_PER_SLOT = 4;
const MARKS_PER_SLOT = 3;
const CANCEL = 0;
const REASON = 1;
const WITHDRAW = 2;
const STATE = 3;

/** Bytes that `slots` slots take. */
export function cancelBufferBytes(slots: number): number {
  return (HEADER_WORDS + slots * WORDS_PER_SLOT) * 4 + slots * MARKS_PER_SLOT * 8;
}

/** Typed access to one cell's words, for both sides. */
export class CancelWords {
  readonly buffer: SharedArrayBuffer;
  readonly slots: number;
  readonly #words: Int32Array;
  readonly #marks: Float64Array;

  constructor(buffer: SharedArrayBuffer, slots: number) {
    this.buffer = buffer;
    this.slots = slots;
    this.#words = new Int32Array(buffer, 0, HEADER_WORDS + slots * WORDS_PER_SLOT);
    this.#marks = new Float64Array(buffer, this.#words.byteLength, slots * MARKS_PER_SLOT);
  }

  static allocate(slots: number): CancelWords {
    return new CancelWords(new SharedArrayBuffer(cancelBufferBytes(slots)), slots);
  }

  /**
   * Main: readies a free slot for its next call.
   * A generation that wraps round onto the one last cancelled would be born cancelled, so it is passed over.
   * @returns the generation to send with the call
   */
  open(slot: number, previousGeneration: number): number {
    const base = HEADER_WORDS + slot * WORDS_PER_SLOT;
    let generation = previousGeneration;
    do {
      generation = generation >= 0x7fff_fffe ? 1 : generation + 1;
    } while (this.#words[base + CANCEL] === generation || this.#words[base + WITHDRAW] === generation);
    Atomics.store(this.#words, base + STATE, SlotState.sent);
    this.#marks.fill(NaN, slot * MARKS_PER_SLOT, (slot + 1) * MARKS_PER_SLOT);
    return generation;
  }

  /**
   * Main: cancels the slot's call.
   * @returns whether the call had started; one that had not never will
   */
  cancel(slot: number, generation: number, reason: CancelReason): boolean {
    const base = HEADER_WORDS + slot * WORDS_PER_SLOT;
    Atomics.store(this.#words, base + REASON, CANCEL_REASONS.indexOf(reason));
    Atomics.store(this.#words, base + CANCEL, generation);
    this.#ring();
    return Atomics.load(this.#words, base + STATE) >= SlotState.started;
  }

  /**
   * Main: takes back a call that has not started. One that has is left alone: its token does not look here.
   * @returns whether the call was taken back
   */
  withdraw(slot: number, generation: number): boolean {
    const base = HEADER_WORDS + slot * WORDS_PER_SLOT;
    Atomics.store(this.#words, base + WITHDRAW, generation);
    return Atomics.load(this.#words, base + STATE) < SlotState.started;
  }

  /** Main: how far the slot's call has come, by the worker's word. */
  state(slot: number): number {
    return Atomics.load(this.#words, HEADER_WORDS + slot * WORDS_PER_SLOT + STATE);
  }

  /** Worker: publishes that a call arrived. */
  received(slot: number, now: number): void {
    this.#marks[slot * MARKS_PER_SLOT] = now;
    Atomics.store(this.#words, HEADER_WORDS + slot * WORDS_PER_SLOT + STATE, SlotState.received);
  }

  /**
   * Worker: publishes that a call starts.
   * @returns false when the call was cancelled or withdrawn before: it must not start
   */
  start(slot: number, generation: number, now: number): boolean {
    const base = HEADER_WORDS + slot * WORDS_PER_SLOT;
    this.#marks[slot * MARKS_PER_SLOT + 1] = now;
    Atomics.store(this.#words, base + STATE, SlotState.started);
    return (
      Atomics.load(this.#words, base + CANCEL) !== generation &&
      Atomics.load(this.#words, base + WITHDRAW) !== generation
    );
  }

  /** Worker: publishes that a call is over; its answer follows. */
  finished(slot: number, now: number): void {
    this.#marks[slot * MARKS_PER_SLOT + 2] = now;
    Atomics.store(this.#words, HEADER_WORDS + slot * WORDS_PER_SLOT + STATE, SlotState.finished);
  }

  /** Worker: whether the call is cancelled. One atomic load. */
  isCancelled(slot: number, generation: number): boolean {
    return Atomics.load(this.#words, HEADER_WORDS + slot * WORDS_PER_SLOT + CANCEL) === generation;
  }

  /** Worker: why the slot's call is cancelled. */
  reason(slot: number): CancelReason {
    return CANCEL_REASONS[Atomics.load(this.#words, HEADER_WORDS + slot * WORDS_PER_SLOT + REASON)] ?? "cancelled";
  }

  /** Main: reads the marks of the slot's call, `NaN` where not reached. */
  readMarks(slot: number, into: { received: number; started: number; finished: number }): void {
    const base = slot * MARKS_PER_SLOT;
    into.received = this.#marks[base] ?? NaN;
    into.started = this.#marks[base + 1] ?? NaN;
    into.finished = this.#marks[base + 2] ?? NaN;
  }

  /** Worker: the doorbell as it stands. */
  get doorbell(): number {
    return Atomics.load(this.#words, DOORBELL);
  }

  /** Worker: waits until the doorbell is no longer `seen`. Resolves at once when it already is not. */
  async rung(seen: number): Promise<void> {
    const wait = Atomics.waitAsync(this.#words, DOORBELL, seen);
    if (wait.async) await wait.value;
  }

  /** Main: rings without a cancel, to wake the worker's sleeper for good. */
  ring(): void {
    this.#ring();
  }

  #ring(): void {
    Atomics.add(this.#words, DOORBELL, 1);
    Atomics.notify(this.#words, DOORBELL);
  }
}
