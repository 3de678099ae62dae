import { expect } from "chai";
import sinon from "sinon";
import {
  MemoryApprovals,
  ToolCancelledError,
  ToolExecutionError,
  ToolRetryLimitExceededError,
  toolError,
  type RetryPolicy,
  type ToolCapability,
  type ToolContext,
} from "../../src/index.js";
import { mayRetry } from "../../src/runtime/retry-policy.js";
import { OUTCOMES, type Outcome } from "../../src/protocol/trace.js";
import { afterReadyWork, deferred, rejectionOf } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

const ONE_MORE: RetryPolicy = { attempts: 2, delayMs: 0 };
const THREE: RetryPolicy = { attempts: 3, delayMs: 0 };

describe("runtime/retry", () => {
  const makeRuntime = runtimesOfSuite();

  /** Fails so often, then succeeds. */
  const failing = (
    times: number,
    fail = (): never => {
      throw new Error("not yet");
    },
  ) => {
    let left = times;
    return (input: unknown, context: ToolContext): unknown =>
      left-- > 0 ? fail() : [input, context.attempt, context.idempotencyKey];
  };

  describe("mayRetry()", () => {
    const again = (policy: RetryPolicy, idempotent: boolean): Outcome[] =>
      OUTCOMES.filter((outcome) => mayRetry(policy, outcome, idempotent));

    it("tries again what another attempt may get the better of, after an uncertain end only where that does no harm", () => {
      expect(again(THREE, false)).to.deep.equal(["threw", "activation_failed", "overloaded"]);
      expect(again(THREE, true)).to.have.members([
        ...["threw", "activation_failed", "overloaded", "timed_out", "killed", "crashed", "out_of_memory"],
      ]);
    });

    it("takes the outcomes that a policy names, and never an uncertain one of a tool that is not idempotent", () => {
      const policy: RetryPolicy = { attempts: 3, outcomes: ["tool_error", "killed"] };
      expect(again(policy, false)).to.deep.equal(["tool_error"]);
      expect(again(policy, true)).to.deep.equal(["tool_error", "killed"]);
    });
  });

  it("execute() calls again until it succeeds: one call id and key, a trace of each attempt", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", { execute: failing(2) });
    const context = contextOf("plan");
    const { output, trace } = await runtime.execute("acme/tool", "in", context, { retry: THREE });
    expect(output).to.deep.equal(["in", 3, trace.callId]);
    expect(context.traces.map(({ callId, attempt, outcome }) => [callId, attempt, outcome])).to.deep.equal([
      [trace.callId, 1, "threw"],
      [trace.callId, 2, "threw"],
      [trace.callId, 3, "ok"],
    ]);
  });

  it("execute() says when all attempts failed, and with what", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", { execute: failing(9) });
    const context = contextOf("plan");
    const error = (await rejectionOf(
      runtime.execute("acme/tool", {}, context, { retry: THREE }),
    )) as ToolRetryLimitExceededError;
    expect(error).to.be.instanceOf(ToolRetryLimitExceededError).with.property("code", "RETRY_LIMIT_EXCEEDED");
    expect(error.message).to.include("in 3 attempts").and.include("not yet");
    expect(error.cause).to.be.instanceOf(ToolExecutionError).with.property("outcome", "threw");
    expect(error.details).to.deep.include({ attempts: 3, outcomes: ["threw", "threw", "threw"] });
    expect(context.traces).to.have.lengthOf(3);
  });

  const ONCE: readonly (readonly [
    string,
    ToolCapability,
    (input: unknown, context: ToolContext) => unknown,
    string,
  ])[] = [
    ["an answer that is an error", {}, () => toolError({ code: "NO", message: "no" }), "tool_error"],
    [
      "a call that was too slow, of a tool that is not idempotent",
      {},
      (_input, context) => overrun(context),
      "timed_out",
    ],
  ];
  const overrun = ({ cancellationToken: { signal } }: ToolContext): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
    });
  for (const [what, capability, execute, outcome] of ONCE) {
    it(`execute() does not try again ${what}`, async () => {
      const runtime = makeRuntime({ graceMs: 5_000 });
      registerMock(runtime, "acme/tool", { execute }, { writes: false, ...capability });
      const context = contextOf("plan");
      const call = runtime.execute("acme/tool", {}, context, { retry: { ...THREE, attemptTimeoutMs: 20 } });
      const ended = await call.catch((error: unknown) => error);
      expect(ended).not.to.be.instanceOf(ToolRetryLimitExceededError);
      expect(context.traces.map((trace) => trace.outcome)).to.deep.equal([outcome]);
    });
  }

  it("execute() tries again an attempt that was too slow, of a tool that is idempotent", async () => {
    const runtime = makeRuntime({ graceMs: 5_000 });
    registerMock(
      runtime,
      "acme/tool",
      { execute: (_input: unknown, context: ToolContext) => (context.attempt === 1 ? overrun(context) : "in time") },
      { writes: false, idempotent: true },
    );
    const context = contextOf("plan");
    const { output } = await runtime.execute("acme/tool", {}, context, {
      retry: { ...ONE_MORE, attemptTimeoutMs: 20 },
    });
    expect(output).to.equal("in time");
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["timed_out", "ok"]);
  });

  it("execute() has no time for another attempt when the deadline of the call has passed", async () => {
    const runtime = makeRuntime({ graceMs: 5_000 });
    registerMock(
      runtime,
      "acme/tool",
      { execute: (_input: unknown, context: ToolContext) => overrun(context) },
      { writes: false, idempotent: true },
    );
    const context = contextOf("plan");
    const error = await rejectionOf(runtime.execute("acme/tool", {}, context, { timeoutMs: 20, retry: THREE }));
    expect(error).to.be.instanceOf(ToolExecutionError).with.property("code", "TIMED_OUT");
    expect(context.traces).to.have.lengthOf(1);
  });

  it("execute() gives each attempt the tool's own deadline, where the caller names none for them all", async () => {
    const runtime = makeRuntime({ graceMs: 5_000 });
    registerMock(
      runtime,
      "acme/tool",
      { execute: (_input: unknown, context: ToolContext) => (context.attempt < 3 ? overrun(context) : "in time") },
      { writes: false, idempotent: true, timeoutMs: 20 },
    );
    const context = contextOf("plan");
    expect((await runtime.execute("acme/tool", {}, context, { retry: THREE })).output).to.equal("in time");
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["timed_out", "timed_out", "ok"]);
  });

  it("execute() tells of each attempt that another follows, and a listener that throws changes nothing", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", { execute: failing(9) });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const onRetry = sinon.spy(() => {
      throw new Error("a listener's fault");
    });
    const call = runtime.execute("acme/tool", {}, contextOf("plan"), { retry: { ...THREE, onRetry } });
    expect(await rejectionOf(call)).to.be.instanceOf(ToolRetryLimitExceededError);
    expect(onRetry.args.flat()).to.have.lengthOf(2);
    expect(onRetry.args.flat()[1]).to.include({ attempt: 2, outcome: "threw" });
    expect((await warned).message).to.include("a listener's fault");
  });

  it("execute() gives the last answer where answers are tried again", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", { execute: () => toolError({ code: "BUSY", message: "busy" }) });
    const context = contextOf("plan");
    const retry: RetryPolicy = { ...THREE, outcomes: ["tool_error"] };
    const { success, error, trace } = await runtime.execute("acme/tool", {}, context, { retry });
    expect([success, error?.code, trace.attempt]).to.deep.equal([false, "BUSY", 3]);
  });

  it("execute() calls with what was given, whatever the caller does to it between two attempts", async () => {
    const runtime = makeRuntime();
    const input = { list: ["given"] };
    const { execute } = registerMock(runtime, "acme/tool", {
      execute: (_input: unknown, { attempt }: ToolContext) => {
        if (attempt > 1) return "ok";
        input.list.push("changed");
        throw new Error("not yet");
      },
    });
    await runtime.execute("acme/tool", input, contextOf("plan"), { retry: ONE_MORE });
    expect(execute.args.map(([given]) => given)).to.deep.equal([{ list: ["given"] }, { list: ["given"] }]);
  });

  it("a budget counts each attempt; one that it refuses does not hide what went wrong", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", { execute: failing(9) });
    const context = contextOf("plan", { budget: { calls: 2 } });
    const error = (await rejectionOf(
      runtime.execute("acme/tool", {}, context, { retry: { attempts: 5, delayMs: 0 } }),
    )) as ToolRetryLimitExceededError;
    expect(error).to.be.instanceOf(ToolRetryLimitExceededError);
    expect(error.message).to.include("not yet").and.include("2 calls are used up");
    expect(error.details["attempts"]).to.equal(2);
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["threw", "threw", "denied"]);
  });

  it("a human approves a call once, with all of its attempts", async () => {
    const approvals = new MemoryApprovals({
      onRequest: ({ approvalId }) => {
        approvals.decide(approvalId, { approved: true });
      },
    });
    const ask = sinon.spy(approvals, "requestApproval");
    const runtime = makeRuntime({ approvals });
    registerMock(runtime, "acme/tool", { execute: failing(1) }, { writes: false, requiresApproval: true });
    const context = contextOf("plan");
    await runtime.execute("acme/tool", {}, context, { retry: THREE });
    expect(ask.callCount).to.equal(1);
    expect(new Set(context.traces.map(({ approvalId }) => approvalId)).size).to.equal(1);
  });

  describe("between two attempts", () => {
    const waiting = async (options: { signal?: AbortSignal } = {}) => {
      const runtime = makeRuntime();
      const thrown = deferred();
      const { execute } = registerMock(runtime, "acme/tool", {
        execute: () => {
          thrown.resolve();
          throw new Error("not yet");
        },
      });
      const context = contextOf("plan");
      const retry: RetryPolicy = { attempts: 5, delayMs: 1_000_000 };
      const call = rejectionOf(runtime.execute("acme/tool", {}, context, { ...options, retry }));
      await thrown.promise;
      await afterReadyWork();
      return { runtime, context, call, execute };
    };
    const ended = (error: unknown, part: string): void => {
      expect(error).to.be.instanceOf(ToolCancelledError).with.property("message").that.includes(part);
      expect((error as ToolCancelledError).cause).to.be.instanceOf(ToolExecutionError);
    };

    it("a cancel ends the call", async () => {
      const controller = new AbortController();
      const { call, context, execute } = await waiting({ signal: controller.signal });
      controller.abort();
      ended(await call, "between two attempts");
      expect(context.traces).to.have.lengthOf(1);
      expect(execute.callCount).to.equal(1);
    });

    it("the end of the plan ends the call, and waits for it", async () => {
      const { runtime, call } = await waiting();
      let over = false;
      void call.then(() => (over = true));
      await runtime.deactivatePlan("plan");
      expect(over).to.equal(true);
      ended(await call, "its plan was deactivated");
    });

    it("the end of the runtime ends the call", async () => {
      const { runtime, call } = await waiting();
      await runtime.close();
      ended(await call, "the runtime was closed");
    });
  });

  it("deactivatePlan() with `drain` lets a call make its attempts", async () => {
    const runtime = makeRuntime();
    const thrown = deferred();
    const fail = failing(2, () => {
      thrown.resolve();
      throw new Error("not yet");
    });
    registerMock(runtime, "acme/tool", { execute: fail });
    const call = runtime.execute("acme/tool", "in", contextOf("plan"), { retry: THREE });
    await thrown.promise;
    await runtime.deactivatePlan("plan", { drain: true });
    expect(((await call).output as unknown[])[1]).to.equal(3);
  });

  it("a call that is cancelled already leaves one trace and makes no attempt", async () => {
    const runtime = makeRuntime();
    const { execute } = registerMock(runtime, "acme/tool");
    const context = contextOf("plan");
    const call = runtime.execute("acme/tool", {}, context, { signal: AbortSignal.abort(), retry: THREE });
    expect(await rejectionOf(call)).to.be.instanceOf(ToolCancelledError);
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["cancelled"]);
    expect(execute.called).to.equal(false);
  });

  it("a policy that cannot be understood is refused", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool");
    const wrong: readonly (readonly [unknown, string])[] = [
      [null, "`retry` must be"],
      [{}, "attempts"],
      [{ attempts: 0 }, "attempts"],
      [{ attempts: 1.5 }, "attempts"],
      [{ attempts: 2, delay: 1 }, "did you mean `delayMs`"],
      [{ attempts: 2, delayMs: -1 }, "delayMs"],
      [{ attempts: 2, maxDelayMs: NaN }, "maxDelayMs"],
      [{ attempts: 2, factor: 0.5 }, "factor"],
      [{ attempts: 2, attemptTimeoutMs: 0 }, "attemptTimeoutMs"],
      [{ attempts: 2, outcomes: ["denied"] }, "outcomes"],
      [{ attempts: 2, onRetry: 1 }, "onRetry"],
    ];
    for (const [retry, part] of wrong) {
      const error = await rejectionOf(
        runtime.execute("acme/tool", {}, contextOf("plan"), { retry: retry as RetryPolicy }),
      );
      expect(error, part).to.have.property("code", "INVALID_ARGUMENT");
      expect((error as Error).message).to.include(part);
    }
    const transfer = [new ArrayBuffer(1)];
    const both = await rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan"), { retry: THREE, transfer }));
    expect(both).to.have.property("code", "INVALID_ARGUMENT");
  });
});
