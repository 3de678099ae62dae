import { expect } from "chai";
import sinon from "sinon";
import { CallPort } from "../../src/isolation/call-port.js";
import { CancelWords } from "../../src/protocol/cancel-words.js";
import type { CellAnswer, FromCell, ToCell } from "../../src/protocol/messages.js";
import { CallMarks } from "../../src/protocol/trace.js";
import { NO_SLOT, type Cell, type CellCall } from "../../src/runtime/cell.js";
import { afterReadyWork, deferred } from "../support/outcomes.js";

const KEY = { slot: 1, generation: 1 };
const REQUEST: FromCell = { type: "request", key: KEY, requestId: 7, name: "call", args: {} };

const callOf = (callId: string): CellCall => ({
  callId,
  input: { given: callId },
  inputIsKept: true,
  transfer: undefined,
  attempt: 1,
  idempotencyKey: undefined,
  marks: new CallMarks(0),
  slot: NO_SLOT,
  inCallerContext: undefined,
});

/** An answer to the port's first call, in the form that a cell sends. */
const answerOf = (answer: object): FromCell => ({ type: "answers", answers: [1, 1, -1, answer] });

describe("isolation/call-port", () => {
  /** A port of so many slots, and what goes out of it and to its observer. */
  const open = (asked: () => Promise<unknown> = () => Promise.resolve(undefined), slots = 1) => {
    const posted: ToCell[] = [];
    const observer = {
      answered: sinon.spy((_cell: unknown, _call: CellCall | undefined, _answer: CellAnswer) => undefined),
      refused: sinon.spy(),
      told: sinon.spy(),
      stray: sinon.spy(),
      asked: sinon.spy(asked),
    };
    const words = CancelWords.allocate(slots + 1);
    const port = new CallPort<CellCall>({
      cell: {} as Cell<CellCall>,
      words,
      observer,
      // Fails like a port where something cannot be cloned.
      post: (message) => void posted.push(structuredClone(message)),
    });
    return { port, posted, observer, words };
  };

  it("receive() takes an answer of no known form for a failure of its call", async () => {
    const { port, observer } = open();
    const call = callOf("a");
    port.send(call);
    await afterReadyWork();
    port.receive(answerOf({ kind: "other" }));
    const [, answered, answer] = observer.answered.firstCall.args;
    expect(answered).to.equal(call);
    expect(answer).to.include({ kind: "threw" });
    expect(port.inFlight).to.equal(0);
  });

  it("send() posts calls of one tick as one message, an input that its caller could still change at once", async () => {
    const { port, posted } = open(undefined, 4);
    for (const callId of ["a", "b"]) port.send(callOf(callId));
    expect(posted).to.deep.equal([]);
    const changed = { given: "c" };
    port.send({ ...callOf("c"), input: changed, inputIsKept: false });
    changed.given = "changed";
    port.send(callOf("d"));
    await afterReadyWork();
    const inputs = posted.map(
      (message) => message.type === "calls" && message.calls.filter((one) => typeof one === "object"),
    );
    expect(inputs).to.deep.equal([[{ given: "a" }, { given: "b" }, { given: "c" }], [{ given: "d" }]]);
  });

  it("send() does not post a call that the cell has answered unasked", async () => {
    const { port, posted, observer } = open();
    const call = callOf("a");
    port.send(call);
    port.receive(answerOf({ kind: "output", output: 1, size: 1 }));
    await afterReadyWork();
    expect(observer.answered.firstCall.args[1]).to.equal(call);
    expect(posted).to.deep.equal([]);
    port.send(callOf("b"));
    await afterReadyWork();
    expect(posted).to.deep.equal([{ type: "calls", calls: [1, 2, "b", { given: "b" }, undefined] }]);
  });

  it("receive() passes over what names a member of an array in place of a slot", async () => {
    const { port, observer } = open();
    port.send(callOf("a"));
    await afterReadyWork();
    // A port of one slot keeps two generations: with a key like this, "how many" is the right answer.
    const key = { slot: "length", generation: 2 } as unknown as typeof KEY;
    port.receive({ type: "event", key, event: { kind: "cost", amount: 1 } });
    port.receive({ type: "stray", key, late: false, error: { name: "Error", message: "made up" } });
    port.receive({ ...REQUEST, key });
    sinon.assert.notCalled(observer.told);
    sinon.assert.notCalled(observer.asked);
    expect(observer.stray.firstCall.args[1]).to.equal(undefined);
  });

  it("receive() replies to a request whose value cannot travel with an error", async () => {
    const { port, posted } = open(() => Promise.resolve({ run: () => undefined }));
    port.send(callOf("a"));
    port.receive(REQUEST);
    await afterReadyWork();
    const reply = posted.find(({ type }) => type === "reply");
    expect(reply).to.include({ requestId: 7, ok: false }).and.have.nested.property("error.name", "DataCloneError");
  });

  it("receive() replies to nobody once the port is closed", async () => {
    const answer = deferred();
    const { port, posted, observer } = open(() => answer.promise);
    port.send(callOf("a"));
    port.receive(REQUEST);
    await afterReadyWork();
    expect(observer.asked.callCount).to.equal(1);
    port.close();
    answer.resolve();
    await afterReadyWork();
    expect(posted.map(({ type }) => type)).to.deep.equal(["calls"]);
  });

  it("cancel() tells how far the call had come: there may be no answer to tell it", () => {
    const { port, words } = open();
    const call = callOf("a");
    port.send(call);
    words.received(KEY.slot, 1);
    expect(port.cancel(call, "cancelled")).to.equal(false);
    expect(call.marks).to.deep.include({ received: 1, started: NaN, finished: NaN });
    words.start(KEY.slot, KEY.generation, 2);
    expect(port.cancel(call, "cancelled")).to.equal(true);
    expect(call.marks).to.deep.include({ received: 1, started: 2, finished: NaN });
  });

  it("receive() takes a call that was skipped for one that never started, though its cell marked the start", () => {
    const { port, words } = open();
    const call = callOf("a");
    port.send(call);
    words.received(KEY.slot, 1);
    // Both sides have written before either looks.
    port.cancel(call, "cancelled");
    expect(words.start(KEY.slot, KEY.generation, 2)).to.equal(false);
    words.finished(KEY.slot, 3);
    port.receive(answerOf({ kind: "skipped" }));
    expect(call.marks).to.deep.include({ received: 1, started: NaN, finished: NaN });
  });
});
