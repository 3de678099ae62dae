import { expect } from "chai";
import { describeViolations } from "../../src/schema/violations.js";
import { check } from "./questions.js";

describe("schema/violations", () => {
  it("describeViolations() stays on one short line whatever the data holds", () => {
    const name = `a\nb\u2028${"x".repeat(10_000)}`;
    const text = describeViolations(check({ additionalProperties: { type: "string" } }, { [name]: 1 }) ?? []);
    expect(text).to.match(/^\/a\\u000ab\\u2028x+… must be string$/);
    expect(text.length).to.be.lessThan(200);
  });

  it("describeViolations() names the property or the values at fault", () => {
    const closed = check({ properties: { a: true }, additionalProperties: false }, { b: 1 }) ?? [];
    expect(describeViolations(closed)).to.equal('value must NOT have additional properties ("b")');
    expect(describeViolations(check({ enum: ["a", 1] }, "b") ?? [])).to.equal(
      'value must be equal to one of the allowed values ("a", 1)',
    );
  });
});
