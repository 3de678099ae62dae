import { getEventListeners } from "node:events";
import { expect } from "chai";
import sinon from "sinon";
import {
  CancellationToken,
  Plan,
  toolError,
  ToolActivationError,
  ToolCancelledError,
  ToolExecutionError,
  toolResult,
  ToolRuntimeError,
  type ToolContext,
  type ToolProviderEntry,
  type ToolRuntime,
  type WarningEvent,
} from "../../src/index.js";
import { afterReadyWork, codeOf, deferred, rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, mockInstance, registerMock, runtimesOfSuite, specOf } from "../support/runtimes.js";

const untilCancelled = (_input: unknown, { cancellationToken }: ToolContext): Promise<never> =>
  new Promise((_resolve, reject) => {
    const { signal } = cancellationToken;
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

const warningsOf = (runtime: ToolRuntime): WarningEvent[] => {
  const warnings: WarningEvent[] = [];
  runtime.on("warning", (warning) => warnings.push(warning));
  return warnings;
};

describe("runtime/tool-runtime", () => {
  const newRuntime = runtimesOfSuite();

  afterEach(() => {
    sinon.restore();
  });

  describe("activate()", () => {
    it("activates once for all who ask at one time", async () => {
      const runtime = newRuntime();
      const gate = deferred();
      const mock = registerMock(runtime, "acme/tool", { activate: () => gate.promise });
      const context = contextOf("p");
      const all = Promise.all([
        runtime.activate("acme/tool", context),
        runtime.activate("acme/tool", context),
        runtime.execute("acme/tool", 1, context),
        runtime.execute("acme/tool", 2, context),
      ]);
      await afterReadyWork();
      expect(mock.execute.called).to.equal(false);
      gate.resolve();
      await all;
      expect(mock.activate.callCount).to.equal(1);
      expect(mock.execute.callCount).to.equal(2);
    });

    it("activates for each plan anew", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool");
      await Promise.all(["p", "q"].map((planId) => runtime.activate("acme/tool", contextOf(planId))));
      expect(mock.activate.args.map(([{ planId }]) => planId)).to.have.members(["p", "q"]);
    });

    it("keeps nothing of an activation that failed; the next one tries again", async () => {
      const runtime = newRuntime();
      let attempts = 0;
      const cause = new Error("not yet");
      const activate = () => {
        if (++attempts === 1) throw cause;
      };
      const mock = registerMock(runtime, "acme/tool", { activate });
      const context = contextOf("p");
      const error = await rejectionOf(runtime.activate("acme/tool", context));
      expect(error).to.be.instanceOf(ToolActivationError).and.include({ code: "ACTIVATION_FAILED", cause });
      expect((error as Error).message)
        .to.include("acme/tool")
        .and.include("not yet");
      expect(runtime.cache.planCount).to.equal(0);
      expect((await runtime.execute("acme/tool", {}, context)).success).to.equal(true);
      expect(mock.activate.callCount).to.equal(2);
    });

    it("fails every call that waits for an activation that fails", async () => {
      const runtime = newRuntime();
      const gate = deferred();
      const mock = registerMock(runtime, "acme/tool", { activate: () => gate.promise });
      const context = contextOf("p");
      const calls = [1, 2, 3].map((input) => rejectionOf(runtime.execute("acme/tool", input, context)));
      await afterReadyWork();
      gate.reject(new Error("broken"));
      for (const error of await Promise.all(calls)) expect(error).to.be.instanceOf(ToolActivationError);
      expect(mock.activate.callCount).to.equal(1);
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill("activation_failed"));
    });

    it("forgets a plan in which nothing could be activated", async () => {
      const runtime = newRuntime();
      let broken = true;
      const activate = () => {
        if (broken) throw new Error("broken");
      };
      registerMock(runtime, "acme/tool", { activate });
      await rejectionOf(runtime.activate("acme/tool", contextOf("p")));
      broken = false;
      await runtime.activate("acme/tool", contextOf("p", { readOnly: true }));
    });

    it("ends an activation that takes too long", async () => {
      const runtime = newRuntime({ activationTimeoutMs: 5 });
      registerMock(runtime, "acme/tool", { activate: () => deferred().promise });
      const error = await rejectionOf(runtime.activate("acme/tool", contextOf("p")));
      expect(error).to.be.instanceOf(ToolActivationError).and.include({ code: "ACTIVATION_TIMED_OUT" });
    });

    it("asks the gates", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool", {}, { writes: true });
      expect(codeOf(await rejectionOf(runtime.activate("acme/tool", contextOf("p", { readOnly: true }))))).to.equal(
        "ACCESS_DENIED",
      );
      expect(codeOf(await rejectionOf(runtime.activate("acme/none", contextOf("p"))))).to.equal("NOT_REGISTERED");
      const cancelled = contextOf("p");
      cancelled.cancellationToken.cancel();
      expect(await rejectionOf(runtime.activate("acme/tool", cancelled))).to.be.instanceOf(ToolCancelledError);
      expect(mock.activate.called).to.equal(false);
    });

    it("gives the tool its plan and the resources that its capability names", async () => {
      const runtime = newRuntime();
      const seen: unknown[] = [];
      const activate = (context: Parameters<ReturnType<typeof mockInstance>["activate"]>[0]) => {
        seen.push(context.planId, context.resource("repo"), codeOf(thrownBy(() => context.resource("other"))));
      };
      registerMock(runtime, "acme/tool", { activate }, { writes: false, fs: { read: ["repo"] } });
      const boundResources = ["repo", "other"].map((slotName) => ({ slotName, resourceId: "r", resourceType: "t" }));
      await runtime.activate("acme/tool", contextOf("p", { boundResources }));
      const repo = { slotName: "repo", resourceId: "r", resourceType: "t", access: "read_only" };
      expect(seen).to.deep.equal(["p", repo, "RESOURCE_NOT_BOUND"]);
    });
  });

  describe("execute()", () => {
    it("gives output, changes and trace, and records them in the context", async () => {
      const runtime = newRuntime();
      const execute = (input: unknown, context: ToolContext) => {
        context.recordChange({ operation: "create", resourceId: "r1" });
        context.reportCost(2);
        context.reportCost(0.5);
        return toolResult({ output: input, changes: [{ operation: "delete", resourceId: "r2", path: "a" }] });
      };
      registerMock(runtime, "acme/tool", { execute }, {}, { version: "1.2" });
      const context = contextOf("p");
      const result = await runtime.execute("acme/tool", { a: [1] }, context);
      expect(result).to.deep.include({ success: true, output: { a: [1] } });
      expect(result.changes.map(({ operation, resourceId }) => [operation, resourceId])).to.deep.equal([
        ["create", "r1"],
        ["delete", "r2"],
      ]);
      expect(context.changes).to.deep.equal(result.changes);
      expect(context.traces).to.deep.equal([result.trace]);
      const { trace } = result;
      expect(trace).to.include({
        toolName: "acme/tool",
        toolVersion: "1.2",
        planId: "p",
        success: true,
        outcome: "ok",
        attempt: 1,
        cost: 2.5,
      });
      expect(trace.cell).to.include({ tier: "inline" });
      expect(trace.resultSizeBytes).to.equal(9);
      expect(Object.isFrozen(trace)).to.equal(true);
      const sum = Object.values(trace.phases).reduce((total, phase) => total + phase, 0);
      expect(sum).to.be.closeTo(trace.durationMs, 1e-6);
    });

    it("copies input and output, so that no object is shared", async () => {
      const runtime = newRuntime();
      const kept: unknown[] = [];
      const execute = (input: unknown) => {
        (input as { list: number[] }).list.push(2);
        kept.push(input);
        return input;
      };
      registerMock(runtime, "acme/tool", { execute });
      const input = { list: [1] };
      const { output } = await runtime.execute("acme/tool", input, contextOf("p"));
      expect(input).to.deep.equal({ list: [1] });
      expect(output).to.deep.equal({ list: [1, 2] });
      expect(output).not.to.equal(kept[0]);
    });

    it("hands buffers over where it is told to", async () => {
      const runtime = newRuntime();
      const execute = (input: unknown) => {
        const { buffer } = input as { buffer: ArrayBuffer };
        return toolResult({ output: { buffer }, transfer: [buffer] });
      };
      registerMock(runtime, "acme/tool", { execute });
      const buffer = new Uint8Array([1, 2, 3]).buffer;
      const { output } = await runtime.execute("acme/tool", { buffer }, contextOf("p"), { transfer: [buffer] });
      expect(buffer.byteLength).to.equal(0);
      expect(new Uint8Array((output as { buffer: ArrayBuffer }).buffer)).to.deep.equal(new Uint8Array([1, 2, 3]));
    });

    it("answers an input that cannot be handed over with a result, and the tool is never reached", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool");
      const buffer = new ArrayBuffer(8);
      const transfer = [buffer, buffer];
      const context = contextOf("p");
      const { error, trace } = await runtime.execute("acme/tool", { buffer }, context, { transfer });
      expect(mock.execute.called).to.equal(false);
      expect(error).to.include({ code: "INPUT_NOT_CLONEABLE" });
      expect(error?.message).to.match(/^Input validation failed/);
      expect(trace.outcome).to.equal("invalid_input");
      expect(buffer.byteLength).to.equal(8);
      expect((await runtime.execute("acme/tool", { buffer }, context)).success).to.equal(true);
    });

    for (const [what, make] of [
      ["a function", () => ({ deep: { callback: () => undefined } })],
      ["a symbol", () => Symbol("s")],
      ["shared memory", () => [new SharedArrayBuffer(8)]],
      ["an object with private state", () => new WeakMap()],
      [
        "a getter that throws",
        () => Object.defineProperty({}, "a", { get: () => expect.fail("hostile"), enumerable: true }),
      ],
      [
        "a revoked proxy",
        () => {
          const { proxy, revoke } = Proxy.revocable({}, {});
          revoke();
          return proxy;
        },
      ],
    ] as const) {
      it(`answers ${what} as input with a result, and the tool is never reached`, async () => {
        const runtime = newRuntime();
        const mock = registerMock(runtime, "acme/tool");
        const context = contextOf("p");
        const result = await runtime.execute("acme/tool", make(), context);
        expect(result).to.include({ success: false });
        expect(result.error).to.include({ code: "INPUT_NOT_CLONEABLE" });
        expect(result.error?.message).to.match(/^Input validation failed/);
        expect(result.trace.outcome).to.equal("invalid_input");
        expect(mock.execute.called).to.equal(false);
        expect((await runtime.execute("acme/tool", {}, context)).success).to.equal(true);
      });
    }

    it("answers an input that is too deep or too large with a result", async () => {
      const runtime = newRuntime({ maxPayloadDepth: 10, maxPayloadValues: 100 });
      registerMock(runtime, "acme/tool");
      let deep: unknown = 1;
      for (let level = 0; level < 20; level++) deep = [deep];
      for (const input of [deep, new Array(101).fill(0)]) {
        const { error, trace } = await runtime.execute("acme/tool", input, contextOf("p"));
        expect(error).to.include({ code: "INPUT_TOO_LARGE" });
        expect(trace.outcome).to.equal("invalid_input");
      }
    });

    it("tells of an output that cannot leave", async () => {
      const runtime = newRuntime({ maxResultBytes: 100 });
      const outputs: Record<string, unknown> = {
        RESULT_NOT_CLONEABLE: { callback: () => undefined },
        RESULT_TOO_LARGE: "x".repeat(101),
      };
      registerMock(runtime, "acme/tool", { execute: (code) => outputs[code as string] });
      for (const code of Object.keys(outputs)) {
        const error = await rejectionOf(runtime.execute("acme/tool", code, contextOf("p")));
        expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code, outcome: "threw" });
      }
    });

    it("gives what the tool threw as the cause, also where that is no Error", async () => {
      const runtime = newRuntime();
      const thrown: unknown[] = [new RangeError("out"), "text", undefined, null, Object.create(null), Symbol("s")];
      const execute = (index: unknown) => {
        throw thrown[index as number];
      };
      runtime.register(specOf("acme/tool"), { execute });
      for (const index of thrown.keys()) {
        const error = (await rejectionOf(runtime.execute("acme/tool", index, contextOf("p")))) as ToolExecutionError;
        expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code: "EXECUTION_FAILED", outcome: "threw" });
        expect(error.cause).to.be.instanceOf(Error);
      }
    });

    it("gives a failure that is an answer as a result", async () => {
      const runtime = newRuntime();
      const changes = [{ operation: "create", resourceId: "r" }] as const;
      const execute = () => toolError({ code: "NO_FILE", message: "no such file", details: { path: "a" }, changes });
      registerMock(runtime, "acme/tool", { execute });
      const context = contextOf("p");
      const result = await runtime.execute("acme/tool", {}, context);
      expect(result.success).to.equal(false);
      expect(result.error).to.deep.equal({ code: "NO_FILE", message: "no such file", details: { path: "a" } });
      expect(result.trace).to.include({ outcome: "tool_error", error: "no such file", success: false });
      expect(context.changes).to.have.length(1);
    });

    it("makes a failed result of an output that breaks its schema", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { execute: () => "text" }, {}, { outputSchema: { type: "number" } });
      const result = await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(result).to.include({ success: false });
      expect(result.error).to.include({ code: "SCHEMA_VALIDATION_FAILED" });
      expect(result.error?.message).to.match(/^Output validation failed/);
      expect(result.trace.outcome).to.equal("invalid_output");
    });

    it("makes a warning of it where outputValidation is warn", async () => {
      const runtime = newRuntime({ outputValidation: "warn" });
      const warnings = warningsOf(runtime);
      registerMock(runtime, "acme/tool", { execute: () => "text" }, {}, { outputSchema: { type: "number" } });
      const result = await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(result).to.include({ success: true, output: "text" });
      expect(result.trace.outcome).to.equal("ok");
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include({ code: "INVALID_OUTPUT", toolName: "acme/tool", planId: "p" });
      expect(warnings[0]?.message).to.match(/^Output validation failed/);
    });

    it("gives the tool its call", async () => {
      const runtime = newRuntime();
      const seen: unknown[] = [];
      const execute = (_input: unknown, context: ToolContext) => {
        const { planId, callId, attempt, idempotencyKey, traceparent } = context;
        seen.push({ planId, callId, attempt, idempotencyKey, traceparent });
      };
      registerMock(runtime, "acme/tool", { execute });
      const context = contextOf("p");
      await runtime.execute("acme/tool", {}, context, { callId: "00000000000000ab" });
      await runtime.execute("acme/tool", {}, context, { callId: "my own id" });
      const [first, second] = seen as { traceparent: string }[];
      expect(first).to.include({
        planId: "p",
        callId: "00000000000000ab",
        attempt: 1,
        idempotencyKey: "00000000000000ab",
      });
      expect(first?.traceparent).to.match(/^00-[0-9a-f]{32}-00000000000000ab-01$/);
      expect(second?.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(second?.traceparent.slice(0, 35)).to.equal(first?.traceparent.slice(0, 35));
      expect(context.traces.map(({ callId }) => callId)).to.deep.equal(["00000000000000ab", "my own id"]);
    });

    it("leaves a trace of every call that was refused", async () => {
      const runtime = newRuntime({ maxActiveCalls: 1, maxQueuedCalls: 0 });
      const gate = deferred();
      registerMock(runtime, "acme/reads", { execute: () => gate.promise });
      registerMock(runtime, "acme/writes", {}, { writes: true });
      const context = contextOf("p", { readOnly: true });
      const running = runtime.execute("acme/reads", {}, context);
      await afterReadyWork();
      for (const name of ["acme/writes", "acme/none", "acme/reads"])
        await rejectionOf(runtime.execute(name, {}, context));
      context.cancellationToken.cancel();
      await rejectionOf(runtime.execute("acme/reads", {}, context));
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal([
        "denied",
        "not_registered",
        "overloaded",
        "cancelled",
      ]);
      gate.resolve();
      await rejectionOf(running);
    });
  });

  describe("execute() in a plan that cannot take the call", () => {
    const busyRuntime = async () => {
      const runtime = newRuntime();
      const gate = deferred();
      const mock = registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const context = contextOf("p");
      const running = runtime.execute("acme/tool", {}, context, { callId: "mine" });
      await afterReadyWork();
      return { runtime, context, gate, running, mock };
    };

    it("refuses another grant with PLAN_CONFLICT, and the call that runs goes on", async () => {
      const { runtime, gate, running } = await busyRuntime();
      const other = contextOf("p", { readOnly: true });
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, other)))).to.equal("PLAN_CONFLICT");
      expect(codeOf(await rejectionOf(runtime.activate("acme/tool", other)))).to.equal("PLAN_CONFLICT");
      gate.resolve();
      expect((await running).success).to.equal(true);
    });

    it("takes another context with the same grant", async () => {
      const { runtime, gate, running } = await busyRuntime();
      const other = contextOf("p");
      gate.resolve();
      expect((await runtime.execute("acme/tool", {}, other)).success).to.equal(true);
      expect(other.traces).to.have.length(1);
      await running;
    });

    it("refuses a call id that is in use with CALL_ID_IN_USE, and takes it again afterwards", async () => {
      const { runtime, context, gate, running } = await busyRuntime();
      const again = runtime.execute("acme/tool", {}, context, { callId: "mine" });
      expect(codeOf(await rejectionOf(again))).to.equal("CALL_ID_IN_USE");
      gate.resolve();
      expect((await running).success).to.equal(true);
      expect((await runtime.execute("acme/tool", {}, context, { callId: "mine" })).success).to.equal(true);
    });

    it("refuses a plan that is being deactivated with PLAN_CLOSING", async () => {
      const { runtime, context, gate, running } = await busyRuntime();
      const ending = runtime.deactivatePlan("p", { drain: true });
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, context)))).to.equal("PLAN_CLOSING");
      expect(codeOf(await rejectionOf(runtime.activate("acme/tool", context)))).to.equal("PLAN_CLOSING");
      gate.resolve();
      expect((await running).success).to.equal(true);
      await ending;
      expect((await runtime.execute("acme/tool", {}, context)).success).to.equal(true);
    });

    it("refuses a runtime that is closed with RUNTIME_CLOSED", async () => {
      const { runtime, context, running } = await busyRuntime();
      const ended = rejectionOf(running);
      const closing = runtime.close({ graceMs: 0 });
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, context)))).to.equal("RUNTIME_CLOSED");
      expect(codeOf(await rejectionOf(runtime.activate("acme/tool", context)))).to.equal("RUNTIME_CLOSED");
      expect(codeOf(thrownBy(() => runtime.register(specOf("acme/new"), { execute: () => 1 })))).to.equal(
        "RUNTIME_CLOSED",
      );
      expect(codeOf(await rejectionOf(runtime.registerModule("./tool.js")))).to.equal("RUNTIME_CLOSED");
      expect(await ended).to.be.instanceOf(ToolCancelledError);
      await closing;
    });

    for (const code of ["PLAN_CONFLICT", "PLAN_CLOSING", "CALL_ID_IN_USE", "RUNTIME_CLOSED"] as const) {
      it(`leaves a trace of a call that was refused with ${code}`, async () => {
        const { runtime, context, gate, running } = await busyRuntime();
        const refused = code === "PLAN_CONFLICT" ? contextOf("p", { readOnly: true }) : context;
        const ending =
          code === "PLAN_CLOSING"
            ? runtime.deactivatePlan("p", { drain: true })
            : code === "RUNTIME_CLOSED"
              ? runtime.close({ graceMs: 0 })
              : undefined;
        const settled = Promise.allSettled([running, ending]);
        const options = code === "CALL_ID_IN_USE" ? { callId: "mine" } : {};
        expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, refused, options)))).to.equal(code);
        const outcomes = refused.traces.map(({ outcome }) => outcome);
        gate.resolve();
        await settled;
        expect(outcomes).to.deep.equal(["denied"]);
      });
    }

    it("refuses with OVERLOADED what may not wait, and goes on afterwards", async () => {
      const runtime = newRuntime({ maxActiveCalls: 1, maxQueuedCalls: 1 });
      const gate = deferred();
      registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const context = contextOf("p");
      await runtime.activate("acme/tool", context);
      const calls = [1, 2].map((input) => runtime.execute("acme/tool", input, context));
      const error = await rejectionOf(runtime.execute("acme/tool", 3, context));
      expect(error).to.be.instanceOf(ToolRuntimeError).and.include({ code: "OVERLOADED" });
      gate.resolve();
      for (const { success } of await Promise.all(calls)) expect(success).to.equal(true);
      expect((await runtime.execute("acme/tool", 4, context)).success).to.equal(true);
    });

    it("refuses with OVERLOADED also where what waits is an activation", async () => {
      const runtime = newRuntime({ maxActiveCalls: 1, maxQueuedCalls: 10 });
      const gate = deferred();
      registerMock(runtime, "acme/tool", { activate: () => gate.promise });
      const context = contextOf("p");
      const calls = Array.from({ length: 100 }, (_, input) => runtime.execute("acme/tool", input, context));
      const settled = Promise.allSettled(calls);
      await afterReadyWork();
      gate.resolve();
      const refused = (await settled).filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      expect(new Set(refused.map(({ reason }) => codeOf(reason)))).to.deep.equal(new Set(["OVERLOADED"]));
    });
  });

  describe("cancelling", () => {
    it("stops a call by its context, by its signal and by its plan", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { execute: untilCancelled });
      const byContext = contextOf("a");
      const controller = new AbortController();
      const plan = runtime.plan({ planId: "c" });
      const calls = [
        runtime.execute("acme/tool", {}, byContext),
        runtime.execute("acme/tool", {}, contextOf("b"), { signal: controller.signal }),
        plan.execute("acme/tool", {}),
      ].map(rejectionOf);
      await afterReadyWork();
      byContext.cancellationToken.cancel("why");
      controller.abort("why");
      plan.cancel("why");
      for (const error of await Promise.all(calls)) {
        expect(error).to.be.instanceOf(ToolCancelledError).and.include({ code: "CANCELLED", outcome: "cancelled" });
      }
    });

    it("stops one call only by its own signal", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", {
        execute: (input, context) => (input === "stop" ? untilCancelled(input, context) : "done"),
      });
      const context = contextOf("p");
      const controller = new AbortController();
      const stopped = rejectionOf(runtime.execute("acme/tool", "stop", context, { signal: controller.signal }));
      const other = runtime.execute("acme/tool", "go", context);
      controller.abort();
      expect(await stopped).to.be.instanceOf(ToolCancelledError);
      expect((await other).output).to.equal("done");
      expect(context.cancellationToken.isCancelled).to.equal(false);
    });

    it("never reaches the tool where the signal is aborted before", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool");
      const context = contextOf("p");
      const reason = new Error("early");
      const error = await rejectionOf(runtime.execute("acme/tool", {}, context, { signal: AbortSignal.abort(reason) }));
      expect(error).to.be.instanceOf(ToolCancelledError).and.include({ cause: reason, outcome: "cancelled" });
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["cancelled"]);
      expect(mock.execute.called).to.equal(false);
    });

    it("stops a call that waits for its turn, for its activation, or for its start", async () => {
      const runtime = newRuntime({ maxActiveCalls: 1 });
      const [turn, activation] = [deferred(), deferred()];
      registerMock(runtime, "acme/busy", { execute: () => turn.promise });
      const slow = registerMock(runtime, "acme/slow", { activate: () => activation.promise });
      const tool = registerMock(runtime, "acme/tool");
      const stop = async (name: string, planId: string) => {
        const controller = new AbortController();
        const call = rejectionOf(runtime.execute(name, {}, contextOf(planId), { signal: controller.signal }));
        if (planId !== "start") await afterReadyWork();
        controller.abort();
        expect(await call, planId).to.be.instanceOf(ToolCancelledError);
      };
      const running = runtime.execute("acme/busy", {}, contextOf("busy"));
      await afterReadyWork();
      await stop("acme/tool", "turn");
      turn.resolve();
      await running;
      await stop("acme/slow", "activation");
      await stop("acme/tool", "start");
      expect([slow.execute.called, tool.execute.called]).to.deep.equal([false, false]);
      activation.resolve();
      await afterReadyWork();
      expect(slow.execute.called).to.equal(false);
    });

    it("passes the deadline of a call, whatever it waits for", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { execute: untilCancelled });
      registerMock(runtime, "acme/slow", { activate: () => deferred().promise });
      registerMock(runtime, "acme/short", { execute: untilCancelled }, { timeoutMs: 1 });
      for (const [name, options] of [
        ["acme/tool", { timeoutMs: 1 }],
        ["acme/slow", { timeoutMs: 1 }],
        ["acme/short", {}],
      ] as const) {
        const context = contextOf(name);
        const error = await rejectionOf(runtime.execute(name, {}, context, options));
        expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code: "TIMED_OUT", outcome: "timed_out" });
        expect(context.traces[0]).to.include({ outcome: "timed_out", success: false });
      }
    });

    it("says of an inline tool that does not stop that its work may go on", async () => {
      const runtime = newRuntime({ graceMs: 0 });
      const gate = deferred<string>();
      const mock = registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const context = contextOf("p");
      const controller = new AbortController();
      const call = rejectionOf(runtime.execute("acme/tool", {}, context, { signal: controller.signal }));
      await afterReadyWork();
      controller.abort();
      expect(await call)
        .to.be.instanceOf(ToolCancelledError)
        .and.include({ outcome: "unsettled" });
      expect(context.traces[0]).to.include({ outcome: "unsettled" });
      gate.resolve("late");
      await afterReadyWork();
      expect(context.traces).to.have.length(1);
      expect((await runtime.execute("acme/tool", {}, context)).output).to.equal("late");
      expect(mock.activate.callCount).to.equal(1);
      expect(runtime.lateResults).to.equal(1);
    });

    it("leaves the neighbours of an inline call alone that does not stop", async () => {
      const runtime = newRuntime({ graceMs: 0 });
      const gate = deferred<string>();
      const mock = registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const context = contextOf("p");
      const neighbour = runtime.execute("acme/tool", {}, context);
      expect(await rejectionOf(runtime.execute("acme/tool", {}, context, { timeoutMs: 1 }))).to.include({
        outcome: "unsettled",
      });
      gate.resolve("well");
      expect((await neighbour).output).to.equal("well");
      expect(mock.activate.callCount).to.equal(1);
      expect(runtime.cacheStats("p").tools["acme/tool"]?.activationCount).to.equal(1);
    });

    it("hears of a cancel that comes between a call's turn and its run", async () => {
      const runtime = newRuntime({ maxActiveCalls: 2, graceMs: 0 });
      registerMock(runtime, "acme/tool", {
        execute: (input, each) => (input === "wait" ? untilCancelled(input, each) : input),
      });
      const context = contextOf("p");
      await runtime.activate("acme/tool", context);
      const controller = new AbortController();
      const run = (input: string): Promise<unknown> =>
        rejectionOf(runtime.execute("acme/tool", input, context, { signal: controller.signal }));
      // Two turns are freed in one drain, and the caller aborts the rest in between.
      const first = ["a", "b"].map((input) => runtime.execute("acme/tool", input, context));
      const rest = ["wait", "wait", "wait"].map(run);
      await first[0];
      controller.abort();
      for (const error of await Promise.all(rest)) expect(error).to.be.instanceOf(ToolCancelledError);
      await Promise.all(first);
    });

    it("leaves no listener on a signal, however the call ends", async () => {
      const runtime = newRuntime({ maxQueuedCalls: 10 });
      registerMock(runtime, "acme/tool", {
        execute: (input, context) => {
          if (input === "throw") throw new Error("broken");
          return input === "wait" ? untilCancelled(input, context) : input;
        },
      });
      const controller = new AbortController();
      const { signal } = controller;
      const token = CancellationToken.from(signal);
      const context = contextOf("p", { cancellationToken: token });
      const options = { signal };
      const calls = ["a", "b", "throw"].map((input) => runtime.execute("acme/tool", input, context, options));
      expect(getEventListeners(signal, "abort")).to.have.length(1);
      await Promise.allSettled(calls);
      await rejectionOf(runtime.execute("acme/none", {}, context, options));
      await runtime.execute("acme/tool", { callback: () => undefined }, context, options);
      await rejectionOf(runtime.execute("acme/tool", "wait", context, { signal, timeoutMs: 1 }));
      await rejectionOf(runtime.execute("acme/tool", "a", context, { signal, callId: "" }));
      expect(getEventListeners(signal, "abort")).to.have.length(0);
      const waiting = rejectionOf(runtime.execute("acme/tool", "wait", context, options));
      expect(getEventListeners(signal, "abort")).to.have.length(1);
      controller.abort();
      expect(await waiting).to.be.instanceOf(ToolCancelledError);
      expect(getEventListeners(signal, "abort")).to.have.length(0);
    });
  });

  describe("context.call()", () => {
    it("calls no other tool for a call that is over, though its work goes on", async () => {
      const runtime = newRuntime({ graceMs: 1 });
      const [started, goOn, refused] = [deferred(), deferred(), deferred<unknown>()];
      const inner = registerMock(runtime, "acme/inner");
      registerMock(runtime, "acme/outer", {
        execute: async (_input, { call }) => {
          started.resolve();
          await goOn.promise;
          refused.resolve(await rejectionOf(call("acme/inner", {})));
        },
      });
      const controller = new AbortController();
      const context = contextOf("p");
      const call = rejectionOf(runtime.execute("acme/outer", {}, context, { signal: controller.signal }));
      await started.promise;
      controller.abort();
      await call;
      goOn.resolve();
      expect(await refused.promise)
        .to.be.instanceOf(ToolRuntimeError)
        .with.property("code", "PLAN_CLOSING");
      expect(inner.execute.called).to.equal(false);
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["unsettled", "denied"]);
    });

    it("calls another tool of the plan, nested in the trace", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/inner", { execute: (input) => `inner ${String(input)}` });
      registerMock(runtime, "acme/outer", {
        execute: async (_input, context) => (await context.call("acme/inner", 1)).output,
      });
      const context = contextOf("p");
      const { output, trace } = await runtime.execute("acme/outer", {}, context);
      expect(output).to.equal("inner 1");
      expect(context.traces.map(({ toolName, parentCallId }) => [toolName, parentCallId])).to.deep.equal([
        ["acme/inner", trace.callId],
        ["acme/outer", undefined],
      ]);
    });

    it("passes the same gates", async () => {
      const runtime = newRuntime();
      const inner = registerMock(runtime, "acme/inner", {}, { writes: true });
      const caught: unknown[] = [];
      const execute = (_input: unknown, context: ToolContext) =>
        context.call("acme/inner", {}).catch((error: unknown) => void caught.push(error));
      registerMock(runtime, "acme/outer", { execute });
      await runtime.execute("acme/outer", {}, contextOf("p", { readOnly: true }));
      expect(caught).to.have.length(1);
      expect(caught[0])
        .to.be.instanceOf(ToolRuntimeError)
        .and.include({ name: "ToolAccessDeniedError", code: "ACCESS_DENIED" });
      expect(inner.execute.called).to.equal(false);
    });

    it("goes only so deep", async () => {
      const runtime = newRuntime({ maxCallDepth: 3 });
      const execute = async (input: unknown, context: ToolContext): Promise<unknown> => {
        const { output } = await context.call("acme/self", (input as number) + 1);
        return output;
      };
      registerMock(runtime, "acme/self", { execute });
      const context = contextOf("p");
      let error = (await rejectionOf(runtime.execute("acme/self", 0, context))) as Error;
      while (error.cause instanceof Error) error = error.cause;
      expect(codeOf(error)).to.equal("CALL_DEPTH_EXCEEDED");
      expect(context.traces).to.have.length(4);
    });

    it("needs no turn of its own", async () => {
      const runtime = newRuntime({ maxActiveCalls: 1, maxQueuedCalls: 0 });
      registerMock(runtime, "acme/inner");
      registerMock(runtime, "acme/outer", {
        execute: async (_input, context) => (await context.call("acme/inner", 1)).output,
      });
      expect((await runtime.execute("acme/outer", {}, contextOf("p"))).output).to.equal("output");
    });

    it("stops with its caller", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/inner", { execute: untilCancelled });
      registerMock(runtime, "acme/outer", { execute: (_input, context) => context.call("acme/inner", 1) });
      const context = contextOf("p");
      const call = rejectionOf(runtime.execute("acme/outer", {}, context));
      await afterReadyWork();
      context.cancellationToken.cancel();
      expect(await call).to.be.instanceOf(ToolCancelledError);
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["cancelled", "cancelled"]);
    });
  });

  describe("deactivate() and deactivatePlan()", () => {
    it("deactivates each activated tool once, with a token of its own", async () => {
      const runtime = newRuntime();
      const seen: boolean[] = [];
      const mock = registerMock(runtime, "acme/tool", {
        deactivate: ({ cancellationToken }) => seen.push(cancellationToken.isCancelled),
      });
      const context = contextOf("p");
      await runtime.execute("acme/tool", {}, context);
      context.cancellationToken.cancel();
      await Promise.all([
        runtime.deactivatePlan("p"),
        runtime.deactivatePlan("p"),
        runtime.deactivate("acme/tool", "p"),
      ]);
      await runtime.deactivatePlan("p");
      await runtime.close();
      expect(mock.deactivate.callCount).to.equal(1);
      expect(seen).to.deep.equal([false]);
    });

    it("never deactivates a tool that was not activated", async () => {
      const runtime = newRuntime();
      const activate = () => {
        throw new Error("broken");
      };
      const mock = registerMock(runtime, "acme/tool", { activate });
      await rejectionOf(runtime.activate("acme/tool", contextOf("p")));
      await runtime.deactivatePlan("p");
      expect(mock.deactivate.called).to.equal(false);
    });

    it("cancels the calls that run", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { execute: untilCancelled });
      const call = rejectionOf(runtime.execute("acme/tool", {}, contextOf("p")));
      await afterReadyWork();
      await runtime.deactivatePlan("p");
      const error = (await call) as ToolCancelledError;
      expect(error).to.be.instanceOf(ToolCancelledError);
      expect(error.details).to.include({ reason: "plan_deactivated" });
    });

    it("lets the calls finish where it drains, those they make included", async () => {
      const runtime = newRuntime();
      const gate = deferred();
      registerMock(runtime, "acme/inner", { execute: () => "inner" });
      const execute = async (_input: unknown, context: ToolContext) => {
        await gate.promise;
        return (await context.call("acme/inner", {})).output;
      };
      registerMock(runtime, "acme/outer", { execute });
      const context = contextOf("p");
      const call = runtime.execute("acme/outer", {}, context);
      await afterReadyWork();
      const ending = runtime.deactivatePlan("p", { drain: true });
      gate.resolve();
      expect((await call).output).to.equal("inner");
      await ending;
    });

    it("never ends a call that came while one tool was drained", async () => {
      const runtime = newRuntime();
      const [first, second] = [deferred<string>(), deferred<string>()];
      const mock = registerMock(runtime, "acme/tool", { execute: (input) => (input === 1 ? first : second).promise });
      const context = contextOf("p");
      const draining = runtime.execute("acme/tool", 1, context);
      await afterReadyWork();
      const ending = runtime.deactivate("acme/tool", "p", { drain: true });
      const late = runtime.execute("acme/tool", 2, context).then(
        ({ output }) => output,
        (error: unknown) => error,
      );
      await afterReadyWork();
      const started = mock.execute.callCount === 2;
      first.resolve("first");
      expect((await draining).output).to.equal("first");
      await afterReadyWork();
      second.resolve("second");
      await ending;
      const outcome = await late;
      // It may be refused or run, but what has started is not ended halfway.
      if (started) expect(outcome).to.equal("second");
      else if (outcome !== "second") expect(codeOf(outcome)).to.equal("PLAN_CLOSING");
    });

    it("makes warnings of failures and deactivates the other tools all the same", async () => {
      const runtime = newRuntime({ deactivateTimeoutMs: 5 });
      const warnings = warningsOf(runtime);
      const cause = new Error("cannot stop");
      const deactivate = () => {
        throw cause;
      };
      registerMock(runtime, "acme/throws", { deactivate });
      registerMock(runtime, "acme/hangs", { deactivate: () => deferred().promise });
      const good = registerMock(runtime, "acme/good");
      const context = contextOf("p");
      for (const name of ["acme/throws", "acme/hangs", "acme/good"]) await runtime.activate(name, context);
      await runtime.deactivatePlan("p");
      expect(good.deactivate.callCount).to.equal(1);
      expect(warnings.map(({ code, toolName }) => [code, toolName])).to.have.deep.members([
        ["DEACTIVATION_FAILED", "acme/throws"],
        ["DEACTIVATION_FAILED", "acme/hangs"],
      ]);
      const warning = warnings.find(({ toolName }) => toolName === "acme/throws");
      expect(warning?.cause).to.have.property("name", "ToolDeactivationError");
      expect((warning?.cause as Error).cause).to.equal(cause);
      expect(runtime.cache.planCount).to.equal(0);
    });

    it("ends an activation that is under way", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", { activate: () => deferred().promise });
      const context = contextOf("p");
      const activating = rejectionOf(runtime.activate("acme/tool", context));
      const call = rejectionOf(runtime.execute("acme/tool", {}, context));
      await afterReadyWork();
      await runtime.deactivatePlan("p");
      expect(await activating).to.be.instanceOf(ToolActivationError);
      expect(await call).to.be.instanceOf(ToolCancelledError);
    });
  });

  describe("cache", () => {
    it("counts executions", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool");
      const context = contextOf("p");
      for (let count = 1; count <= 3; count++) {
        await runtime.execute("acme/tool", {}, context);
        expect(runtime.cacheStats("p").tools["acme/tool"]).to.include({ executionCount: count, activationCount: 1 });
      }
      await runtime.deactivatePlan("p");
      expect(runtime.cacheStats("p").activeTools).to.equal(0);
    });

    it("shows the cells of what is activated", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool");
      const { trace } = await runtime.execute("acme/tool", {}, contextOf("p"));
      const activated = runtime.cache.get("p", "acme/tool");
      expect(activated).to.include({ planId: "p", toolName: "acme/tool", inUse: false });
      expect(activated?.cells).to.deep.equal([trace.cell]);
    });

    it("keeps the count when a further cell of a stateless tool has started", async () => {
      const runtime = newRuntime({ maxCellsPerTool: 2 });
      const [gate, started] = [deferred(), deferred()];
      let activations = 0;
      const activate = async () => {
        if (++activations === 1) return;
        started.resolve();
        await gate.promise;
      };
      registerMock(runtime, "acme/tool", { activate }, { writes: false, stateless: true });
      const context = contextOf("p");
      const both = Promise.all([1, 2].map((input) => runtime.execute("acme/tool", input, context)));
      await started.promise;
      await both;
      const { activatedAt, executionCount } = runtime.cacheStats("p").tools["acme/tool"] ?? {};
      expect(executionCount).to.equal(2);
      gate.resolve();
      await afterReadyWork();
      const later = runtime.cacheStats("p").tools["acme/tool"];
      expect(later).to.include({ executionCount: 2, activationCount: 2, activatedAt });
    });

    it("makes room for a new activation where the bound is reached and a plan is idle", async () => {
      const runtime = newRuntime({ maxActivations: 2 });
      const mock = registerMock(runtime, "acme/tool");
      for (const planId of ["p", "q", "r"]) {
        expect((await runtime.execute("acme/tool", {}, contextOf(planId))).success, planId).to.equal(true);
      }
      await afterReadyWork();
      expect(mock.deactivate.args.map(([{ planId }]) => planId)).to.deep.equal(["p"]);
      expect(runtime.cache.size).to.equal(2);
    });

    it("refuses a new activation with OVERLOADED where all are in use, and loses nothing", async () => {
      const runtime = newRuntime({ maxActivations: 1 });
      const gate = deferred();
      registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const running = runtime.execute("acme/tool", {}, contextOf("p"));
      await afterReadyWork();
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, contextOf("q"))))).to.equal("OVERLOADED");
      expect(codeOf(await rejectionOf(runtime.activate("acme/tool", contextOf("r"))))).to.equal("OVERLOADED");
      gate.resolve();
      await running;
      await runtime.deactivatePlan("p");
      for (const planId of ["q", "r"]) {
        const context = contextOf(planId, { readOnly: true });
        expect((await runtime.execute("acme/tool", {}, context)).success).to.equal(true);
        await runtime.deactivatePlan(planId);
      }
    });

    it("deactivates the tools of a plan that was abandoned", async () => {
      const clock = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance", "Date"] });
      try {
        const runtime = newRuntime({ planIdleMs: 1_000 });
        const gate = deferred();
        const idle = registerMock(runtime, "acme/idle");
        const busy = registerMock(runtime, "acme/busy", { execute: () => gate.promise });
        await runtime.execute("acme/idle", {}, contextOf("idle"));
        const running = runtime.execute("acme/busy", {}, contextOf("busy"));
        await afterReadyWork();
        clock.tick(2_000);
        await afterReadyWork();
        expect([idle.deactivate.callCount, busy.deactivate.callCount]).to.deep.equal([1, 0]);
        expect(runtime.cache.planTools("idle")).to.deep.equal([]);
        gate.resolve();
        await running;
        clock.tick(2_000);
        await afterReadyWork();
        expect(busy.deactivate.callCount).to.equal(1);
        expect(clock.countTimers()).to.equal(0);
        await runtime.close();
      } finally {
        clock.restore();
      }
    });
  });

  describe("events", () => {
    it("log and progress tell of the call that they belong to", async () => {
      const runtime = newRuntime();
      const events: unknown[] = [];
      runtime.on("log", ({ cell: _cell, ...event }) => events.push(event));
      runtime.on("progress", (event) => events.push(event));
      const execute = (_input: unknown, context: ToolContext) => {
        context.log.info("hello", { a: 1 });
        context.log.error("callback", { callback: () => undefined });
        context.progress(1, 2, "half");
      };
      registerMock(runtime, "acme/tool", { execute });
      await runtime.execute("acme/tool", {}, contextOf("p"), { callId: "c" });
      const common = { planId: "p", toolName: "acme/tool", callId: "c" };
      expect(events).to.deep.equal([
        { ...common, level: "info", message: "hello", data: { a: 1 } },
        { ...common, level: "error", message: "callback", data: "[data that cannot be copied]" },
        { ...common, done: 1, total: 2, message: "half" },
      ]);
    });

    it("cell tells of the begin and the end of a cell", async () => {
      const runtime = newRuntime();
      const events: unknown[] = [];
      runtime.on("cell", ({ type, planId, toolName, end }) => events.push([type, planId, toolName, end?.kind]));
      registerMock(runtime, "acme/tool");
      await runtime.activate("acme/tool", contextOf("p"));
      await runtime.deactivatePlan("p");
      expect(events).to.deep.equal([
        ["started", "p", "acme/tool", undefined],
        ["ended", "p", "acme/tool", "released"],
      ]);
    });

    it("off() stops listening", async () => {
      const runtime = newRuntime();
      const listener = sinon.spy();
      expect(runtime.on("cell", listener)).to.equal(runtime);
      expect(runtime.off("cell", listener)).to.equal(runtime);
      registerMock(runtime, "acme/tool");
      await runtime.activate("acme/tool", contextOf("p"));
      expect(listener.called).to.equal(false);
    });

    it("a warning that nobody listens for goes to the process", async () => {
      const emitWarning = sinon.stub(process, "emitWarning");
      const runtime = newRuntime();
      const deactivate = () => {
        throw new Error("cannot stop");
      };
      registerMock(runtime, "acme/tool", { deactivate });
      await runtime.activate("acme/tool", contextOf("p"));
      await runtime.deactivatePlan("p");
      expect(emitWarning.callCount).to.equal(1);
      const [message, options] = emitWarning.firstCall.args as unknown as [string, object];
      expect(message).to.include("acme/tool").and.include("cannot stop");
      expect(options).to.deep.equal({ type: "ToolcellWarning", code: "DEACTIVATION_FAILED" });
    });

    it("a warning that somebody listens for does not", async () => {
      const emitWarning = sinon.stub(process, "emitWarning");
      const runtime = newRuntime({ outputValidation: "warn" });
      const warnings = warningsOf(runtime);
      registerMock(runtime, "acme/tool", {}, {}, { outputSchema: { type: "number" } });
      await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(warnings).to.have.length(1);
      expect(emitWarning.called).to.equal(false);
    });

    it("NATIVE_PATTERN warns of a pattern that may take for ever", () => {
      const runtime = newRuntime();
      const warnings = warningsOf(runtime);
      const inputSchema = { type: "object", properties: { a: { type: "string", pattern: "^(?=a)b" } } };
      runtime.register(specOf("acme/tool", { inputSchema }), { execute: () => 1 });
      expect(warnings.map(({ code, toolName }) => [code, toolName])).to.deep.equal([["NATIVE_PATTERN", "acme/tool"]]);
    });

    it("a listener that throws reaches no call", async () => {
      const emitWarning = sinon.stub(process, "emitWarning");
      const runtime = newRuntime();
      runtime.on("log", () => {
        throw new Error("listener");
      });
      registerMock(runtime, "acme/tool", { execute: (_input, { log }) => log.info("hello") });
      expect((await runtime.execute("acme/tool", {}, contextOf("p"))).success).to.equal(true);
      expect(emitWarning.callCount).to.equal(1);
      expect(emitWarning.firstCall.args[0]).to.include("log").and.include("listener");
    });

    it("a listener that throws what has no text reaches no call", async () => {
      sinon.stub(process, "emitWarning");
      const runtime = newRuntime();
      runtime.on("log", () => {
        throw Object.create(null);
      });
      registerMock(runtime, "acme/tool", { execute: (_input, { log }) => log.info("hello") });
      expect((await runtime.execute("acme/tool", {}, contextOf("p"))).success).to.equal(true);
    });

    it("a listener that throws does not keep an event from the others", async () => {
      sinon.stub(process, "emitWarning");
      const runtime = newRuntime();
      const messages: string[] = [];
      runtime.on("log", () => {
        throw new Error("listener");
      });
      runtime.on("log", ({ message }) => messages.push(message));
      registerMock(runtime, "acme/tool", { execute: (_input, { log }) => log.info("hello") });
      await runtime.execute("acme/tool", {}, contextOf("p"));
      expect(messages).to.deep.equal(["hello"]);
    });
  });

  describe("discover()", () => {
    it("describes a tool and where it would run", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", {}, { writes: false, cost: 3 }, { version: "1", readOnly: true });
      const descriptor = await runtime.discover("acme/tool");
      expect(descriptor).to.deep.include({
        name: "acme/tool",
        version: "1",
        costEstimate: 3,
        isolation: { required: "inline", granted: "inline" },
        readOnly: { claimed: true, trusted: true, enforced: false },
        activation: { state: "inactive", plans: [] },
      });
      expect(descriptor.enforcement.every(({ holds }) => !holds)).to.equal(true);
      await runtime.activate("acme/tool", contextOf("p"));
      expect((await runtime.discover("acme/tool")).activation).to.deep.equal({ state: "active", plans: ["p"] });
    });

    it("says that a tier is missing", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "acme/tool", {}, { isolation: "container" });
      const { isolation } = await runtime.discover("acme/tool");
      expect(isolation).to.deep.equal({ required: "container" });
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, contextOf("p"))))).to.equal("SANDBOX_REQUIRED");
    });

    it("takes an instance's own word on description and version", async () => {
      const runtime = newRuntime();
      const instance = { ...mockInstance(), discover: async () => ({ description: "now", version: "2" }) };
      runtime.register(specOf("acme/tool", { version: "1" }), { instance });
      expect(await runtime.discover("acme/tool")).to.include({ description: "now", version: "2" });
    });
  });

  describe("use()", () => {
    const entry = (name: string): ToolProviderEntry => ({ spec: specOf(name), executor: { execute: () => name } });

    it("registers every tool of a provider", async () => {
      const runtime = newRuntime();
      const specs = await runtime.use({ name: "mine", tools: async () => [entry("acme/a"), entry("acme/b")] });
      expect(specs.map(({ name }) => name)).to.deep.equal(["acme/a", "acme/b"]);
      expect(runtime.list()).to.deep.equal(specs);
    });

    it("registers all or none", async () => {
      const runtime = newRuntime();
      const held = runtime.register(specOf("acme/held"), { execute: () => "held" });
      for (const [bad, code] of [
        [entry("acme/held"), "ALREADY_REGISTERED"],
        [entry("no-namespace"), "INVALID_SPEC"],
        [{ spec: specOf("acme/c"), executor: {} } as ToolProviderEntry, "INVALID_ARGUMENT"],
        [entry("acme/a"), "ALREADY_REGISTERED"],
      ] as const) {
        const error = await rejectionOf(
          runtime.use({ name: "mine", tools: () => [entry("acme/a"), entry("acme/b"), bad] }),
        );
        expect(codeOf(error)).to.equal(code);
        expect(runtime.list()).to.deep.equal([held]);
      }
      const cause = new Error("offline");
      expect(await rejectionOf(runtime.use({ name: "mine", tools: () => Promise.reject(cause) }))).to.equal(cause);
      function* failing() {
        yield entry("acme/a");
        throw cause;
      }
      expect(await rejectionOf(runtime.use({ name: "mine", tools: failing }))).to.equal(cause);
      expect(runtime.list()).to.deep.equal([held]);
    });
  });

  describe("plan()", () => {
    it("binds execute() and activate() to one context, and ends the plan", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool");
      {
        await using plan = runtime.plan({ planId: "p", readOnly: true });
        expect(plan).to.be.instanceOf(Plan);
        expect(plan.planId).to.equal("p");
        expect(plan.context).to.include({ planId: "p", readOnly: true });
        await plan.activate("acme/tool");
        expect((await plan.execute("acme/tool", {})).success).to.equal(true);
        expect(plan.context.traces).to.have.length(1);
      }
      expect(mock.deactivate.callCount).to.equal(1);
    });

    it("takes a context", () => {
      const context = contextOf("p");
      expect(newRuntime().plan(context).context).to.equal(context);
    });
  });

  describe("unregister()", () => {
    it("says whether there was such a tool, and lets a running call finish", async () => {
      const runtime = newRuntime();
      const gate = deferred<string>();
      const mock = registerMock(runtime, "acme/tool", { execute: () => gate.promise });
      const context = contextOf("p");
      const running = runtime.execute("acme/tool", {}, context);
      await afterReadyWork();
      expect(runtime.unregister("acme/tool")).to.equal(true);
      expect(runtime.unregister("acme/tool")).to.equal(false);
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, context)))).to.equal("NOT_REGISTERED");
      gate.resolve("done");
      expect((await running).output).to.equal("done");
      await runtime.deactivatePlan("p");
      expect(mock.deactivate.callCount).to.equal(1);
    });

    it("never runs the old tool's code under a name that was taken again", async () => {
      const runtime = newRuntime();
      const context = contextOf("p");
      runtime.register(specOf("acme/tool"), { execute: () => "old" });
      expect((await runtime.execute("acme/tool", {}, context)).output).to.equal("old");
      runtime.unregister("acme/tool");
      runtime.register(specOf("acme/tool"), { execute: () => "new" });
      expect((await runtime.execute("acme/tool", {}, context)).output).to.equal("new");
    });
  });

  describe("close()", () => {
    it("ends every call, plan and tool, and says what is left", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "acme/tool", { execute: untilCancelled });
      const calls = ["p", "q"].map((planId) => rejectionOf(runtime.execute("acme/tool", {}, contextOf(planId))));
      await afterReadyWork();
      const closing = runtime.close();
      expect(runtime.close()).to.equal(closing);
      expect(await closing).to.deep.equal({ quarantined: 0 });
      for (const error of await Promise.all(calls)) {
        expect(error).to.be.instanceOf(ToolCancelledError);
        expect((error as ToolCancelledError).details).to.include({ reason: "runtime_closed" });
      }
      expect(mock.deactivate.callCount).to.equal(2);
      expect(runtime.cache.size).to.equal(0);
    });

    it("does not wait for a tool that neither stops nor deactivates nor activates", async () => {
      const runtime = newRuntime({ deactivateTimeoutMs: 5, graceMs: 100_000 });
      const warnings = warningsOf(runtime);
      registerMock(runtime, "acme/stuck", { execute: () => deferred().promise, deactivate: () => deferred().promise });
      registerMock(runtime, "acme/slow", { activate: () => deferred().promise });
      const context = contextOf("p");
      const calls = ["acme/stuck", "acme/slow"].map((name) => rejectionOf(runtime.execute(name, {}, context)));
      await afterReadyWork();
      await runtime.close({ graceMs: 0 });
      const [stuck, slow] = (await Promise.all(calls)) as ToolCancelledError[];
      expect(stuck).to.be.instanceOf(ToolCancelledError).and.include({ outcome: "unsettled" });
      expect(slow).to.be.instanceOf(ToolCancelledError).and.include({ outcome: "cancelled" });
      expect(warnings.every(({ code }) => code === "DEACTIVATION_FAILED")).to.equal(true);
    });

    it("works by disposal", async () => {
      let runtime: ToolRuntime;
      {
        await using scoped = newRuntime();
        runtime = scoped;
      }
      expect(codeOf(await rejectionOf(runtime.execute("acme/tool", {}, contextOf("p"))))).to.equal("RUNTIME_CLOSED");
    });
  });
});
