import { expect } from "chai";
import { row } from "../../bench/support/bench.js";
import { chartsOf, drawChart } from "../../bench/support/chart.js";
import { rowAgainst } from "./results.js";

const names = (charts: ReturnType<typeof chartsOf>): string[][] =>
  charts.map(({ marks }) => marks.map(({ name }) => name));

describe("bench/support/chart", () => {
  it("chartsOf() makes one chart of the rows of one question, the best first", () => {
    const question = "How long?";
    const charts = chartsOf([
      rowAgainst("slow", [5, 5, 5], [9, 9, 9], { question }),
      rowAgainst("fast", [5, 5, 5], [1, 1, 1], { question }),
      rowAgainst("alone", [5], [4]),
    ]);
    expect(charts.map((chart) => chart.question)).to.deep.equal([question, "against alone"]);
    expect(names(charts)).to.deep.equal([
      ["fast", "toolcell", "slow"],
      ["alone", "toolcell"],
    ]);
    expect(charts[0]?.marks.map(({ own }) => own)).to.deep.equal([false, true, false]);
  });

  it("chartsOf() knows from the bar or the unit what is better", () => {
    const better = (unit: string, bar?: { atMost: number } | { atLeast: number }) =>
      chartsOf([row({ what: "x", unit, samples: [1], ...(bar && { bar: { of: "measured", ...bar } }) })])[0]?.better;
    expect(better("ms")).to.equal("lower");
    expect(better("calls/s")).to.equal("higher");
    expect(better("×", { atMost: 2 })).to.equal("lower");
    expect(better("×", { atLeast: 2 })).to.equal("higher");
    expect(names(chartsOf([rowAgainst("more", [5], [9], { unit: "calls/s" })]))).to.deep.equal([["more", "toolcell"]]);
  });

  it("drawChart() draws bars to scale, their spread and their samples", () => {
    const [chart] = chartsOf([rowAgainst("peer", [100, 100, 100], [50, 50, 50])]);
    const drawn = String(drawChart(chart!));
    const widths = [...drawn.matchAll(/<rect [^>]*width="([\d.]+)%"/g)].map(([, width]) => Number(width));
    expect(widths).to.have.length(2);
    expect(widths[0]! * 2).to.be.closeTo(widths[1]!, 0.02);
    expect(widths[1]).to.be.within(50, 100);
    expect(drawn.match(/<circle /g)).to.have.length(6);
    expect(drawn.match(/class="spread"/g)).to.have.length(2);
    expect(drawn).to.include('aria-label="peer: 50 ms, nine of ten samples above 50, nine of ten below 50"');
    expect(drawn).to.include("<text").and.to.include(">100</text");
  });

  it("drawChart() leaves out what is not known, and dots where there would be too many", () => {
    const many = Array.from({ length: 300 }, (_, index) => index);
    expect(String(drawChart(chartsOf([row({ what: "many", unit: "ms", samples: many })])[0]!))).to.not.include(
      "<circle",
    );
    const none = chartsOf([rowAgainst("none", [3], [])]);
    expect(names(none)).to.deep.equal([["toolcell", "none"]]);
    const drawn = String(drawChart(none[0]!));
    expect(drawn)
      .to.include("none: no figure")
      .and.to.not.match(/NaN|Infinity|undefined/);
    // A file has null where there was no number.
    const read = JSON.parse(JSON.stringify([rowAgainst("none", [], [])])) as Parameters<typeof chartsOf>[0];
    expect(String(drawChart(chartsOf(read)[0]!))).to.not.match(/NaN|Infinity|null/);
    expect(String(drawChart(chartsOf([row({ what: "zero", unit: "ms", samples: [0] })])[0]!))).to.not.match(
      /NaN|Infinity/,
    );
  });
});
