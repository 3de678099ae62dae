import { expect } from "chai";
import { checkPlan } from "../../src/plan/index.js";
import { runtimesOfSuite, specOf } from "../support/runtimes.js";
import { outcomesOf, planOf, registerTools, run } from "./plans.js";

const from = (pointer = "/steps/list/output"): object => ({ $from: pointer });

describe("plan/input-check", () => {
  const newRuntime = runtimesOfSuite();

  /** What is wrong with an input by a schema; the step `list` comes before. */
  const check = (inputSchema: Record<string, unknown>, input: unknown): string[] => {
    const runtime = newRuntime();
    registerTools(runtime);
    runtime.register(specOf("test/tool", { inputSchema }), { execute: () => 1 });
    const steps = [
      { id: "list", tool: "test/list" },
      { id: "a", tool: "test/tool", input },
    ];
    return checkPlan(planOf({ steps }), runtime).map(({ message }) => message.replace('the input of "test/tool" ', ""));
  };

  const closed = {
    type: "object",
    properties: { path: { type: "string", pattern: "^[a-z.]+$" }, lines: { type: "integer" } },
    required: ["path"],
    additionalProperties: false,
  };

  it("checkPlan() takes a `$literal` for its value", () => {
    expect(check(closed, { path: { $literal: "a.txt" } })).to.deep.equal([]);
    expect(check(closed, { $literal: { path: "a.txt" } })).to.deep.equal([]);
    expect(check(closed, { path: { $literal: "a.txt" }, lines: from() })).to.deep.equal([]);
    expect(check(closed, { path: { $literal: 5 } })).to.deep.equal(["at /path must be string"]);
    expect(check(closed, { $literal: { path: from() } })).to.deep.equal(["at /path must be string"]);
    expect(check(closed, { $literal: {} })[0]).to.include("required property 'path'");
  });

  it("checkPlan() takes a `$text` of what is known for its text", () => {
    expect(check(closed, { path: { $text: ["a", ".txt"] } })).to.deep.equal([]);
    expect(check(closed, { path: { $text: [{ $literal: "a" }, ".txt"] }, lines: from() })).to.deep.equal([]);
    expect(check(closed, { path: { $text: ["a", 5] } })[0]).to.include("at /path must match pattern");
    expect(check(closed, { path: "a", lines: { $text: ["5"] } })).to.deep.equal(["at /lines must be integer"]);
  });

  it("checkPlan() takes a `$text` with a `$from` for a text that is not known", () => {
    expect(check(closed, { path: { $text: ["A", from()] } })).to.deep.equal([]);
    expect(check(closed, { path: "a", lines: { $text: [from()] } })).to.deep.equal(["at /lines must be integer"]);
    expect(check({ anyOf: [{ type: "integer" }, { minLength: 2 }] }, { $text: [from()] })).to.deep.equal([]);
  });

  it("checkPlan() sees the form of what holds a value that is not known", () => {
    const schema = { properties: { a: { type: "string" }, b: { minItems: 2 }, c: { uniqueItems: true } } };
    expect(check(schema, { a: { x: from() } })).to.deep.equal(["at /a must be string"]);
    expect(check(schema, { b: [from()] })[0]).to.include("at /b must NOT have fewer than 2 items");
    expect(check(schema, { c: [from(), null] })).to.deep.equal([]);
  });

  it("checkPlan() refuses nothing by a branch that a value chooses which is not known", () => {
    const branches = {
      properties: { mode: { type: "string" }, a: {}, b: {} },
      required: ["mode"],
      if: { properties: { mode: { const: "x" } } },
      then: { required: ["a"], properties: { a: { type: "string" } } },
      else: { allOf: [{ required: ["b"] }] },
    };
    expect(check(branches, { mode: from(), a: 1 })).to.deep.equal([]);
    expect(check(branches, { mode: from() })).to.deep.equal([]);
    expect(check(branches, { a: from() })[0]).to.include("required property 'mode'");
    expect(check(branches, { mode: "x", b: 1 }).join()).to.include("required property 'a'");
    const kind = (name: string, field: string): object => ({
      properties: { kind: { const: name }, [field]: {} },
      required: ["kind", field],
      additionalProperties: false,
    });
    for (const keyword of ["oneOf", "anyOf"]) {
      const choice = { [keyword]: [kind("a", "x"), kind("b", "y")] };
      expect(check(choice, { kind: from(), x: 1 }), keyword).to.deep.equal([]);
      expect(check(choice, { kind: "c", x: 1 }), keyword).not.to.deep.equal([]);
    }
    const dependent = {
      dependentSchemas: { a: { if: { properties: { a: { const: 1 } } }, then: { required: ["b"] } } },
    };
    expect(check(dependent, { a: from() })).to.deep.equal([]);
    const contained = { contains: { required: ["a"] } };
    expect(check(contained, [from(), {}])).to.deep.equal([]);
  });

  it("checkPlan() refuses by a branch of which all is known", () => {
    const inner = { if: { required: ["a"] }, then: { required: ["b"] } };
    const schema = { properties: { inner, items: { items: inner } } };
    expect(check(schema, { other: from(), inner: { a: 1 } }).join()).to.include("required property 'b'");
    expect(check(schema, { inner: { a: from() } })).to.deep.equal([]);
    expect(check(schema, { items: [{ a: from() }, { a: 1 }] }).join()).to.include("at /items/1 must have required");
    expect(check(schema, { items: [{ a: from() }] })).to.deep.equal([]);
  });

  it("checkPlan() refuses by a schema that is referred to only where no branch may lead there", () => {
    const $defs = { side: { type: "object", required: ["text"] } };
    const plain = { $defs, properties: { left: { $ref: "#/$defs/side" } } };
    expect(check(plain, { left: {}, right: from() })).to.deep.equal(["at /left must have required property 'text'"]);
    const branching = { $defs, if: { properties: { mode: { const: "x" } } }, then: { $ref: "#/$defs/side" } };
    expect(check(branching, { mode: from() })).to.deep.equal([]);
  });

  it("runPlan() runs what the check lets through", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    runtime.register(specOf("test/tool", { inputSchema: closed }), { execute: ({ path }: { path: string }) => path });
    const report = await run(runtime, {
      steps: [
        { id: "list", tool: "test/list" },
        { id: "literal", tool: "test/tool", input: { $literal: { path: "a.txt" } } },
        {
          id: "text",
          tool: "test/tool",
          input: { path: { $text: ["a", ".txt"] }, lines: from("/steps/list/output/1/index") },
        },
      ],
    });
    expect(outcomesOf(report)).to.deep.equal({ list: "ok", literal: "ok", text: "ok" });
  });
});
