import { expect } from "chai";
import { pageOf } from "../../bench/support/page.js";
import { resultOf, rowAgainst } from "./results.js";

describe("bench/support/page", () => {
  it("pageOf() tells what was measured, when and on what, in charts and in numbers", () => {
    const rows = [
      rowAgainst("peer", [20, 20, 20], [10, 10, 10], { bar: { of: "ratio", atMost: 1 }, note: "uses `abort()`" }),
      rowAgainst("other", [2, 2, 2], [10, 10, 10], { bar: { of: "measured", atMost: 5 } }),
    ];
    const page = pageOf([resultOf(rows), resultOf([], { name: "size", title: "Size", quick: true })]);
    expect(page).to.match(/^<!doctype html>/);
    for (const text of [
      ...['<a href="#speed">Speed</a>', "<h2>Speed</h2>", "With care.", "2026-01-02 03:04 UTC", "Node 20.0.0"],
      ...["A CPU", "load 0.5", '<a href="speed.json">', "<h3>against peer</h3>", "ms, lower is better"],
      ...["<strong>1 of 2</strong> figures", "uses <code>abort()</code>", "toolcell ÷ it", "<td>2 ×</td>"],
    ]) {
      expect(page).to.include(text);
    }
    expect(page.match(/A quick look/g)).to.have.length(1);
    const lines = [...page.matchAll(/<tr class="(own|)">([^]*?)<\/tr>/g)].map(([, own, cells]) => [own, cells]);
    const verdicts = lines.map(([own, cells]) => [own, /class="(yes|no)"/.exec(cells ?? "")?.[1]]);
    // A ratio is said of the peer, a measured value of toolcell.
    expect(verdicts).to.deep.equal([
      ["", "no"],
      ["own", undefined],
      ["own", "yes"],
      ["", undefined],
    ]);
  });

  it("pageOf() writes text of every origin as text", () => {
    const hostile = `"><script>alert('x')</script>&`;
    const rows = [
      rowAgainst(hostile, [1], [2], { question: hostile, unit: hostile, note: hostile, name: `${hostile}!` }),
      rowAgainst("peer", [1], [2], { what: hostile }),
    ];
    const machine = { ...resultOf([]).machine, cpu: hostile };
    const page = pageOf([resultOf(rows, { name: hostile, title: hostile, how: hostile, at: hostile, machine })]);
    expect(page).to.not.include("<script").and.to.not.include("'x'");
    expect(page.match(/&#62;&#60;script&#62;alert\(&#39;x&#39;\)/g)?.length).to.be.greaterThan(10);
  });

  it("pageOf() stands alone, in light and dark, at any width", () => {
    const page = pageOf([resultOf([rowAgainst("peer", [1], [2])])]);
    expect(page).to.not.match(/https?:|\bsrc=|<link|@import|url\(/);
    expect(page)
      .to.include('name="viewport"')
      .and.to.include("prefers-color-scheme: dark")
      .and.to.include("max-width: 34rem");
    const open = [...page.matchAll(/<(main|section|figure|table|svg|div|ul)\b/g)].length;
    expect(open).to.equal([...page.matchAll(/<\/(main|section|figure|table|svg|div|ul)\b/g)].length);
  });

  it("pageOf() says so where nothing was measured", () => {
    expect(pageOf([])).to.include("Nothing has been measured yet.");
  });
});
