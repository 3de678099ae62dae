import { expect } from "chai";
import fc from "fast-check";
import { ToolRuntimeError } from "../../src/index.js";
import { Histogram, quantile, type HistogramPoint } from "../../src/runtime/histogram.js";
import { thrownBy } from "../support/outcomes.js";

const FIRST = 1 / 64;
const numbers = fc.array(
  fc.oneof(
    fc.double({ min: 0, max: 1e7, noNaN: true }),
    fc.nat({ max: 30 }).map((power) => FIRST * 2 ** power),
  ),
  { minLength: 1, maxLength: 60 },
);

function pointOf(values: readonly number[], first = FIRST): HistogramPoint {
  const histogram = new Histogram(first);
  for (const value of values) histogram.add(value);
  return histogram.point({});
}

/** The bucket of a number, found by looking through all bounds. */
function bucketOf(value: number, bounds: readonly number[]): number {
  const at = bounds.findIndex((bound) => value <= bound);
  return at < 0 ? bounds.length : at;
}

describe("runtime/histogram", () => {
  it("add() counts each number in the first bucket whose bound is not below it", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const { buckets, bounds, count, sum, min, max } = pointOf(values);
        const expected = Array<number>(bounds.length + 1).fill(0);
        for (const value of values) expected[bucketOf(value, bounds)]!++;
        expect(buckets).to.deep.equal(expected);
        expect(count).to.equal(values.length);
        expect(sum).to.equal(values.reduce((total, value) => total + value, 0));
        expect([min, max]).to.deep.equal([Math.min(...values), Math.max(...values)]);
      }),
    );
  });

  it("point() has bounds that double, and neither least nor greatest of nothing", () => {
    const { bounds, ...empty } = new Histogram(64).point({ tool: "acme/tool" });
    expect(bounds.slice(0, 4)).to.deep.equal([64, 128, 256, 512]);
    expect(bounds).to.have.length(28);
    expect(empty).to.deep.equal({ attributes: { tool: "acme/tool" }, count: 0, sum: 0, buckets: Array(29).fill(0) });
  });

  it("quantile() lies in the bucket of the number itself, and within what was seen", () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const point = pointOf(values);
        const sorted = [...values].sort((one, other) => one - other);
        const exact = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
        const at = bucketOf(exact, point.bounds);
        const estimate = quantile(point, q);
        expect(estimate).to.be.within(
          Math.max(point.bounds[at - 1] ?? 0, sorted[0]!),
          Math.min(point.bounds[at] ?? Infinity, sorted.at(-1)!),
        );
      }),
    );
  });

  it("quantile() of several is that of all their numbers", () => {
    fc.assert(
      fc.property(numbers, numbers, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, q) => {
        expect(quantile([pointOf(one), pointOf(other)], q)).to.equal(quantile(pointOf([...one, ...other]), q));
      }),
    );
  });

  it("quantile() of nothing is nothing", () => {
    expect(quantile([], 0.5)).to.equal(undefined);
    expect(quantile(pointOf([]), 0.5)).to.equal(undefined);
    expect(quantile([pointOf([]), pointOf([3])], 0.5)).to.equal(3);
  });

  it("quantile() refuses what is no quantile, and histograms that do not fit together", () => {
    const wrong = [
      () => quantile([], 99),
      () => quantile([], NaN),
      () => quantile([pointOf([1]), pointOf([1], 64)], 0.5),
    ];
    for (const run of wrong) {
      expect(thrownBy(run)).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_ARGUMENT");
    }
  });
});
