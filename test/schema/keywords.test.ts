import { expect } from "chai";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { holds, keywords } from "./questions.js";

const hasB = { required: ["b"], properties: { b: true } };

describe("schema/keywords", () => {
  it("check() knows what was evaluated before a branch that is not taken", () => {
    const $defs = { base: { properties: { a: true } } };
    const branching: Record<string, JsonSchema> = {
      anyOf: { anyOf: [hasB, { required: ["a"] }] },
      oneOf: { oneOf: [hasB, { not: { required: ["b"] } }] },
      if: { if: hasB },
      then: { if: { required: ["b"] }, then: { properties: { b: true } } },
      else: { if: { not: { required: ["b"] } }, else: { properties: { b: true } } },
      dependentSchemas: { dependentSchemas: { b: { properties: { b: true } } } },
    };
    for (const [keyword, schema] of Object.entries(branching)) {
      const whole = { $defs, $ref: "#/$defs/base", ...(schema as object), unevaluatedProperties: false };
      expect(holds(whole, { a: 1 }), keyword).to.equal(true);
      expect(holds(whole, { a: 1, b: 1 }), keyword).to.equal(true);
      expect(keywords(whole, { a: 1, c: 1 }), keyword).to.deep.equal(["unevaluatedProperties"]);
    }
  });

  it("check() counts what an if evaluated only where it held", () => {
    const guarded = { if: hasB, then: { properties: { c: true } }, unevaluatedProperties: false };
    expect(holds(guarded, { b: 1, c: 1 })).to.equal(true);
    expect(holds(guarded, { c: 1 })).to.equal(false);
    const otherwise = { if: { properties: { a: { const: 1 } } }, else: true, unevaluatedProperties: false };
    expect(holds(otherwise, { a: 1 })).to.equal(true);
    expect(holds(otherwise, { a: 2 })).to.equal(false);
    const named = { if: { required: ["a"] }, then: false, else: { maxProperties: 0 }, unevaluatedProperties: true };
    expect(keywords(named, { a: 1 })).to.deep.equal(["false schema", "if"]);
    expect(keywords(named, { b: 1 })).to.deep.equal(["maxProperties", "if"]);
    expect(holds(named, {})).to.equal(true);
  });

  it("check() looks at exactly the items that no branch evaluated", () => {
    const texts = { anyOf: [{ items: { type: "string" } }, true], unevaluatedItems: { type: "boolean" } };
    expect(holds(texts, ["yes", "no"])).to.equal(true);
    expect(holds(texts, [true, false])).to.equal(true);
    expect(holds(texts, ["yes", false])).to.equal(false);
    const $defs = { first: { prefixItems: [true] } };
    const second = { $defs, $ref: "#/$defs/first", anyOf: [{ prefixItems: [true, { const: 1 }], minItems: 2 }, true] };
    const closed = { ...second, unevaluatedItems: false };
    expect(holds(closed, [0])).to.equal(true);
    expect(holds(closed, [0, 1])).to.equal(true);
    expect(holds(closed, [0, 2])).to.equal(false);
  });
});
