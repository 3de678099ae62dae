import { expect } from "chai";
import { CellMeter } from "../../src/runtime/cell-meter.js";
import type { CellEvent } from "../../src/runtime/runtime-events.js";

const event = (rest: Partial<CellEvent>): CellEvent => ({
  type: rest.end ? "ended" : "started",
  planId: "plan",
  toolName: "acme/tool",
  cell: { id: "thread-1", tier: "thread" },
  ...rest,
});

describe("runtime/cell-meter", () => {
  it("heard() counts beginnings by origin, ends by kind, recycled cells by reason", () => {
    const meter = new CellMeter();
    for (const origin of ["cold", "spare", "warm", "warm"] as const) meter.heard(event({ origin }));
    meter.heard(event({ end: { kind: "released" }, recycled: "heap" }));
    meter.heard(event({ end: { kind: "killed" } }));
    meter.heard(event({ end: { kind: "killed" } }));
    const tier = "thread";
    expect(meter.started()).to.deep.equal([
      { attributes: { tier, origin: "cold" }, value: 1 },
      { attributes: { tier, origin: "spare" }, value: 1 },
      { attributes: { tier, origin: "warm" }, value: 2 },
    ]);
    expect(meter.ended()).to.deep.equal([
      { attributes: { tier, end: "released" }, value: 1 },
      { attributes: { tier, end: "killed" }, value: 2 },
    ]);
    expect(meter.recycled()).to.deep.equal([{ attributes: { reason: "heap" }, value: 1 }]);
  });

  it("started() gives numbers that stay as they are", () => {
    const meter = new CellMeter();
    meter.heard(event({ origin: "cold" }));
    const [before] = meter.started();
    meter.heard(event({ origin: "cold" }));
    expect(before?.value).to.equal(1);
  });
});
