import { expect } from "chai";
import fc from "fast-check";
import {
  CANCEL_REASONS,
  cancelBufferBytes,
  CancelWords,
  LIFECYCLE_SLOT,
  SlotState,
} from "../../src/protocol/cancel-words.js";
import { afterReadyWork } from "../support/outcomes.js";

const LAST = 0x7fff_fffe;

describe("protocol/cancel-words", () => {
  it("allocate() takes the bytes that it says", () => {
    for (const slots of [1, 2, 3, 257]) {
      const words = CancelWords.allocate(slots);
      expect(words.buffer.byteLength).to.equal(cancelBufferBytes(slots));
      expect(words.slots).to.equal(slots);
      expect(new CancelWords(words.buffer, slots).state(slots - 1)).to.equal(SlotState.sent);
    }
  });

  it("open() gives generations that grow and start at 1", () => {
    const words = CancelWords.allocate(2);
    expect(words.open(1, 0)).to.equal(1);
    expect(words.open(1, 1)).to.equal(2);
    expect(words.open(1, 41)).to.equal(42);
  });

  it("open() wraps round and passes over a generation that is still cancelled or withdrawn", () => {
    const words = CancelWords.allocate(2);
    expect(words.open(1, LAST - 1)).to.equal(LAST);
    expect(words.open(1, LAST)).to.equal(1);
    words.cancel(1, 1, "cancelled");
    words.withdraw(1, 2);
    expect(words.open(1, LAST)).to.equal(3);
    expect(words.open(1, 0)).to.equal(3);
    expect(words.open(1, 1)).to.equal(3);
    expect(words.isCancelled(1, 3)).to.equal(false);
  });

  it("open() never gives a call that is born cancelled, withdrawn or out of an Int32", () => {
    const step = fc.record({
      slot: fc.integer({ min: 0, max: 2 }),
      previous: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: LAST - 3, max: LAST })),
      then: fc.constantFrom("cancel", "withdraw", "both", "nothing"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const words = CancelWords.allocate(3);
        for (const { slot, previous, then } of steps) {
          const generation = words.open(slot, previous);
          expect(generation).to.be.within(1, LAST);
          expect(words.isCancelled(slot, generation)).to.equal(false);
          expect(words.start(slot, generation, 1)).to.equal(true);
          if (then === "cancel" || then === "both") words.cancel(slot, generation, "cancelled");
          if (then === "withdraw" || then === "both") words.withdraw(slot, generation);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("cancel() says whether the call had started; one that had not never starts", () => {
    const words = CancelWords.allocate(2);
    const first = words.open(1, 0);
    expect(words.cancel(1, first, "deadline")).to.equal(false);
    expect(words.start(1, first, 1)).to.equal(false);

    const second = words.open(1, first);
    words.received(1, 1);
    expect(words.start(1, second, 2)).to.equal(true);
    expect(words.cancel(1, second, "deadline")).to.equal(true);
    expect(words.isCancelled(1, second)).to.equal(true);
  });

  it("cancel() reaches neither the slot's next call nor its neighbours", () => {
    const words = CancelWords.allocate(3);
    const first = words.open(1, 0);
    const neighbour = words.open(2, 0);
    words.cancel(1, first, "cancelled");
    const next = words.open(1, first);
    expect(words.isCancelled(1, next)).to.equal(false);
    expect(words.isCancelled(2, neighbour)).to.equal(false);
    expect(words.start(1, next, 1)).to.equal(true);
    // A cancel that comes late is for a call that is over.
    words.cancel(1, first, "cancelled");
    expect(words.isCancelled(1, next)).to.equal(false);
  });

  it("cancel() carries each reason", () => {
    const words = CancelWords.allocate(2);
    let generation = 0;
    for (const reason of CANCEL_REASONS) {
      generation = words.open(1, generation);
      words.cancel(1, generation, reason);
      expect(words.reason(1)).to.equal(reason);
    }
  });

  it("reason() survives a word that nobody meant", () => {
    const words = CancelWords.allocate(1);
    for (const nonsense of [-1, 99, 0x7fff_ffff]) {
      new Int32Array(words.buffer).fill(nonsense);
      expect(CANCEL_REASONS).to.include(words.reason(LIFECYCLE_SLOT));
    }
  });

  it("withdraw() takes back a call that has not started and keeps it from starting", () => {
    const words = CancelWords.allocate(2);
    const generation = words.open(1, 0);
    words.received(1, 1);
    expect(words.withdraw(1, generation)).to.equal(true);
    expect(words.start(1, generation, 2)).to.equal(false);
  });

  it("withdraw() never cancels a call that has started", () => {
    const words = CancelWords.allocate(2);
    const generation = words.open(1, 0);
    const rings = words.doorbell;
    expect(words.start(1, generation, 1)).to.equal(true);
    expect(words.withdraw(1, generation)).to.equal(false);
    expect(words.isCancelled(1, generation)).to.equal(false);
    expect(words.doorbell).to.equal(rings);
    expect(words.start(1, words.open(1, generation), 2)).to.equal(true);
  });

  it("state() and readMarks() tell how far the call has come", () => {
    const words = CancelWords.allocate(3);
    const marks = { received: 0, started: 0, finished: 0 };
    const generation = words.open(2, 0);
    expect(words.state(2)).to.equal(SlotState.sent);
    words.readMarks(2, marks);
    expect(Object.values(marks)).to.deep.equal([NaN, NaN, NaN]);
    words.received(2, 1.5);
    expect(words.state(2)).to.equal(SlotState.received);
    words.start(2, generation, 2.5);
    expect(words.state(2)).to.equal(SlotState.started);
    words.finished(2, 3.5);
    expect(words.state(2)).to.equal(SlotState.finished);
    words.readMarks(2, marks);
    expect(marks).to.deep.equal({ received: 1.5, started: 2.5, finished: 3.5 });
    words.open(2, generation);
    expect(words.state(2)).to.equal(SlotState.sent);
    words.readMarks(2, marks);
    expect(Object.values(marks)).to.deep.equal([NaN, NaN, NaN]);
  });

  it("the marks of one slot are not those of another", () => {
    const words = CancelWords.allocate(4);
    for (let slot = 0; slot < 4; slot++) {
      words.open(slot, 0);
      words.received(slot, slot * 10 + 1);
      words.start(slot, 1, slot * 10 + 2);
      words.finished(slot, slot * 10 + 3);
    }
    for (let slot = 0; slot < 4; slot++) {
      const marks = { received: 0, started: 0, finished: 0 };
      words.readMarks(slot, marks);
      expect(marks).to.deep.equal({ received: slot * 10 + 1, started: slot * 10 + 2, finished: slot * 10 + 3 });
    }
  });

  it("rung() resolves at once where the doorbell was rung before", async () => {
    const words = CancelWords.allocate(1);
    const seen = words.doorbell;
    words.ring();
    expect(words.doorbell).not.to.equal(seen);
    await words.rung(seen);
  });

  it("rung() waits for the ring of a cancel", async () => {
    const words = CancelWords.allocate(2);
    const generation = words.open(1, 0);
    let awake = false;
    const waiting = words.rung(words.doorbell).then(() => (awake = true));
    await afterReadyWork();
    expect(awake).to.equal(false);
    words.cancel(1, generation, "cancelled");
    await waiting;
    expect(awake).to.equal(true);
  });
});
