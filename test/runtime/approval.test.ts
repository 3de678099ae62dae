import { expect } from "chai";
import sinon from "sinon";
import {
  MemoryApprovals,
  ToolCancelledError,
  ToolExecutionError,
  ToolHumanApprovalRequiredError,
  type ApprovalDecision,
  type ApprovalProvider,
  type ApprovalRequest,
  type ToolContext,
} from "../../src/index.js";
import { approvalRequest, type ApprovalSubject } from "../../src/runtime/approval.js";
import { afterReadyWork, deferred, rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

const SUBJECT: ApprovalSubject = {
  planId: "plan",
  callId: "call",
  toolName: "acme/tool",
  input: { b: 1, a: [1, 2] },
  requestedAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-01-01T00:10:00.000Z",
};
const worded = (change: Partial<ApprovalSubject> = {}): ApprovalRequest =>
  approvalRequest({ ...SUBJECT, ...change }) as ApprovalRequest;

describe("runtime/approval", () => {
  const makeRuntime = runtimesOfSuite();
  const capability = { writes: false, requiresApproval: true } as const;

  describe("approvalRequest()", () => {
    it("is bound to plan, call, tool, version, input and actor, and to nothing else", () => {
      const { approvalId } = worded();
      const others: Partial<ApprovalSubject>[] = [
        { planId: "other" },
        { callId: "other" },
        { toolName: "acme/other" },
        { toolVersion: "1" },
        { actorName: "somebody" },
        { input: { b: 1, a: [2, 1] } },
        { input: { b: 1 } },
      ];
      const ids = others.map((other) => worded(other).approvalId);
      expect(new Set([approvalId, ...ids]).size).to.equal(others.length + 1);
      expect(worded({ requestedAt: SUBJECT.expiresAt, parentCallId: "parent" }).approvalId).to.equal(approvalId);
    });

    it("takes inputs for the same whose fields stand in another order, by RFC 8785", () => {
      expect(worded({ input: { a: [1, 2], b: 1 } }).inputDigest).to.equal(worded().inputDigest);
      expect(worded({ input: { a: [1, 2], b: 1.0, c: undefined } }).inputDigest).to.equal(worded().inputDigest);
      // SHA-256 of {"a":[1,2],"b":1}
      expect(worded().inputDigest).to.equal("94a786c3662bc7beeb598efa7d8cb58d7bea25d6c275ea9785a0230ff1f8c2ba");
    });

    it("is plain JSON", () => {
      const request = worded({ toolVersion: "1.0.0", actorName: "agent", parentCallId: "parent" });
      expect(JSON.parse(JSON.stringify(request))).to.deep.equal(request);
      expect(request.approvalId).to.match(/^[0-9a-f]{64}$/);
    });

    it("says why an input that is no JSON cannot be approved", () => {
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      const cases: readonly (readonly [unknown, string])[] = [
        [new Map(), "a Map"],
        [{ deep: [1n] }, "a bigint"],
        [{ bytes: new Uint8Array(1) }, "a Uint8Array"],
        [new Date(0), "a Date"],
        [NaN, "NaN"],
        [cyclic, "a cycle"],
      ];
      for (const [input, part] of cases)
        expect(approvalRequest({ ...SUBJECT, input }))
          .to.be.a("string")
          .that.includes(part);
      const shared = { here: 1 };
      expect(worded({ input: { a: shared, ab: shared } }).input).to.deep.equal({ a: { here: 1 }, ab: { here: 1 } });
      expect(worded({ input: undefined }).input).to.equal(null);
    });
  });

  describe("execute()", () => {
    it("asks for each call, shows what runs, and runs it on a yes", async () => {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals });
      const { execute } = registerMock(runtime, "acme/tool", { execute: (input) => input }, capability, {
        version: "2.1",
      });
      const context = contextOf("plan", { actorName: "agent" });
      const input = { path: "a.txt" };
      const call = runtime.execute("acme/tool", input, context, { callId: "c1" });
      input.path = "changed by its caller";
      await afterReadyWork();
      const [request] = approvals.pending();
      expect(request).to.deep.include({
        planId: "plan",
        callId: "c1",
        toolName: "acme/tool",
        toolVersion: "2.1",
        actorName: "agent",
        input: { path: "a.txt" },
      });
      expect(runtime.calls("plan")[0]?.phase).to.equal("approval");
      expect(execute.callCount).to.equal(0);
      approvals.decide(request!.approvalId, { approved: true });
      const { output, trace } = await call;
      expect(output).to.deep.equal({ path: "a.txt" });
      expect(trace.approvalId).to.equal(request!.approvalId);
      expect(context.traces[0]).to.deep.equal(trace);
      expect(trace.phases.approval).to.be.above(0);
      expect(Object.values(trace.phases).reduce((sum, phase) => sum + phase, 0)).to.be.closeTo(trace.durationMs, 1e-6);
      expect(approvals.pending()).to.deep.equal([]);
    });

    it("waits for any number side by side, answered in any order; one that is declined never runs", async () => {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals });
      const { execute } = registerMock(runtime, "acme/tool", { execute: (input) => input }, capability);
      const context = contextOf("plan");
      const calls = Array.from({ length: 100 }, (_none, input) => runtime.execute("acme/tool", input, context));
      const ends = Promise.allSettled(calls);
      await afterReadyWork();
      for (const { approvalId, input } of approvals.pending().reverse()) {
        approvals.decide(approvalId, { approved: Number(input) % 2 === 0, decidedBy: "ada", reason: "odd" });
      }
      for (const [input, end] of (await ends).entries()) {
        if (input % 2 === 0) expect(end).to.have.nested.property("value.output", input);
        else {
          expect(end).to.have.property("reason").that.is.instanceOf(ToolHumanApprovalRequiredError);
          expect(end).to.have.nested.property("reason.message").that.includes("declined by ada: odd");
        }
      }
      expect(execute.args.map(([input]) => input).every((input) => Number(input) % 2 === 0)).to.equal(true);
      expect(execute.callCount).to.equal(50);
      expect(context.traces.filter(({ outcome }) => outcome === "denied")).to.have.lengthOf(50);
    });

    it("asks nobody for what a gate refuses, whose input is wrong, or for which there is no budget", async () => {
      const approvals = new MemoryApprovals();
      const ask = sinon.spy(approvals, "requestApproval");
      const runtime = makeRuntime({ approvals, safetyProfile: { deny: ["acme/denied"] } });
      registerMock(runtime, "acme/denied", {}, capability);
      registerMock(runtime, "acme/tool", {}, capability, { inputSchema: { type: "string" } });
      const context = contextOf("plan", { budget: { calls: 0 } });
      expect(await rejectionOf(runtime.execute("acme/denied", "", context))).to.have.property(
        "code",
        "SAFETY_VIOLATION",
      );
      expect((await runtime.execute("acme/tool", 1, context)).error?.code).to.equal("SCHEMA_VALIDATION_FAILED");
      expect(await rejectionOf(runtime.execute("acme/tool", "", context))).to.have.property(
        "code",
        "COST_LIMIT_EXCEEDED",
      );
      expect(ask.called).to.equal(false);
    });

    it("asks where a safety profile says so, also for a call that another tool makes", async () => {
      const approvals = new MemoryApprovals({
        onRequest: ({ approvalId }) => {
          approvals.decide(approvalId, { approved: true });
        },
      });
      const ask = sinon.spy(approvals, "requestApproval");
      const runtime = makeRuntime({ approvals, safetyProfile: { approve: ["acme/inner"] } });
      registerMock(runtime, "acme/inner");
      registerMock(runtime, "acme/outer", {
        execute: async (_input: unknown, context: ToolContext) => (await context.call("acme/inner", {})).output,
      });
      const { output, trace } = await runtime.execute("acme/outer", {}, contextOf("plan"));
      expect(output).to.equal("output");
      expect(ask.callCount).to.equal(1);
      expect(ask.args[0]?.[0]).to.include({ toolName: "acme/inner", parentCallId: trace.callId });
    });

    const FAULTS: Readonly<Record<string, (request: ApprovalRequest) => unknown>> = {
      nothing: () => undefined,
      "a bare yes": () => true,
      "a decision for another request": () => ({ approvalId: "0".repeat(64), approved: true }),
      "a yes that is no boolean": ({ approvalId }) => ({ approvalId, approved: "yes" }),
      "a failure": () => Promise.reject(new Error("the desk is closed")),
      "a failure at once": () => {
        throw new Error("the desk is closed");
      },
    };
    for (const [what, answer] of Object.entries(FAULTS)) {
      it(`takes ${what} for a no`, async () => {
        const provider: ApprovalProvider = {
          requestApproval: async (request) => (await answer(request)) as ApprovalDecision,
        };
        const runtime = makeRuntime({ approvals: provider });
        const { execute } = registerMock(runtime, "acme/tool", {}, capability);
        const error = await rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan")));
        expect(error).to.be.instanceOf(ToolHumanApprovalRequiredError).with.property("code", "APPROVAL_REQUIRED");
        expect(execute.called).to.equal(false);
      });
    }

    it("refuses where a human could not be shown what runs", async () => {
      const runtime = makeRuntime({ approvals: new MemoryApprovals() });
      const { execute } = registerMock(runtime, "acme/tool", {}, capability);
      const context = contextOf("plan");
      const buffer = new ArrayBuffer(1);
      const errors = [
        await rejectionOf(runtime.execute("acme/tool", new Map(), context)),
        await rejectionOf(runtime.execute("acme/tool", {}, context, { transfer: [buffer] })),
      ];
      for (const error of errors) expect(error).to.be.instanceOf(ToolHumanApprovalRequiredError);
      expect(execute.called).to.equal(false);
      expect(buffer.byteLength).to.equal(1);
    });

    it("without a provider denies the call, and activate() too", async () => {
      const runtime = makeRuntime();
      registerMock(runtime, "acme/tool", {}, capability);
      const context = contextOf("plan");
      const error = await rejectionOf(runtime.execute("acme/tool", {}, context));
      expect(error)
        .to.be.instanceOf(ToolHumanApprovalRequiredError)
        .with.property("message")
        .that.includes("`approvals`");
      expect(await rejectionOf(runtime.activate("acme/tool", context))).to.be.instanceOf(
        ToolHumanApprovalRequiredError,
      );
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["denied", "denied"]);
    });

    it("a provider without requestApproval is refused when the runtime is made", () => {
      for (const approvals of [null, {}, { requestApproval: 1 }, () => undefined]) {
        const error = thrownBy(() => makeRuntime({ approvals: approvals as never }));
        expect(error).to.have.property("code", "INVALID_OPTIONS");
      }
    });
  });

  describe("while it waits", () => {
    let clock: sinon.SinonFakeTimers;
    beforeEach(() => (clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] })));
    afterEach(() => {
      clock.restore();
    });

    it("the request expires, and the answer that comes later counts for nothing", async () => {
      const late = deferred<ApprovalDecision>();
      const seen = deferred<AbortSignal>();
      const runtime = makeRuntime({
        approvalTimeoutMs: 1_000,
        approvals: {
          requestApproval: (_request, signal) => {
            seen.resolve(signal);
            return late.promise;
          },
        },
      });
      const { execute } = registerMock(runtime, "acme/tool", {}, capability);
      const call = rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan")));
      const signal = await seen.promise;
      await clock.tickAsync(999);
      expect(signal.aborted).to.equal(false);
      await clock.tickAsync(1);
      const error = (await call) as ToolHumanApprovalRequiredError;
      expect(error.message).to.include("nobody answered in time");
      expect(signal.aborted).to.equal(true);
      late.resolve({ approvalId: (error.details["approval"] as ApprovalRequest).approvalId, approved: true });
      await afterReadyWork();
      expect(execute.called).to.equal(false);
    });

    it("the deadline stands still, that of the caller's call too", async () => {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals });
      const asked = deferred();
      registerMock(runtime, "acme/inner", {}, capability);
      registerMock(runtime, "acme/outer", {
        execute: async (_input: unknown, context: ToolContext) => {
          asked.resolve();
          return (await context.call("acme/inner", {})).output;
        },
      });
      const call = runtime.execute("acme/outer", {}, contextOf("plan"), { timeoutMs: 1_000 });
      await asked.promise;
      await afterReadyWork();
      await clock.tickAsync(60_000);
      approvals.decide(approvals.pending()[0]!.approvalId, { approved: true });
      expect((await call).output).to.equal("output");
    });

    it("the deadline goes on with what was left of it", async () => {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals });
      const hung = deferred();
      registerMock(
        runtime,
        "acme/tool",
        {
          execute: (_input: unknown, { cancellationToken: { signal } }: ToolContext) =>
            new Promise((_resolve, reject) => {
              hung.resolve();
              signal.addEventListener("abort", () => {
                reject(signal.reason as Error);
              });
            }),
        },
        capability,
      );
      const call = rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan"), { timeoutMs: 1_000 }));
      await clock.tickAsync(400_000);
      approvals.decide(approvals.pending()[0]!.approvalId, { approved: true });
      await hung.promise;
      await clock.tickAsync(999);
      expect(runtime.calls("plan")).to.have.lengthOf(1);
      await clock.tickAsync(1);
      expect(await call)
        .to.be.instanceOf(ToolExecutionError)
        .with.property("code", "TIMED_OUT");
    });

    it("a cancel, and the end of the plan, end the call; nobody is waited for any more", async () => {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals });
      registerMock(runtime, "acme/tool", {}, capability);
      const context = contextOf("plan");
      const controller = new AbortController();
      const calls = [
        rejectionOf(runtime.execute("acme/tool", {}, context, { signal: controller.signal })),
        rejectionOf(runtime.execute("acme/tool", {}, context)),
      ];
      await afterReadyWork();
      expect(approvals.pending()).to.have.lengthOf(2);
      controller.abort();
      expect(await calls[0]).to.be.instanceOf(ToolCancelledError);
      expect(approvals.pending()).to.have.lengthOf(1);
      await runtime.deactivatePlan("plan");
      expect(await calls[1]).to.be.instanceOf(ToolCancelledError);
      expect(approvals.pending()).to.deep.equal([]);
      expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["cancelled", "cancelled"]);
    });
  });

  it("a cancel that comes between the human's word and the wait for a turn is not lost", async () => {
    // One of these moments is the one in which nobody holds the call.
    for (let turns = 0; turns < 10; turns++) {
      const approvals = new MemoryApprovals();
      const runtime = makeRuntime({ approvals, maxActiveCalls: 1 });
      const { execute } = registerMock(runtime, "acme/tool", {}, capability);
      const held = deferred();
      const started = deferred();
      registerMock(runtime, "acme/holder", { execute: () => (started.resolve(), held.promise) });
      const holder = runtime.execute("acme/holder", {}, contextOf("other"));
      // Until it runs its turn is free.
      await started.promise;
      const controller = new AbortController();
      const call = rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan"), { signal: controller.signal }));
      for (const { approvalId } of approvals.pending()) approvals.decide(approvalId, { approved: true });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      controller.abort();
      expect(await call).to.be.instanceOf(ToolCancelledError);
      expect(execute.called).to.equal(false);
      held.resolve();
      await holder;
    }
  });
});
