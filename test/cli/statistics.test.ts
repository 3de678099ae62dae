import { expect } from "chai";
import { greatest, quantile } from "../../src/cli/statistics.js";

describe("statistics", () => {
  it("greatest() takes more samples than a call has arguments", () => {
    const samples = Array.from({ length: 200_000 }, (_, index) => index);
    expect(greatest(samples)).to.equal(199_999);
    expect(greatest([-3, -2])).to.equal(-2);
    expect(greatest([])).to.be.NaN;
  });

  it("quantile() interpolates", () => {
    expect(quantile([4, 1, 3, 2], 0.5)).to.equal(2.5);
    expect(quantile([], 0.5)).to.be.NaN;
  });
});
