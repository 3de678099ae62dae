import { expect } from "chai";
import fc from "fast-check";
import { checkPlan, parsePlan } from "../../src/plan/index.js";
import { ToolRuntimeError } from "../../src/index.js";
import { codeOf, thrownBy } from "../support/outcomes.js";
import { runtimesOfSuite, specOf } from "../support/runtimes.js";
import { planOf, registerTools } from "./plans.js";

const problemsOf = (text: string): string[] => {
  const error = thrownBy(() => parsePlan(text, { file: "p.yaml", folder: "/" }));
  expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_PLAN");
  return (error as Error).message.split("\n").slice(1);
};

describe("plan/check", () => {
  const newRuntime = runtimesOfSuite();

  const check = (plan: string | object, params: string[] = []): string[] => {
    const runtime = newRuntime();
    registerTools(runtime);
    const closed = {
      type: "object",
      properties: {
        total: {},
        files: { type: "array", items: { type: "object", properties: { path: {} }, additionalProperties: false } },
      },
      additionalProperties: false,
    };
    runtime.register(
      specOf("test/typed", {
        inputSchema: {
          type: "object",
          properties: { path: { type: "string" }, lines: { type: "integer" } },
          required: ["path"],
          additionalProperties: false,
        },
        outputSchema: closed,
      }),
      { execute: () => ({}) },
    );
    return checkPlan(planOf(plan), runtime, params).map(({ line, column, message }) => `${line}:${column} ${message}`);
  };

  it("parsePlan() places what is no YAML", () => {
    expect(problemsOf("steps:\n  - id: a\n   tool: b\n")[0]).to.match(/^p\.yaml:3:\d+ /);
    expect(problemsOf("steps: []\nsteps: []\n")).to.deep.equal(["p.yaml:2:1 Map keys must be unique"]);
    expect(problemsOf('{ "steps": [ }')[0]).to.match(/^p\.yaml:1:14 /);
  });

  it("parsePlan() places what has the wrong form", () => {
    expect(problemsOf("plan: x\nsteps:\n  - id: a\n    tool: b\n    tmeoutMs: 3\n")).to.deep.equal([
      'p.yaml:5:5 a plan has no field "tmeoutMs" here; did you mean "timeoutMs"?',
    ]);
    expect(problemsOf("plan: x")).to.deep.equal(["p.yaml:1:1 a plan must have required property 'steps'"]);
    expect(problemsOf("[]")[0]).to.match(/must be object/);
    expect(problemsOf("")[0]).to.match(/must be object/);
  });

  it("checkPlan() places names that are not there, and says which was meant", () => {
    const yaml = [
      "params:",
      "  who: { default: me }",
      "steps:",
      "  - id: one",
      "    tool: test/ecko",
      "  - id: two",
      "    tool: echo",
      "    after: [oen]",
      "  - id: three",
      "    tool: test/echo",
      "    input: { a: { $from: /steps/on/output }, b: { $from: /params/whom }, c: { $from: /steps/two/ouput } }",
      "  - id: three",
      "    tool: test/echo",
      "    input: { $from: /stps/one/output }",
    ].join("\n");
    expect(check(yaml, ["wo"])).to.deep.equal([
      '1:1 the plan has no parameter "wo"; did you mean "who"?',
      '5:5 no tool "test/ecko" is registered; did you mean "test/echo"?',
      '7:5 no tool "echo" is registered; did you mean "test/echo"?',
      '8:13 there is no step "oen"; did you mean "one"?',
      '11:14 there is no step "on"; did you mean "one"?',
      '11:46 the plan has no parameter "whom"; did you mean "who"?',
      '11:74 a step has no `ouput`; did you mean "output"?; it has output, outcome, error, items, attempts',
      '12:5 two steps are named "three"',
      '14:5 `/stps/one/output` leads nowhere; did you mean "steps"?: a pointer starts with /params, /steps, /item, /index, /plan',
    ]);
  });

  it("checkPlan() refuses a step that the plan's own flags refuse, unless it may fail", () => {
    const runtime = newRuntime();
    runtime.register(specOf("test/writes", { capability: { writes: true, checkpointable: false } }), {
      execute: () => 1,
    });
    const messages = (flags: object, rest: object = {}): string[] =>
      checkPlan(planOf({ ...flags, steps: [{ id: "a", tool: "test/writes", ...rest }] }), runtime).map(
        ({ message }) => message,
      );
    expect(messages({})).to.deep.equal([]);
    expect(messages({ readOnly: true })).to.deep.equal(['the plan is read-only and "test/writes" writes']);
    expect(messages({ requireCheckpoints: true })[0]).to.include("cannot give one");
    expect(messages({ readOnly: true, requireCheckpoints: true }, { continueOnError: true })).to.deep.equal([]);
  });

  it("checkPlan() finds circles, also of one step and through values", () => {
    const steps = (links: Record<string, string[]>) => ({
      steps: Object.entries(links).map(([id, after]) => ({ id, tool: "test/echo", after })),
    });
    expect(check(steps({ a: ["a"] }))[0]).to.include("circle: a → a");
    expect(check(steps({ x: [], a: ["x", "c"], b: ["a"], c: ["b"] }))[0]).to.match(/circle: a → c → b → a/);
    expect(check(steps({ a: [], b: ["a"], c: ["a", "b"] }))).to.deep.equal([]);
    const values = { steps: [{ id: "a", tool: "test/echo", input: { $from: "/steps/a/output" } }] };
    expect(check(values)[0]).to.include("circle: a → a");
  });

  it("checkPlan() checks inputs as far as they are known", () => {
    const step = (input: unknown) => ({
      steps: [
        { id: "a", tool: "test/list" },
        { id: "b", tool: "test/typed", input },
      ],
    });
    expect(check(step({ path: "x", lines: 3 }))).to.deep.equal([]);
    expect(check(step({ path: { $from: "/steps/a/output/0/name" } }))).to.deep.equal([]);
    expect(check(step({ $from: "/steps/a/output/0" }))).to.deep.equal([]);
    expect(check(step({ lines: { $from: "/steps/a/output" } }))[0]).to.include("must have required property 'path'");
    expect(check(step({ path: { $from: "/steps/a/output" }, lines: "3" }))[0]).to.include("at /lines must be integer");
    expect(check(step({ path: 5, lines: { $from: "/steps/a/output" } }))[0]).to.include("at /path must be string");
    expect(check(step({ path: "x", line: 1 }))[0]).to.include(
      'the input of "test/typed" has no field "line" here; did you mean "lines"?',
    );
    expect(check({ steps: [{ id: "b", tool: "test/typed" }] })[0]).to.include("must have required property 'path'");
  });

  it("checkPlan() checks pointers against what tools say of their outputs", () => {
    const uses = (pointer: string, rest: object = {}) => ({
      steps: [
        { id: "t", tool: "test/typed", input: { path: "x" }, ...rest },
        { id: "e", tool: "test/echo", input: { $from: pointer } },
      ],
    });
    expect(check(uses("/steps/t/output/total"))).to.deep.equal([]);
    expect(check(uses("/steps/t/output/files/3/path"))).to.deep.equal([]);
    expect(check(uses("/steps/t/output/total/deeper"))).to.deep.equal([]);
    expect(check(uses("/steps/t/output/totl"))[0]).to.include("has no `totl`; did you mean `total`?");
    expect(check(uses("/steps/t/output/files/0/size"))[0]).to.include("has no `size`; it has path");
    const each = { forEach: { items: [1] } };
    expect(check(uses("/steps/t/output/0/total", each))).to.deep.equal([]);
    expect(check(uses("/steps/t/output/total", each))[0]).to.include('"total" is no place in it');
  });

  it("checkPlan() refuses malformed stand-ins, and items outside of `forEach`", () => {
    const input = (value: unknown, rest: object = {}) =>
      check({ steps: [{ id: "a", tool: "test/echo", input: value, ...rest }] });
    expect(input({ $from: "steps" })[0]).to.include("must be a JSON Pointer");
    expect(input({ $from: "/params/x~2" })[0]).to.include("must be a JSON Pointer");
    expect(input({ $from: 3 })[0]).to.include("must be a JSON Pointer");
    expect(input({ $from: "/plan", more: 1 })[0]).to.include("`$from` stands alone");
    expect(input({ $text: "a" })[0]).to.include("is a list of parts");
    expect(input({ $literal: 1, b: 2 })[0]).to.include("`$literal` stands alone");
    expect(input({ $literal: { $from: "nothing" } })).to.deep.equal([]);
    expect(input({ $from: "/item" })[0]).to.include("only inside a step with `forEach`");
    expect(input({ $from: "/item" }, { forEach: { items: [1] } })).to.deep.equal([]);
    expect(input(1, { forEach: { items: [{ $from: "/item" }] } })[0]).to.include("only inside");
    expect(input(1, { forEach: { items: "text" } })[0]).to.include("must be a list");
  });

  it("checkPlan() wants a value for each parameter, and right defaults", () => {
    const steps = [{ id: "a", tool: "test/echo" }];
    expect(check({ params: { p: {} }, steps })[0]).to.include('the parameter "p" has no value and no default');
    expect(check({ params: { p: {} }, steps }, ["p"])).to.deep.equal([]);
    expect(check({ params: { p: { default: 1, schema: { type: "string" } } }, steps })[0]).to.include("must be string");
  });

  it("checkPlan() places schemas of parameters that cannot be used, whether there is a default or not", () => {
    const yaml = [
      "params:",
      "  given: { schema: { type: strng } }",
      "  both:",
      "    default: 1",
      "    schema:",
      "      properties: { a: { minimum: x } }",
      "steps: [{ id: a, tool: test/echo }]",
    ].join("\n");
    const problems = check(yaml, ["given"]);
    expect(problems).to.have.lengthOf(2);
    expect(problems[0]).to.match(/^2:22 the schema of the parameter "given" cannot be used: /);
    expect(problems[1]).to.match(/^6:26 the schema of the parameter "both" cannot be used: /);
  });

  it("parsePlan() answers whatever text with a plan or with INVALID_PLAN", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.json({ maxDepth: 4 }),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, (value) => {
        try {
          parsePlan(value, { file: "p.yaml", folder: "/" });
        } catch (error) {
          expect(codeOf(error)).to.equal("INVALID_PLAN");
        }
      }),
      { numRuns: 500 },
    );
  });
});
