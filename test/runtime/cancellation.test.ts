import { getEventListeners } from "node:events";
import { expect } from "chai";
import sinon from "sinon";
import { ToolCancelledError, ToolRuntimeError } from "../../src/protocol/errors.js";
import { CancellationToken } from "../../src/runtime/cancellation.js";
import { thrownBy } from "../support/outcomes.js";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

const subscriber = () => ({ tokenCancelled: sinon.spy<(reason: unknown) => void>(() => undefined) });

describe("runtime/cancellation", () => {
  it("CancellationToken() starts not cancelled", () => {
    const token = new CancellationToken();
    expect(token.isCancelled).to.equal(false);
    expect(token.reason).to.equal(undefined);
    token.check();
  });

  it("cancel() is final and keeps the first reason", () => {
    const token = new CancellationToken();
    token.cancel("first");
    token.cancel("second");
    expect(token.isCancelled).to.equal(true);
    expect(token.reason).to.equal("first");
  });

  it("check() throws a ToolCancelledError with the reason as its cause", () => {
    const token = new CancellationToken();
    const reason = new Error("enough");
    token.cancel(reason);
    const error = thrownBy(() => token.check());
    expect(error).to.be.instanceOf(ToolCancelledError);
    expect(error).to.include({ code: "CANCELLED", cause: reason, outcome: "cancelled" });
  });

  it("subscribe() tells each subscriber once", () => {
    const token = new CancellationToken();
    const [first, second, gone] = [subscriber(), subscriber(), subscriber()];
    token.subscribe(first);
    token.subscribe(second);
    token.unsubscribe(token.subscribe(gone));
    token.cancel("stop");
    token.cancel("again");
    expect(first.tokenCancelled.args).to.deep.equal([["stop"]]);
    expect(second.tokenCancelled.args).to.deep.equal([["stop"]]);
    expect(gone.tokenCancelled.called).to.equal(false);
  });

  it("subscribe() copes with subscribers that leave and join while they are told", () => {
    const token = new CancellationToken();
    const [late, gone] = [subscriber(), subscriber()];
    const second: ReturnType<typeof subscriber> = {
      tokenCancelled: sinon.spy((_reason: unknown) => token.unsubscribe(subscriptions.second)),
    };
    const first: ReturnType<typeof subscriber> = {
      tokenCancelled: sinon.spy((_reason: unknown) => {
        token.unsubscribe(subscriptions.first);
        token.unsubscribe(subscriptions.gone);
        token.unsubscribe(token.subscribe(late));
        token.cancel("again");
      }),
    };
    const subscriptions = {
      first: token.subscribe(first),
      second: token.subscribe(second),
      gone: token.subscribe(gone),
    };
    token.cancel("stop");
    expect(first.tokenCancelled.callCount).to.equal(1);
    expect(second.tokenCancelled.callCount).to.equal(1);
    expect(gone.tokenCancelled.called).to.equal(false);
    expect(late.tokenCancelled.called).to.equal(false);
  });

  it("signal aborts with the reason when the token is cancelled", () => {
    const token = new CancellationToken();
    const { signal } = token;
    expect(token.signal).to.equal(signal);
    expect(signal.aborted).to.equal(false);
    token.cancel("stop");
    expect(signal.aborted).to.equal(true);
    expect(signal.reason).to.equal("stop");
  });

  it("signal is aborted from the start where the token is cancelled", () => {
    const token = new CancellationToken();
    token.cancel("stop");
    expect(token.signal.aborted).to.equal(true);
    expect(token.signal.reason).to.equal("stop");
  });

  it("from() gives one token for one signal", () => {
    const { signal } = new AbortController();
    expect(CancellationToken.from(signal)).to.equal(CancellationToken.from(signal));
    expect(CancellationToken.from(signal)).not.to.equal(CancellationToken.from(new AbortController().signal));
  });

  it("from() is cancelled when the signal aborts, also without a subscriber", () => {
    const controller = new AbortController();
    const token = CancellationToken.from(controller.signal);
    expect(token.isCancelled).to.equal(false);
    controller.abort("stop");
    expect(token.isCancelled).to.equal(true);
    expect(token.reason).to.equal("stop");
    expect(thrownBy(() => token.check())).to.have.property("cause", "stop");
    const aborted = CancellationToken.from(AbortSignal.abort("early"));
    expect(aborted.isCancelled).to.equal(true);
    expect(aborted.signal.reason).to.equal("early");
  });

  it("from() tells subscribers and its own signal", () => {
    const controller = new AbortController();
    const token = CancellationToken.from(controller.signal);
    const told = subscriber();
    token.subscribe(told);
    const { signal } = token;
    controller.abort("stop");
    expect(told.tokenCancelled.args).to.deep.equal([["stop"]]);
    expect(signal.reason).to.equal("stop");
  });

  it("from() takes a signal that a token made", () => {
    const first = new CancellationToken();
    const second = CancellationToken.from(first.signal);
    const told = subscriber();
    second.subscribe(told);
    first.cancel("stop");
    expect(second.isCancelled).to.equal(true);
    expect(told.tokenCancelled.args).to.deep.equal([["stop"]]);
  });

  it("cancel() of a token from a signal leaves the signal alone", () => {
    const controller = new AbortController();
    const token = CancellationToken.from(controller.signal);
    token.cancel("mine");
    expect(controller.signal.aborted).to.equal(false);
    controller.abort("theirs");
    expect(token.reason).to.equal("mine");
  });

  it("from() refuses what is no signal", () => {
    for (const value of [undefined, null, 1, "signal", {}, new AbortController(), new CancellationToken()]) {
      const error = thrownBy(() => CancellationToken.from(value as AbortSignal));
      expect(error, typeof value)
        .to.be.instanceOf(ToolRuntimeError)
        .with.property("code", "INVALID_ARGUMENT");
    }
  });

  describe("listeners on a signal", () => {
    it("are one for many subscribers and none when the last has left", () => {
      const { signal } = new AbortController();
      const token = CancellationToken.from(signal);
      expect(listeners(signal)).to.equal(0);
      const many = Array.from({ length: 100 }, subscriber);
      const subscriptions = many.map((each) => token.subscribe(each));
      expect(listeners(signal)).to.equal(1);
      for (const each of subscriptions) token.unsubscribe(each);
      expect(listeners(signal)).to.equal(0);
      for (const each of subscriptions) token.unsubscribe(each);
      expect(listeners(signal)).to.equal(0);
    });

    it("come back with the next subscriber", () => {
      const controller = new AbortController();
      const token = CancellationToken.from(controller.signal);
      const first = subscriber();
      token.unsubscribe(token.subscribe(first));
      const second = subscriber();
      token.subscribe(second);
      expect(listeners(controller.signal)).to.equal(1);
      controller.abort("stop");
      expect(first.tokenCancelled.called).to.equal(false);
      expect(second.tokenCancelled.args).to.deep.equal([["stop"]]);
      expect(listeners(controller.signal)).to.equal(0);
    });

    it("are none when the token is cancelled by hand under a subscriber", () => {
      const { signal } = new AbortController();
      const token = CancellationToken.from(signal);
      const told = subscriber();
      const subscription = token.subscribe(told);
      token.cancel("mine");
      token.unsubscribe(subscription);
      expect(listeners(signal)).to.equal(0);
    });

    it("are none when a subscriber comes and goes after the token was cancelled", () => {
      const { signal } = new AbortController();
      const token = CancellationToken.from(signal);
      token.cancel("mine");
      const late = subscriber();
      token.unsubscribe(token.subscribe(late));
      expect(listeners(signal)).to.equal(0);
    });
  });
});
