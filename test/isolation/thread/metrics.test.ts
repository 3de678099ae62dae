import { expect } from "chai";
import { rejection } from "../../contract/recorder.js";
import { ThreadBed } from "./thread-bed.js";

const MISBEHAVE = "fixture/misbehave";
const BEE = "fixture/worker-bee";

describe("metrics of cells", function () {
  this.timeout(60_000);
  const bed = new ThreadBed();

  const sumsBy = (
    name: "toolcell.call.ended" | "toolcell.cell.started" | "toolcell.cell.ended",
    attribute: string,
  ): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { attributes, value } of bed.runtime.metrics().counters[name].points) {
      const of = attributes[attribute]!;
      sums[of] = (sums[of] ?? 0) + value;
    }
    return sums;
  };
  const gauge = (name: keyof ReturnType<typeof bed.runtime.metrics>["gauges"]): number | undefined =>
    bed.runtime.metrics().gauges[name].points[0]?.value;

  it("metrics() counts kills and crashes, of calls and of cells", async () => {
    bed.open({ graceMs: 0 });
    await bed.tools("misbehave");
    const plan = bed.plan();
    await plan.execute(MISBEHAVE, { do: "echo", value: 1 });
    await rejection(plan.execute(MISBEHAVE, { do: "spin" }, { timeoutMs: 20 }));
    await rejection(plan.execute(MISBEHAVE, { do: "exit", count: 1 }));
    await plan.execute(MISBEHAVE, { do: "echo", value: 2 });
    await plan.deactivate();
    expect(sumsBy("toolcell.call.ended", "outcome")).to.deep.equal({ ok: 2, killed: 1, crashed: 1 });
    expect(sumsBy("toolcell.cell.started", "origin")).to.deep.equal({ cold: 3 });
    expect(sumsBy("toolcell.cell.ended", "end")).to.deep.equal({ killed: 1, crashed: 1, released: 1 });
    expect(plan.context.traces).to.have.length(4);
  });

  it("metrics() tells a worker that is leased again from a new one", async () => {
    await bed.runtime.registerModule(new URL("../../fixtures/tools/worker-bee.js", import.meta.url));
    for (let round = 0; round < 3; round++) {
      const plan = bed.plan();
      await plan.execute(BEE, {});
      expect([gauge("toolcell.cell.live"), gauge("toolcell.cell.warm")]).to.deep.equal([1, 0]);
      await plan.deactivate();
      expect([gauge("toolcell.cell.live"), gauge("toolcell.cell.warm")]).to.deep.equal([0, 1]);
    }
    expect(sumsBy("toolcell.cell.started", "origin")).to.deep.equal({ cold: 1, warm: 2 });
  });

  it("health() says so where calls wait for cells that are all pinned", async () => {
    bed.open({ maxLiveCells: 1 });
    await bed.tools("misbehave");
    await bed.runtime.registerModule(new URL("../../fixtures/tools/worker-bee.js", import.meta.url));
    const pinned = bed.plan();
    await pinned.execute(MISBEHAVE, { do: "echo", value: 1 });
    const pinnedOnly = bed.runtime.health().reasons.map(({ code }) => code);
    expect(pinnedOnly).not.to.include("CELLS_PINNED");
    const waits = bed.plan().execute(BEE, {});
    await new Promise((resolve) => setImmediate(resolve));
    const { status, reasons, waitingCalls, liveCells } = bed.runtime.health();
    expect({ status, waitingCalls, liveCells }).to.deep.equal({ status: "degraded", waitingCalls: 1, liveCells: 1 });
    expect(reasons.map(({ code }) => code)).to.include("CELLS_PINNED");
    expect([gauge("toolcell.cell.pinned"), gauge("toolcell.activation.waiting")]).to.deep.equal([1, 1]);
    await pinned.deactivate();
    expect((await waits).success).to.equal(true);
  });
});
