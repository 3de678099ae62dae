import { expect } from "chai";
import { ToolRuntime, type Plan, type ToolRuntimeOptions } from "../../src/index.js";

const BEE = "fixture/worker-bee";
/** Long enough that a flood does not fit into a cell's least tenure. */
const WORK = 5_000_000;

async function withRuntime(options: ToolRuntimeOptions, run: (runtime: ToolRuntime) => Promise<void>): Promise<void> {
  await using runtime = new ToolRuntime({ spareCells: 0, graceMs: 1_000, ...options });
  await runtime.registerModule(new URL("../fixtures/tools/worker-bee.js", import.meta.url));
  await runtime.registerModule(new URL("../fixtures/tools/delegate.js", import.meta.url));
  await run(runtime);
}

const started = (plan: Plan): Promise<unknown> => plan.execute(BEE, {});

describe("CellSupply", function () {
  this.timeout(60_000);

  it("wait() gives a flooded cell to another plan after the call that runs", async () => {
    await withRuntime({ maxLiveCells: 1 }, async (runtime) => {
      const flood = runtime.plan({ planId: "flood" });
      const other = runtime.plan({ planId: "other" });
      await started(flood);
      let finished = 0;
      const flooding = Array.from({ length: 30 }, async () => {
        await flood.execute(BEE, { work: WORK });
        finished++;
      });
      await flooding[0];
      const before = finished;
      const { success } = await other.execute(BEE, {});
      expect(success).to.equal(true);
      // The call that ran when the other plan asked, and one that may have started in the same moment.
      expect(finished - before).to.be.at.most(2);
      await Promise.all(flooding);
      expect(finished).to.equal(30);
    });
  });

  it("wait() lets another plan wait for one call of each cell, however many are queued before it", async () => {
    const cells = 2;
    await withRuntime({ maxLiveCells: cells, maxCellsPerTool: cells }, async (runtime) => {
      const flood = runtime.plan({ planId: "flood" });
      const other = runtime.plan({ planId: "other" });
      let finished = 0;
      const flooding = Array.from({ length: 10_000 }, async () => {
        await flood.execute(BEE, { work: WORK });
        finished++;
      });
      const ended = Promise.allSettled(flooding);
      await Promise.race(flooding);
      const before = finished;
      expect((await other.execute(BEE, {})).success).to.equal(true);
      // In each cell the call that ran, and one that may have started in the same moment.
      expect(finished - before).to.be.at.most(cells * 2);
      await flood.deactivate();
      await ended;
      expect(flood.context.summary().traceCount).to.equal(10_000);
    });
  });

  it("wait() serves many plans with few cells, each call once", async () => {
    await withRuntime({ maxLiveCells: 2 }, async (runtime) => {
      const plans = Array.from({ length: 40 }, (_, index) => runtime.plan({ planId: `plan-${index}` }));
      const results = await Promise.all(
        plans.flatMap((plan) => [
          plan.execute(BEE, { work: 10 }),
          plan.execute(BEE, { work: 20 }),
          plan.execute(BEE, { work: 30 }),
        ]),
      );
      expect(results.every(({ success }) => success)).to.equal(true);
      expect(plans.map(({ context }) => context.summary().traceCount)).to.deep.equal(plans.map(() => 3));
      await Promise.all(plans.map((plan) => plan.deactivate()));
    });
  });

  it("withdraw() of a call that has not left yet gives its cell up to another plan", async () => {
    await withRuntime({ maxLiveCells: 1 }, async (runtime) => {
      const plans = ["one", "other"].map((planId) => runtime.plan({ planId }));
      await plans[0]?.execute(BEE, { work: WORK });
      for (let round = 0; round < 20; round++) {
        const results = await Promise.all(plans.map((plan) => plan.execute(BEE, {})));
        expect(results.every(({ success }) => success)).to.equal(true);
      }
    });
  });

  it("activate() that waits in line keeps its activation when a neighbour's cell dies", async () => {
    await withRuntime({ maxLiveCells: 1, graceMs: 10 }, async (runtime) => {
      const pinned = runtime.plan({ planId: "pinned" });
      await pinned.execute("fixture/delegate", { tool: "fixture/none", input: {} });
      const waiting = runtime.plan({ planId: "waiting" });
      const activated = waiting.activate("fixture/delegate");
      waiting.cancel();
      expect(await activated.catch((error: unknown) => error)).to.have.property("code", "CANCELLED");
      await pinned.deactivate();
      expect((await runtime.plan({ planId: "next" }).execute(BEE, {})).success).to.equal(true);
    });
  });

  it("takeUrgently() starts one cell for several nested calls of a tool that keeps state", async () => {
    await withRuntime({ maxLiveCells: 3 }, async (runtime) => {
      await Promise.all(["a", "b"].map((planId) => started(runtime.plan({ planId }))));
      const cells: string[] = [];
      runtime.on("cell", ({ type, toolName, cell }) => {
        if (type === "started" && toolName === "fixture/racer") cells.push(cell.id);
      });
      await runtime.registerModule(new URL("../fixtures/tools/racer.js", import.meta.url));
      const plan = runtime.plan({ planId: "nested" });
      const input = { until: "none", work: 1 };
      const { output } = await plan.execute("fixture/delegate", { tool: "fixture/racer", input, times: 3 });
      expect(output).to.have.length(3);
      expect(cells).to.have.length(1);
    });
  });

  it("takeUrgently() gives a nested call an idle cell at once, or tells it that all are exhausted", async () => {
    await withRuntime({ maxLiveCells: 2 }, async (runtime) => {
      const idle = runtime.plan({ planId: "idle" });
      await started(idle);
      const plan = runtime.plan({ planId: "nested" });
      const reclaimed = await plan.execute("fixture/delegate", { tool: BEE, input: {} });
      expect(reclaimed.output).to.deep.equal([0]);
      // The delegate holds one cell; a second one that is pinned leaves none for the nested call.
      await plan.deactivate();
      const pinned = runtime.plan({ planId: "pinned" });
      await pinned.execute("fixture/delegate", { tool: "fixture/none", input: {} });
      const exhausted = await plan.execute("fixture/delegate", { tool: BEE, input: {} });
      expect(exhausted.output).to.deep.equal(["CELLS_EXHAUSTED"]);
    });
  });

  it("wait() holds nothing: a call that finds every cell pinned ends at its deadline", async () => {
    await withRuntime({ maxLiveCells: 1 }, async (runtime) => {
      const pinned = runtime.plan({ planId: "pinned" });
      await pinned.execute("fixture/delegate", { tool: "fixture/none", input: {} });
      const plan = runtime.plan({ planId: "waits" });
      const error: unknown = await plan.execute(BEE, {}, { timeoutMs: 50 }).catch((cause: unknown) => cause);
      expect(error).to.include({ code: "TIMED_OUT", outcome: "timed_out" });
      await pinned.deactivate();
      expect((await plan.execute(BEE, {})).success).to.equal(true);
    });
  });

  it("growFor() spreads a stateless tool's calls over its cells", async () => {
    await withRuntime({ maxLiveCells: 4, maxCellsPerTool: 3 }, async (runtime) => {
      const plan = runtime.plan({ planId: "wide" });
      const results = await Promise.all(Array.from({ length: 24 }, () => plan.execute(BEE, { work: WORK })));
      const cells = new Set(results.map(({ trace }) => trace.cell?.id));
      expect(cells.size).to.equal(3);
    });
  });
});
