import { expect } from "chai";
import fc from "fast-check";
import { OUTCOMES, PHASES, type ToolExecutionTrace } from "../../src/protocol/trace.js";
import { CallMeter } from "../../src/runtime/call-meter.js";
import { traceOfTool } from "../support/runtimes.js";

const traces: fc.Arbitrary<ToolExecutionTrace[]> = fc
  .array(
    fc.record({
      toolName: fc.constantFrom("acme/a", "acme/b", "acme/none"),
      outcome: fc.constantFrom(...OUTCOMES),
      durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
      resultSizeBytes: fc.nat(),
      attempt: fc.integer({ min: 1, max: 3 }),
    }),
  )
  .map((all) => all.map((rest) => ({ ...traceOfTool(rest.toolName), ...rest })));

const sumOf = (points: readonly { readonly value: number }[]): number =>
  points.reduce((sum, { value }) => sum + value, 0);
const countOf = (points: readonly { readonly count: number }[]): number =>
  points.reduce((sum, { count }) => sum + count, 0);

describe("runtime/call-meter", () => {
  it("ended() counts every call once in each of its tables", () => {
    fc.assert(
      fc.property(traces, (all) => {
        const meter = new CallMeter((name) => name !== "acme/none");
        for (const trace of all) meter.ended(trace, 2);
        expect(meter.over).to.equal(all.length);
        expect(meter.moved).to.equal(all.length * 2);
        expect(meter.retried).to.equal(all.filter(({ attempt }) => attempt > 1).length);
        expect(sumOf(meter.outcomes())).to.equal(all.length);
        expect(countOf(meter.durations())).to.equal(all.length);
        expect(meter.phases().map(({ count }) => count)).to.deep.equal(PHASES.map(() => all.length));
        expect(meter.resultBytes().count).to.equal(all.filter(({ outcome }) => outcome === "ok").length);
        for (const { attributes, value } of meter.outcomes()) {
          const name = attributes.tool === "other" ? "acme/none" : attributes.tool;
          const same = all.filter(({ toolName, outcome }) => toolName === name && outcome === attributes.outcome);
          expect(value).to.equal(same.length);
        }
      }),
    );
  });

  it("ended() keeps the names of 200 tools and counts the calls of the others together", () => {
    const meter = new CallMeter(() => true);
    for (let round = 0; round < 2; round++)
      for (let tool = 0; tool < 250; tool++) meter.ended(traceOfTool(`acme/tool-${tool}`), 0);
    const points = meter.outcomes();
    expect(points).to.have.length(201);
    expect(points.at(-1)).to.deep.equal({ attributes: { tool: "other", outcome: "ok" }, value: 100 });
  });

  it("ended() keeps no name of a tool that is not registered", () => {
    const meter = new CallMeter(() => false);
    for (let tool = 0; tool < 5; tool++)
      meter.ended({ ...traceOfTool(`made/up-${tool}`), outcome: "not_registered" }, 0);
    expect(meter.outcomes()).to.deep.equal([{ attributes: { tool: "other", outcome: "not_registered" }, value: 5 }]);
  });

  it("phases() sums up each phase", () => {
    const meter = new CallMeter(() => true);
    const phases = Object.fromEntries(PHASES.map((phase, at) => [phase, at + 1])) as ToolExecutionTrace["phases"];
    for (let call = 0; call < 3; call++) meter.ended({ ...traceOfTool("acme/tool"), phases }, 0);
    expect(meter.phases().map(({ attributes, sum }) => [attributes.phase, sum])).to.deep.equal(
      PHASES.map((phase, at) => [phase, (at + 1) * 3]),
    );
  });
});
