/** Cancelling: every way to ask for it, what a tool can do about it, and what the caller is told. */
import { getEventListeners } from "node:events";
import { expect } from "chai";
import { CancellationToken, ToolCancelledError, ToolExecutionError, type Plan } from "../../src/index.js";
import { GRACE_MS, onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

const TOOL = "fixture/misbehave";

/** Ways to cancel a call that runs. */
const WAYS: Readonly<Record<string, (bed: Bed, plan: Plan, controller: AbortController) => unknown>> = {
  "options.signal": (_bed, _plan, controller) => controller.abort(new Error("enough")),
  "the context's token": (_bed, plan) => plan.context.cancellationToken.cancel("enough"),
  "plan.cancel()": (_bed, plan) => plan.cancel("enough"),
  "deactivate()": (bed, plan) => bed.runtime.deactivate(TOOL, plan.planId),
  "deactivatePlan()": (bed, plan) => bed.runtime.deactivatePlan(plan.planId),
  "close()": (bed) => bed.runtime.close(),
};
const REASONS: Readonly<Record<string, string>> = {
  "deactivate()": "plan_deactivated",
  "deactivatePlan()": "plan_deactivated",
  "close()": "runtime_closed",
};

export function describeCancel(bed: Bed): void {
  /** Ways of honest tools to notice. */
  const noticing = ["poll", "signal", ...(bed.tier.apart ? ["spinPolling"] : [])];
  /** What becomes of a call that ignores its cancel. */
  const ignored = bed.tier.apart ? "killed" : "unsettled";
  // What cannot be killed would poll for ever.
  const ignoring = ["hang", ...(bed.tier.apart ? ["swallow"] : [])];

  describe("cancelling", () => {
    for (const [way, cancel] of Object.entries(WAYS)) {
      for (const action of way === "options.signal" ? noticing : ["poll", "signal"]) {
        it(`${way} stops a tool that notices it by "${action}"`, async () => {
          await bed.tools("misbehave");
          const plan = bed.plan();
          const controller = new AbortController();
          const call = rejection(plan.execute(TOOL, { do: action }, { signal: controller.signal }));
          await bed.recorder.logged("started");
          const ended = cancel(bed, plan, controller);
          const error = await call;
          expect(error).to.be.instanceOf(ToolCancelledError);
          expect(error).to.include({ code: "CANCELLED", outcome: "cancelled" });
          expect(error.details).to.include({ tool: TOOL, planId: plan.planId, reason: REASONS[way] ?? "cancelled" });
          expect(onlyTrace(plan)).to.include({ outcome: "cancelled", success: false, error: error.message });
          await ended;
        });
      }
    }

    for (const action of noticing) {
      it(`the deadline stops a tool that notices it by "${action}"`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        await plan.activate(TOOL);
        const error = await rejection(plan.execute(TOOL, { do: action }, { timeoutMs: 20 }));
        expect(error).to.be.instanceOf(ToolExecutionError);
        expect(error).to.include({ code: "TIMED_OUT", outcome: "timed_out" });
        expect(onlyTrace(plan)).to.include({ outcome: "timed_out", success: false });
        // The cell lives on.
        expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
        expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(1);
      });
    }

    it("the deadline is the call's, else the tool's, else the runtime's", async () => {
      bed.open({ timeoutMs: 20 });
      await bed.tools("misbehave");
      await bed.tool("misbehave", { spec: { name: "fixture/patient" }, capability: { timeoutMs: 100_000 } });
      const plan = bed.plan();
      await plan.activate(TOOL);
      await plan.activate("fixture/patient");
      expect(await rejection(plan.execute(TOOL, { do: "poll" }))).to.include({ outcome: "timed_out" });
      const longer = await plan.execute(TOOL, { do: "sleep", ms: 40, value: 1 }, { timeoutMs: 100_000 });
      expect(longer.output).to.equal(1);
      expect((await plan.execute("fixture/patient", { do: "sleep", ms: 40, value: 2 })).output).to.equal(2);
      const shorter = plan.execute("fixture/patient", { do: "poll" }, { timeoutMs: 20 });
      expect(await rejection(shorter)).to.include({ outcome: "timed_out" });
    });

    for (const action of ignoring) {
      it(`a tool that ignores its cancel by "${action}" is told of as ${ignored}`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        const controller = new AbortController();
        const call = rejection(plan.execute(TOOL, { do: action }, { signal: controller.signal }));
        await bed.recorder.logged("started");
        controller.abort();
        const error = await call;
        expect(error).to.be.instanceOf(ToolCancelledError);
        expect(error).to.include({ code: "CANCELLED", outcome: ignored });
        expect(onlyTrace(plan)).to.include({ outcome: ignored, success: false });
        expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
        expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]).to.include({ activationCount: bed.tier.apart ? 2 : 1 });
      });
    }

    it(`a tool that ignores its deadline is told of as ${ignored}`, async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const error = await rejection(plan.execute(TOOL, { do: "hang" }, { timeoutMs: 20 }));
      expect(error).to.be.instanceOf(ToolExecutionError);
      expect(error).to.include({ code: "TIMED_OUT", outcome: ignored });
      expect(onlyTrace(plan)).to.include({ outcome: ignored });
      expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
    });

    it("close() ends a tool that ignores its cancel, and says what became of it", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const calls = [1, 2].map(() => rejection(plan.execute(TOOL, { do: "hang" })));
      await bed.recorder.logged("started", 2);
      expect(await bed.runtime.close()).to.deep.equal({ quarantined: 0 });
      for (const error of await Promise.all(calls)) {
        expect(error).to.be.instanceOf(ToolCancelledError);
        expect(error.outcome).to.equal(ignored);
        expect(error.details.reason).to.equal("runtime_closed");
      }
    });

    it("the first reason wins: a cancel before the deadline", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const controller = new AbortController();
      const options = { signal: controller.signal, timeoutMs: 500 };
      const call = rejection(plan.execute(TOOL, { do: "hang" }, options));
      await bed.recorder.logged("started");
      const reason = new Error("the first");
      controller.abort(reason);
      plan.cancel("the second");
      void bed.runtime.deactivatePlan(plan.planId);
      const error = await call;
      expect(error).to.be.instanceOf(ToolCancelledError).with.property("outcome", ignored);
      expect(error.details.reason).to.equal("cancelled");
    });

    it("the first reason wins: a deadline before the cancel", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const call = rejection(plan.execute(TOOL, { do: "finishAnyway", value: "late" }, { timeoutMs: 20 }));
      const error = await call;
      plan.cancel("too late");
      expect(error).to.be.instanceOf(ToolExecutionError).with.property("code", "TIMED_OUT");
      expect(plan.context.traces).to.have.length(1);
    });

    it("the reason that was given is the error's cause", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const reason = new Error("given");
      const early = await rejection(plan.execute(TOOL, { do: "nothing" }, { signal: AbortSignal.abort(reason) }));
      expect(early.cause).to.equal(reason);
    });

    it("a call that is cancelled before it is made reaches nothing", async () => {
      await bed.tools("misbehave");
      const token = new CancellationToken();
      token.cancel("before");
      const plan = bed.plan({ cancellationToken: token });
      const error = await rejection(plan.execute(TOOL, { do: "nothing" }));
      expect(error).to.be.instanceOf(ToolCancelledError).with.property("outcome", "cancelled");
      expect(onlyTrace(plan)).to.include({ outcome: "cancelled" }).and.not.have.property("cell");
      expect(await rejection(plan.activate(TOOL))).to.be.instanceOf(ToolCancelledError);
      expect(bed.recorder.cells).to.deep.equal([]);
      expect(bed.runtime.cacheStats(plan.planId).activeTools).to.equal(0);
    });

    it("a call that is cancelled while it waits for a slot never starts, and its neighbour goes on", async () => {
      bed.open({ maxCallsPerCell: 1 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      const first = new AbortController();
      const second = new AbortController();
      const running = rejection(plan.execute(TOOL, { do: "signal" }, { signal: first.signal }));
      await bed.recorder.logged("started");
      const waiting = rejection(plan.execute(TOOL, { do: "echo" }, { signal: second.signal }));
      second.abort();
      expect(await waiting)
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "cancelled");
      expect(bed.recorder.count("started")).to.equal(1);
      expect((await Promise.race([running, Promise.resolve("still running")])) as unknown).to.equal("still running");
      first.abort();
      expect(await running).to.have.property("outcome", "cancelled");
    });

    it("a call that is cancelled while it waits for a turn never starts", async () => {
      bed.open({ maxActiveCalls: 1 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      const first = new AbortController();
      const second = new AbortController();
      const running = rejection(plan.execute(TOOL, { do: "signal" }, { signal: first.signal }));
      await bed.recorder.logged("started");
      const waiting = rejection(plan.execute(TOOL, { do: "echo" }, { signal: second.signal }));
      second.abort();
      expect(await waiting)
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "cancelled");
      const timed = await rejection(plan.execute(TOOL, { do: "echo" }, { timeoutMs: 5 }));
      expect(timed).to.include({ code: "TIMED_OUT", outcome: "timed_out" });
      first.abort();
      await running;
      expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
    });

    it("a cancel in the tick of the call, before it is sent, still reaches it", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const controller = new AbortController();
      const calls = [1, 2, 3].map(() => rejection(plan.execute(TOOL, { do: "signal" }, { signal: controller.signal })));
      controller.abort();
      for (const error of await Promise.all(calls)) {
        expect(error).to.be.instanceOf(ToolCancelledError).with.property("outcome", "cancelled");
      }
      expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
      expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(1);
    });

    it("a tool that runs to its end in spite of the cancel is told of as such, its output discarded", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const call = rejection(plan.execute(TOOL, { do: "finishAnyway", value: 1 }, { signal: controller.signal }));
      await bed.recorder.logged("started");
      controller.abort();
      const error = await call;
      expect(error).to.be.instanceOf(ToolCancelledError).with.property("outcome", "cancelled");
      expect(error.details).to.include({ completed: true });
    });

    it("an error of a tool that gives up is the cancel's cause", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const call = rejection(plan.execute(TOOL, { do: "failWhenStopped" }, { signal: controller.signal }));
      await bed.recorder.logged("started");
      controller.abort();
      const error = await call;
      expect(error).to.be.instanceOf(ToolCancelledError);
      expect(error.cause).to.be.instanceOf(RangeError).with.property("message", "gave up");
    });

    it("a cancel after the end changes nothing, and its kill does not reach the call that came after", async () => {
      // Long enough for a tool that stops by itself, on a machine with much to do.
      const graceMs = 250;
      bed.open({ graceMs });
      await bed.tools("misbehave");
      const plan = bed.plan();
      for (const action of ["signal", "finishAnyway"]) {
        const controller = new AbortController();
        const cancelled = rejection(plan.execute(TOOL, { do: action }, { signal: controller.signal }));
        await bed.recorder.logged("started", bed.recorder.count("started") + 1);
        controller.abort();
        await cancelled;
        const next = await plan.execute(TOOL, { do: "sleep", ms: graceMs * 1.5, value: "whole" });
        expect(next.output).to.equal("whole");
      }
      const over = new AbortController();
      await plan.execute(TOOL, { do: "nothing" }, { signal: over.signal });
      over.abort();
      expect((await plan.execute(TOOL, { do: "sleep", ms: graceMs * 1.5, value: "whole" })).output).to.equal("whole");
      expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(1);
    });

    it("a cancel never lands on the next call, however often a slot is used", async () => {
      bed.open({ maxCallsPerCell: 2 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      for (let round = 0; round < 50; round++) {
        const controller = new AbortController();
        const cancelled = rejection(plan.execute(TOOL, { do: "signal" }, { signal: controller.signal }));
        const other = plan.execute(TOOL, { do: "echo", value: round });
        if (round % 2 === 0) controller.abort();
        expect((await other).output).to.equal(round);
        controller.abort();
        expect(await cancelled).to.have.property("outcome", "cancelled");
      }
      expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(1);
    });

    it("cancelling one call leaves its neighbours alone", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const cancelled = rejection(plan.execute(TOOL, { do: "poll" }, { signal: controller.signal }));
      const neighbours = [1, 2, 3].map((value) => plan.execute(TOOL, { do: "sleep", ms: GRACE_MS * 2, value }));
      await bed.recorder.logged("started", 4);
      controller.abort();
      expect(await cancelled).to.have.property("outcome", "cancelled");
      expect((await Promise.all(neighbours)).map(({ output }) => output)).to.deep.equal([1, 2, 3]);
    });

    it("a signal that serves many calls gathers no listeners", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { signal } = new AbortController();
      const calls = Array.from({ length: 50 }, () => plan.execute(TOOL, { do: "nothing" }, { signal }));
      expect(getEventListeners(signal, "abort").length).to.be.at.most(1);
      await Promise.all(calls);
      await rejection(plan.execute(TOOL, { do: "poll" }, { signal, timeoutMs: 5 }));
      expect(getEventListeners(signal, "abort")).to.deep.equal([]);
    });

    it("a token stays cancelled when its call is over, and the call's context tells nothing more", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.execute(TOOL, { do: "keep" }, { callId: "kept" });
      const { output, changes, trace } = await plan.execute(TOOL, { do: "kept" });
      expect(output).to.deep.equal({ isCancelled: true, own: true });
      expect(changes).to.deep.equal([]);
      expect(plan.context.changes).to.deep.equal([]);
      expect(trace).not.to.have.property("cost");
      expect(bed.recorder.progress).to.deep.equal([]);
      const late = await bed.recorder.logged("from a call that is over");
      expect(late).not.to.have.property("callId");
      const error = await rejection(plan.execute(TOOL, { do: "keptCall" }));
      expect(error.cause.message).to.match(/over/);
    });

    it("a call that is cancelled while its tool activates ends at once", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan({ planId: "a=1&activate=hang" });
      const controller = new AbortController();
      const call = rejection(plan.execute("fixture/lifecycle", {}, { signal: controller.signal }));
      await bed.recorder.logged("activate");
      controller.abort();
      expect(await call)
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "cancelled");
      const timed = await rejection(plan.execute("fixture/lifecycle", {}, { timeoutMs: 5 }));
      expect(timed).to.include({ code: "TIMED_OUT", outcome: "timed_out" });
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["cancelled", "timed_out"]);
      expect(bed.recorder.count("started")).to.equal(0);
    });
  });
}
