/** What is published of calls on Node's diagnostics channels. */
import { AsyncLocalStorage } from "node:async_hooks";
import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect } from "chai";
import { executeChannel, type ExecuteMessage } from "../../src/index.js";
import { rejectionOf } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;

interface Published {
  readonly event: (typeof EVENTS)[number];
  readonly message: ExecuteMessage;
  /** Whether the trace was there when the event came. */
  readonly hasTrace: boolean;
}

describe("runtime/call-trace", () => {
  const newRuntime = runtimesOfSuite();
  let published: Published[];
  let stop: () => void;

  const listen = (): void => {
    const listeners = EVENTS.map((event) => {
      const name = `tracing:toolcell:execute:${event}`;
      const listener = (message: unknown): void => {
        const told = message as ExecuteMessage;
        published.push({ event, message: told, hasTrace: told.trace !== undefined });
      };
      subscribe(name, listener);
      return () => unsubscribe(name, listener);
    });
    stop = () => {
      for (const each of listeners) each();
    };
  };

  beforeEach(() => {
    published = [];
    stop = () => undefined;
  });

  afterEach(() => stop());

  it("tells of a call in order, with its result and its trace", async () => {
    listen();
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool");
    const result = await runtime.execute("acme/tool", {}, contextOf("p"), { callId: "c" });
    expect(published.map(({ event, hasTrace }) => [event, hasTrace])).to.deep.equal([
      ["start", false],
      ["end", false],
      ["asyncStart", true],
      ["asyncEnd", true],
    ]);
    expect(new Set(published.map(({ message }) => message)).size).to.equal(1);
    const { message } = published[0]!;
    expect(message).to.include({ toolName: "acme/tool", planId: "p", callId: "c", trace: result.trace, result });
    expect(message).not.to.have.property("error");
    expect(message).not.to.have.property("parentCallId");
  });

  it("tells of a call that fails, with its error and its trace", async () => {
    listen();
    const runtime = newRuntime();
    const execute = () => {
      throw new Error("broken");
    };
    registerMock(runtime, "acme/tool", { execute });
    const context = contextOf("p");
    const error = await rejectionOf(runtime.execute("acme/tool", {}, context));
    expect(published.map(({ event, hasTrace }) => [event, hasTrace])).to.deep.equal([
      ["start", false],
      ["end", false],
      ["error", true],
      ["asyncStart", true],
      ["asyncEnd", true],
    ]);
    expect(published[0]!.message).to.include({ error });
    expect(published[0]!.message.trace).to.deep.equal(context.traces[0]);
    expect(published[0]!.message.trace).to.include({ outcome: "threw" });
  });

  it("tells also of a call that is refused before it runs", async () => {
    listen();
    const runtime = newRuntime();
    registerMock(runtime, "acme/writes", {}, { writes: true });
    await rejectionOf(runtime.execute("acme/writes", {}, contextOf("p", { readOnly: true })));
    await rejectionOf(runtime.execute("acme/none", {}, contextOf("q")));
    const outcomes = published.filter(({ event }) => event === "asyncEnd").map(({ message }) => message.trace?.outcome);
    expect(outcomes).to.deep.equal(["denied", "not_registered"]);
  });

  it("tells of a result that is a failure as of a result", async () => {
    listen();
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool", {}, {}, { inputSchema: { type: "string" } });
    const result = await runtime.execute("acme/tool", 5, contextOf("p"));
    expect(published.map(({ event }) => event)).to.deep.equal(["start", "end", "asyncStart", "asyncEnd"]);
    expect(published[0]!.message).to.include({ result });
    expect(published[0]!.message.trace).to.include({ outcome: "invalid_input" });
  });

  it("tells whose call a nested one is", async () => {
    listen();
    const runtime = newRuntime();
    registerMock(runtime, "acme/inner");
    registerMock(runtime, "acme/outer", { execute: async (_input, { call }) => (await call("acme/inner", {})).output });
    await runtime.execute("acme/outer", {}, contextOf("p"), { callId: "outer" });
    const starts = published.filter(({ event }) => event === "start").map(({ message }) => message);
    expect(starts.map(({ toolName, parentCallId }) => [toolName, parentCallId])).to.deep.equal([
      ["acme/outer", undefined],
      ["acme/inner", "outer"],
    ]);
  });

  it("keeps calls that run at one time apart", async () => {
    listen();
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool", { execute: (input) => input });
    const context = contextOf("p");
    const inputs = ["a", "b", "c"];
    await Promise.all(inputs.map((callId) => runtime.execute("acme/tool", callId, context, { callId })));
    for (const callId of inputs) {
      const own = published.filter(({ message }) => message.callId === callId);
      expect(own.map(({ event }) => event)).to.deep.equal(["start", "end", "asyncStart", "asyncEnd"]);
      expect(own[0]!.message.result?.output).to.equal(callId);
      expect(own[0]!.message.trace?.callId).to.equal(callId);
    }
  });

  it("lets a listener bind a store to the call, which the tool sees", async () => {
    const storage = new AsyncLocalStorage<string>();
    const start = channel("tracing:toolcell:execute:start");
    start.bindStore(storage, (message) => (message as ExecuteMessage).callId);
    try {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { execute: () => storage.getStore() });
      const context = contextOf("p");
      await runtime.activate("acme/tool", context);
      const calls = ["a", "b"].map((callId) => runtime.execute("acme/tool", {}, context, { callId }));
      expect((await Promise.all(calls)).map(({ output }) => output)).to.deep.equal(["a", "b"]);
    } finally {
      start.unbindStore(storage);
    }
  });

  it("makes nothing while nobody listens", async () => {
    expect(executeChannel.hasSubscribers).to.equal(false);
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool");
    const traced: unknown[] = [];
    const { tracePromise } = executeChannel;
    executeChannel.tracePromise = ((...args: Parameters<typeof tracePromise>) => {
      traced.push(args);
      return tracePromise.apply(executeChannel, args);
    }) as typeof tracePromise;
    try {
      await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(traced).to.deep.equal([]);
      listen();
      await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(traced).to.have.length(1);
    } finally {
      executeChannel.tracePromise = tracePromise;
    }
  });
});
