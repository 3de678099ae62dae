/** Budgets: what is spent in a cell, and how a call that overspends is stopped. */
import { expect } from "chai";
import { ToolCostLimitExceededError, ToolExecutionError } from "../../src/index.js";
import { rejection } from "./recorder.js";
import { onlyTrace, type Bed } from "./tier-bed.js";

const TOOL = "fixture/misbehave";

export function describeBudget(bed: Bed): void {
  describe("budget", () => {
    it("a call beyond it never reaches the tool", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan({ budget: { calls: 1 } });
      await plan.execute(TOOL, { do: "echo", value: 1 });
      expect(await rejection(plan.execute(TOOL, { do: "log", value: 2 }))).to.be.instanceOf(ToolCostLimitExceededError);
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["ok", "denied"]);
      expect(plan.context.spending()).to.include({ calls: 1 });
    });

    it("a call is stopped when the wall time is up, the plan's other calls with it", async () => {
      bed.open({ graceMs: 5_000 });
      await bed.tools("misbehave");
      const plan = bed.plan({ budget: { wallMs: 200 } });
      const calls = [1, 2].map(() => rejection(plan.execute(TOOL, { do: "signal" })));
      for (const error of await Promise.all(calls)) {
        expect(error).to.be.instanceOf(ToolExecutionError).with.property("code", "COST_LIMIT_EXCEEDED");
        expect(error).to.have.property("outcome", "cancelled");
      }
      expect(await rejection(plan.execute(TOOL, { do: "signal" }))).to.be.instanceOf(ToolCostLimitExceededError);
    });

    if (!bed.tier.apart) return;

    it("CPU time is that of the cells: one that spins is killed when it is used up, one that waits spends next to none", async () => {
      await bed.tools("misbehave");
      const waiting = bed.plan({ budget: { cpuMs: 60_000 } });
      await waiting.execute(TOOL, { do: "echo", value: 1 });
      const before = waiting.context.spending()!.cpuMs;
      await waiting.execute(TOOL, { do: "sleep", ms: 300, value: 1 });
      expect(before).to.be.above(0);
      expect(waiting.context.spending()!.cpuMs - before).to.be.below(300);
      const spinning = bed.plan({ budget: { cpuMs: 400 } });
      const error = await rejection(spinning.execute(TOOL, { do: "spin" }));
      expect(error).to.be.instanceOf(ToolExecutionError).with.property("code", "COST_LIMIT_EXCEEDED");
      expect(error).to.have.property("outcome", "killed");
      expect((error as Error).message).to.include("400 ms of CPU time");
      expect(onlyTrace(spinning).outcome).to.equal("killed");
      expect(spinning.context.spending()!.cpuMs).to.be.at.least(400);
    });
  });
}
