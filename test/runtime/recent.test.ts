import { expect } from "chai";
import fc from "fast-check";
import { Recent } from "../../src/runtime/recent.js";

describe("runtime/recent", () => {
  it("Recent() keeps the newest, oldest first, and counts all", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(fc.integer(), { maxLength: 100 }), (limit, values) => {
        const recent = new Recent<number>(limit);
        for (const [index, value] of values.entries()) {
          recent.add(value);
          expect(recent.count).to.equal(index + 1);
          expect(recent.members).to.deep.equal(values.slice(0, index + 1).slice(-limit));
        }
      }),
      { numRuns: 100 },
    );
  });

  it("Recent() starts empty", () => {
    const recent = new Recent<number>(3);
    expect(recent.members).to.deep.equal([]);
    expect(recent.count).to.equal(0);
  });
});
