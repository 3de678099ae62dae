/** Tools that take their cell down, on tiers that survive it. */
import { expect } from "chai";
import { ToolCancelledError, ToolExecutionError } from "../../src/index.js";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

const TOOL = "fixture/misbehave";

export function describeCrash(bed: Bed): void {
  if (!bed.tier.apart) return;

  describe("crashes", () => {
    for (const count of [0, 7]) {
      it(`a tool that ends its process with ${count} ends its call as crashed; the next gets a new cell`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        const error = await rejection(plan.execute(TOOL, { do: "exit", count }));
        expect(error).to.be.instanceOf(ToolExecutionError);
        expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
        expect(error.details).to.include({ exitCode: count });
        expect(onlyTrace(plan)).to.include({ outcome: "crashed", success: false });
        const next = await plan.execute(TOOL, { do: "echo", value: 1 });
        expect(next.output).to.equal(1);
        expect(next.trace.cell?.id).not.to.equal(plan.context.traces[0]?.cell?.id);
        expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(2);
      });
    }

    it("a tool that runs out of memory ends its call as such; the next gets a new cell", async () => {
      await bed.tool("misbehave", { capability: { memoryMb: 32 } });
      const plan = bed.plan();
      const error = await rejection(plan.execute(TOOL, { do: "exhaustMemory" }));
      expect(error).to.be.instanceOf(ToolExecutionError);
      expect(error).to.include({ code: "OUT_OF_MEMORY", outcome: "out_of_memory" });
      expect(onlyTrace(plan)).to.include({ outcome: "out_of_memory", success: false });
      expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
    });

    for (const action of ["spin", "spinInMicrotasks", "spinInFinally", "spinInThen", "spinInGetter", "atomicsWait"]) {
      it(`a tool that holds its thread by "${action}" is killed at its deadline`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        await plan.activate(TOOL);
        const error = await rejection(plan.execute(TOOL, { do: action }, { timeoutMs: 250 }));
        expect(error).to.be.instanceOf(ToolExecutionError);
        expect(error).to.include({ code: "TIMED_OUT", outcome: "killed" });
        expect(onlyTrace(plan)).to.include({ outcome: "killed" });
        expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
      });
    }

    it("a tool that holds its thread is killed by deactivatePlan() and by close()", async () => {
      await bed.tools("misbehave");
      const first = bed.plan();
      const second = bed.plan();
      const calls = [first, second].map((plan) => rejection(plan.execute(TOOL, { do: "spin" })));
      await bed.recorder.logged("started", 2);
      await bed.runtime.deactivatePlan(first.planId);
      expect(await calls[0])
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "killed");
      expect(await bed.runtime.close()).to.deep.equal({ quarantined: 0 });
      expect(await calls[1])
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "killed");
    });

    it("changes that were recorded before a crash or a kill are kept, in order", async () => {
      await bed.tools("misbehave");
      const expected = Array.from({ length: 20 }, (_none, index) => `r${index}`);
      const crashed = bed.plan();
      await rejection(crashed.execute(TOOL, { do: "exitAfterChanges", count: 20 }));
      expect(crashed.context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(expected);
      const killed = bed.plan();
      const controller = new AbortController();
      const call = rejection(
        killed.execute(TOOL, { do: "spinAfterChanges", count: 20 }, { signal: controller.signal }),
      );
      await bed.recorder.logged("changed");
      controller.abort();
      expect(await call).to.have.property("outcome", "killed");
      expect(killed.context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(expected);
    });

    for (const action of ["throwBeside", "rejectBeside"]) {
      it(`an error that escapes from a running call by "${action}" ends it as crashed`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        const error = await rejection(plan.execute(TOOL, { do: action }));
        expect(error).to.be.instanceOf(ToolExecutionError);
        expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
        expect(error.cause).to.be.instanceOf(TypeError);
        expect(onlyTrace(plan)).to.include({ outcome: "crashed" });
        expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
        expect(bed.runtime.cacheStats(plan.planId).tools[TOOL]?.activationCount).to.equal(2);
      });
    }

    for (const action of ["throwLate", "rejectLate"]) {
      it(`an error that escapes after its call by "${action}" is a warning, and the cell is replaced`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        const result = await plan.execute(TOOL, { do: action, value: "fine" });
        expect(result).to.include({ success: true, output: "fine" });
        const warning = await bed.recorder.warned("ESCAPED_ERROR");
        expect(warning).to.include({ planId: plan.planId, toolName: TOOL });
        expect(warning.message).to.contain("late");
        expect(warning.cause).to.be.instanceOf(TypeError);
        const next = await plan.execute(TOOL, { do: "echo", value: 1 });
        expect(next.output).to.equal(1);
        expect(next.trace.cell?.id).not.to.equal(result.trace.cell?.id);
        expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["ok", "ok"]);
      });
    }
  });
}
