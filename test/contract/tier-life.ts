/** How tools are made ready and given back. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ToolActivationError, ToolCancelledError, ToolDeactivationError } from "../../src/index.js";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

const TOOL = "fixture/lifecycle";

export function describeLife(bed: Bed): void {
  describe("activation", () => {
    it("many first calls activate once", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan();
      const results = await Promise.all(Array.from({ length: 20 }, () => plan.execute(TOOL, {})));
      expect(results.map(({ output }) => (output as { activations: number }).activations)).to.satisfy(
        (counts: number[]) => counts.every((count) => count === counts[0]),
      );
      expect(bed.recorder.count("activate")).to.equal(1);
      expect(bed.runtime.cacheStats(plan.planId)).to.deep.include({ activeTools: 1 });
      expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]).to.include({ activationCount: 1, executionCount: 20 });
    });

    it("activate() before, during and after the first call activates once", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan();
      await Promise.all([plan.activate(TOOL), plan.activate(TOOL), plan.execute(TOOL, {})]);
      await plan.activate(TOOL);
      expect(bed.recorder.count("activate")).to.equal(1);
      const stats = bed.runtime.cacheStats(plan.planId).tools[TOOL];
      expect(stats).to.include({ activationCount: 1, executionCount: 1 });
      expect(new Date(stats!.activatedAt).toISOString()).to.equal(stats!.activatedAt);
    });

    it("each plan has an activation of its own", async () => {
      await bed.tools("lifecycle");
      const plans = [bed.plan(), bed.plan(), bed.plan()];
      const results = await Promise.all(plans.map((plan) => plan.execute(TOOL, {})));
      expect(new Set(results.map(({ trace }) => trace.cell?.id)).size).to.equal(3);
      expect(
        bed.recorder.logs.filter(({ message }) => message === "activate").map(({ planId }) => planId),
      ).to.have.members(plans.map(({ planId }) => planId));
      expect((await bed.runtime.discover(TOOL)).activation).to.deep.equal({
        state: "active",
        plans: plans.map(({ planId }) => planId),
      });
    });

    for (const [how, message] of [
      ["throw", "as asked for"],
      ["throwText", "just a text"],
    ] as const) {
      it(`an activation that fails by "${how}" fails all who wait for it, and nothing is cached`, async () => {
        await bed.tools("lifecycle");
        const plan = bed.plan({ planId: `a=2&activate=${how}` });
        const errors = await Promise.all([
          rejection(plan.activate(TOOL)),
          rejection(plan.execute(TOOL, {})),
          rejection(plan.execute(TOOL, {})),
        ]);
        for (const error of errors) {
          expect(error).to.be.instanceOf(ToolActivationError).with.property("code", "ACTIVATION_FAILED");
          expect(error.message).to.contain(TOOL).and.contain(message);
        }
        expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal([
          "activation_failed",
          "activation_failed",
        ]);
        expect(bed.recorder.count("activate")).to.equal(1);
        expect(bed.recorder.count("started")).to.equal(0);
        expect(bed.recorder.count("deactivate")).to.equal(0);
        expect(bed.runtime.cacheStats(plan.planId)).to.deep.equal({ activeTools: 0, tools: {} });
        expect((await bed.runtime.discover(TOOL)).activation).to.deep.equal({ state: "inactive", plans: [] });
      });
    }

    it("a failed activation is tried again by the next call", async () => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), "toolcell-")));
      try {
        await bed.tools("lifecycle");
        const plan = bed.plan({
          planId: "a=3&activate=needsFile",
          boundResources: [{ slotName: "state", resourceId: "s", resourceType: "folder", path: folder }],
        });
        const error = await rejection(plan.execute(TOOL, {}));
        expect(error).to.be.instanceOf(ToolActivationError);
        expect(error.cause).to.include({ code: "ENOENT" });
        await writeFile(join(folder, "ready"), "");
        expect((await plan.execute(TOOL, {})).success).to.equal(true);
        expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["activation_failed", "ok"]);
        expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]).to.include({ activationCount: 1, executionCount: 1 });
      } finally {
        await bed.runtime.close();
        await rm(folder, { recursive: true });
      }
    });

    it("an activation that hangs is given up after its time", async () => {
      bed.open({ activationTimeoutMs: bed.tier.apart ? 300 : 20 });
      await bed.tools("lifecycle");
      const plan = bed.plan({ planId: "a=4&activate=hang" });
      const error = await rejection(plan.execute(TOOL, {}));
      expect(error).to.be.instanceOf(ToolActivationError).with.property("code", "ACTIVATION_TIMED_OUT");
      expect(onlyTrace(plan)).to.include({ outcome: "activation_failed" });
      expect(bed.runtime.cacheStats(plan.planId).activeTools).to.equal(0);
    });

    it("deactivatePlan() and close() end an activation that hangs, and who waits for it", async () => {
      await bed.tools("lifecycle");
      const first = bed.plan({ planId: "a=5&activate=hang" });
      const second = bed.plan({ planId: "a=6&activate=hang" });
      const waiting = [
        rejection(first.execute(TOOL, {})),
        rejection(first.activate(TOOL)),
        rejection(second.execute(TOOL, {})),
        rejection(second.activate(TOOL)),
      ];
      await bed.recorder.logged("activate", 2);
      await first.deactivate();
      await bed.runtime.close();
      const errors = await Promise.all(waiting);
      expect(errors[0]).to.be.instanceOf(ToolCancelledError).with.property("outcome", "cancelled");
      expect(errors[1]).to.be.instanceOf(ToolActivationError);
      expect(errors[2]).to.be.instanceOf(ToolCancelledError).with.property("outcome", "cancelled");
      expect(errors[3]).to.be.instanceOf(ToolActivationError);
    });
  });

  describe("deactivation", () => {
    it("deactivatePlan() deactivates each tool once, also when asked twice", async () => {
      await bed.tools("lifecycle");
      await bed.tool("lifecycle", { spec: { name: "fixture/other" } });
      const plan = bed.plan();
      await Promise.all([plan.execute(TOOL, {}), plan.execute("fixture/other", {})]);
      await Promise.all([bed.runtime.deactivatePlan(plan.planId), bed.runtime.deactivatePlan(plan.planId)]);
      await bed.runtime.deactivatePlan(plan.planId);
      await bed.runtime.deactivate(TOOL, plan.planId);
      await bed.runtime.deactivatePlan("never seen");
      const ended = bed.recorder.logs.filter(({ message }) => message === "deactivate");
      expect(ended.map(({ toolName }) => toolName)).to.have.members([TOOL, "fixture/other"]);
      expect(bed.runtime.cacheStats(plan.planId)).to.deep.equal({ activeTools: 0, tools: {} });
      expect((await bed.recorder.cellsEnded(2)).map(({ end }) => end?.kind)).to.deep.equal(["released", "released"]);
      expect(bed.recorder.warnings).to.deep.equal([]);
    });

    it("deactivate() ends one tool; the next call activates it again", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan();
      await plan.execute(TOOL, {});
      await bed.runtime.deactivate(TOOL, plan.planId);
      expect(bed.recorder.count("deactivate")).to.equal(1);
      expect(bed.runtime.cacheStats(plan.planId).activeTools).to.equal(0);
      await plan.execute(TOOL, {});
      expect(bed.recorder.count("activate")).to.equal(2);
    });

    it("a plan that goes out of scope is deactivated", async () => {
      await bed.tools("lifecycle");
      {
        await using plan = bed.plan();
        await plan.execute(TOOL, {});
      }
      expect(bed.recorder.count("deactivate")).to.equal(1);
    });

    it("close() deactivates what is active, once, also when asked twice", async () => {
      await bed.tools("lifecycle");
      await bed.plan().execute(TOOL, {});
      await bed.plan().execute(TOOL, {});
      const { runtime, recorder } = bed;
      const reports = await Promise.all([runtime.close(), runtime.close()]);
      expect(reports).to.deep.equal([{ quarantined: 0 }, { quarantined: 0 }]);
      await runtime[Symbol.asyncDispose]();
      expect(recorder.count("deactivate")).to.equal(2);
    });

    it("a closed runtime refuses work", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan();
      await bed.runtime.close();
      for (const attempt of [plan.execute(TOOL, {}), plan.activate(TOOL)]) {
        expect(await rejection(attempt)).to.include({ code: "RUNTIME_CLOSED" });
      }
      expect(await rejection(bed.tools("misbehave"))).to.include({ code: "RUNTIME_CLOSED" });
    });

    it("deactivation has a token of its own, which the plan's cancel does not touch", async () => {
      await bed.tools("lifecycle");
      const plan = bed.plan();
      await plan.execute(TOOL, {});
      plan.cancel();
      await plan.deactivate();
      expect((await bed.recorder.logged("deactivate")).data).to.deep.equal({ isCancelled: false });
    });

    for (const how of ["throw", "throwText", "hang", ...(bed.tier.apart ? ["spin", "exit", "throwBeside"] : [])]) {
      it(`a tool that fails to deactivate by "${how}" is a warning; the plan's other tools still do`, async () => {
        bed.open({ deactivateTimeoutMs: 200 });
        await bed.tools("lifecycle", "misbehave");
        await bed.tool("lifecycle", { spec: { name: "fixture/other" } });
        const plan = bed.plan({ planId: `d=1&deactivate=${how}` });
        await Promise.all([
          plan.execute(TOOL, {}),
          plan.execute("fixture/other", {}),
          plan.execute("fixture/misbehave", { do: "nothing" }),
        ]);
        await plan.deactivate();
        expect(bed.recorder.count("deactivate")).to.equal(2);
        const failures = bed.recorder.warnings.filter(({ code }) => code === "DEACTIVATION_FAILED");
        expect(failures.map(({ toolName }) => toolName)).to.have.members([TOOL, "fixture/other"]);
        for (const { cause, planId } of failures) {
          expect(cause).to.be.instanceOf(ToolDeactivationError);
          expect(planId).to.equal(plan.planId);
        }
        expect(bed.runtime.cacheStats(plan.planId).activeTools).to.equal(0);
        // The plan's name is free again.
        expect((await plan.execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
      });
    }

    it("`drain` lets running calls finish; without it they are cancelled", async () => {
      bed.open({ graceMs: 5_000 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      const finishing = plan.execute("fixture/misbehave", { do: "sleep", ms: 100, value: "whole" });
      await bed.recorder.logged("started");
      await plan.deactivate({ drain: true });
      expect((await finishing).output).to.equal("whole");
      const cancelled = rejection(plan.execute("fixture/misbehave", { do: "poll" }));
      await bed.recorder.logged("started", 2);
      await plan.deactivate();
      expect(await cancelled).to.have.property("outcome", "cancelled");
    });

    it("a plan that is being deactivated takes no call, and one that drains can be hurried", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const running = rejection(plan.execute("fixture/misbehave", { do: "poll" }));
      await bed.recorder.logged("started");
      const draining = plan.deactivate({ drain: true });
      expect(await rejection(plan.execute("fixture/misbehave", { do: "nothing" }))).to.include({
        code: "PLAN_CLOSING",
      });
      await plan.deactivate();
      await draining;
      expect(await running).to.have.property("outcome", "cancelled");
      expect((await plan.execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
    });
  });
}
