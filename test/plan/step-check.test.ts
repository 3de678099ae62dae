import { expect } from "chai";
import { checkPlan } from "../../src/plan/index.js";
import { runtimesOfSuite } from "../support/runtimes.js";
import { planOf, registerTools } from "./plans.js";

describe("plan/step-check", () => {
  const newRuntime = runtimesOfSuite();

  const check = (plan: string | object): string[] => {
    const runtime = newRuntime();
    registerTools(runtime);
    return checkPlan(planOf(plan), runtime).map(({ line, column, message }) => `${line}:${column} ${message}`);
  };

  it("checkPlan() places a `matches` that cannot be used", () => {
    const when = (matches: string): string =>
      `steps:\n  - id: a\n    tool: test/echo\n    when:\n      $from: /plan\n      matches: ${matches}\n`;
    expect(check(when("{ type: strng }"))[0]).to.match(/^6:18 `matches` is no JSON Schema that can be used: must be /);
    expect(check(when("{ properties: { a: { pattern: '(' } } }"))[0]).to.match(/^6:\d+ `matches` is no JSON Schema/);
    expect(check(when("{ $ref: '#/$defs/none' }"))[0]).to.match(/^6:\d+ `matches` is no JSON Schema/);
    expect(check(when("{ type: string }"))).to.deep.equal([]);
    expect(check(when("false"))).to.deep.equal([]);
  });

  it("checkPlan() takes a literal for a list of items", () => {
    const items = (value: unknown): string[] =>
      check({ steps: [{ id: "a", tool: "test/echo", forEach: { items: value } }] });
    expect(items({ $literal: [1, 2] })).to.deep.equal([]);
    expect(items({ a: 1 })[0]).to.include("must be a list");
  });
});
