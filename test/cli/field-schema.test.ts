import { expect } from "chai";
import { FieldSchema } from "../../src/cli/field-schema.js";
import { UsageError } from "../../src/cli/usage-error.js";
import { thrownBy } from "../support/outcomes.js";

const ROOT = {
  $defs: {
    text: { type: "string" },
    alias: { $ref: "#/$defs/text" },
    "a/b": { type: "integer" },
    circle: { $ref: "#/$defs/circle" },
    tree: { anyOf: [{ type: "null" }, { type: "object", properties: { left: { $ref: "#/$defs/tree" } } }] },
  },
};

const read = (schema: unknown, word: string): unknown => new FieldSchema(schema, ROOT).read(word, "field").value;

describe("FieldSchema", () => {
  const cases: [string, unknown, Record<string, unknown>][] = [
    ["a list of types", { type: ["string", "null"] }, { null: null, "12": "12", true: "true", '{"a":1}': '{"a":1}' }],
    ["a number or a text", { type: ["integer", "string"] }, { "12": 12, twelve: "twelve", "": "" }],
    ["a nullable type", { type: "number", nullable: true }, { null: null, "1.5": 1.5 }],
    ["texts", { enum: ["1", "2", "on"] }, { "1": "1", on: "on" }],
    ["values", { enum: [1, "1", true, null, [1]] }, { "1": "1", true: true, null: null, "[1]": [1] }],
    ["numbers", { enum: [1, 2] }, { "1": 1, "3": 3 }],
    ["one value", { const: "5" }, { "5": "5" }],
    ["a union of values", { anyOf: [{ const: "5" }, { const: 6 }] }, { "5": "5", "6": 6 }],
    ["a value or a type", { oneOf: [{ const: "auto" }, { type: "integer" }] }, { auto: "auto", "7": 7 }],
    ["a union of types", { anyOf: [{ type: "string" }, { type: "null" }] }, { null: null, "12": "12" }],
    ["a type and a union", { type: "string", anyOf: [{ minLength: 2 }, { const: "1" }] }, { "12": "12" }],
    ["values of a type", { type: "string", enum: ["1", 1] }, { "1": "1" }],
    ["a combination", { allOf: [{ type: ["string", "number"] }, { type: "string" }] }, { "12": "12" }],
    ["a reference", { $ref: "#/$defs/text" }, { "12": "12", null: "null" }],
    ["a reference to a reference", { $ref: "#/$defs/alias" }, { "12": "12" }],
    ["an escaped reference", { $ref: "#/$defs/a~1b" }, { "12": 12 }],
    ["a reference elsewhere", { $ref: "https://example.com/text" }, { "12": 12, x: "x" }],
    ["a circle", { $ref: "#/$defs/circle" }, { "12": 12, x: "x" }],
    ["a tree", { $ref: "#/$defs/tree" }, { null: null, '{"left":null}': { left: null } }],
    ["an object or a text", { type: ["object", "string"] }, { '{"a":1}': { a: 1 }, "{draft}": "{draft}" }],
    ["a list of numbers or one", { anyOf: [{ type: "number" }, { type: "array" }] }, { "1": 1, "[1]": [1] }],
    ["nothing", {}, { "12": 12, x: "x", '{"a":1}': { a: 1 } }],
  ];
  for (const [what, schema, words] of cases) {
    it(`read() reads words as ${what} wants`, () => {
      for (const [word, value] of Object.entries(words)) expect(read(schema, word), word).to.deep.equal(value);
    });
  }

  it("read() reads members of a list by what the list holds", () => {
    const list = new FieldSchema({ type: ["array", "null"], items: { $ref: "#/$defs/text" } }, ROOT);
    expect(list.read("12", "field")).to.deep.equal({ value: "12", isMember: true });
    expect(list.read('["12"]', "field")).to.deep.equal({ value: ["12"], isMember: false });
    expect(list.read("[draft]", "field")).to.deep.equal({ value: "[draft]", isMember: true });
    expect(list.read("null", "field")).to.deep.equal({ value: null, isMember: false });
  });

  it("read() says what a number and a switch want", () => {
    for (const [schema, message] of [
      [{ type: ["integer", "null"] }, '--field wants a number, not "two".'],
      [{ anyOf: [{ type: "boolean" }] }, '--field is true or false, not "two".'],
    ] as const) {
      const error = thrownBy(() => read(schema, "two"));
      expect(error).to.be.instanceOf(UsageError).and.include({ message });
    }
  });

  it("names are those of every branch", () => {
    const input = {
      $ref: "#/$defs/base",
      properties: { own: {} },
      allOf: [{ properties: { all: { type: "string" } } }, { properties: { all: { minLength: 1 } } }],
      oneOf: [
        { properties: { kind: { const: "1" } } },
        { properties: { kind: { const: "2" }, more: { type: "boolean" } } },
      ],
      if: {},
      then: { properties: { later: { type: "array" } } },
      $defs: { base: { properties: { base: { type: "integer" } } } },
    };
    const schema = new FieldSchema(input);
    expect(schema.names).to.have.members(["own", "base", "all", "kind", "more", "later"]);
    expect(schema.field("all").read("12", "all").value).to.equal("12");
    expect(schema.field("kind").words).to.deep.equal(["1", "2"]);
    expect(schema.field("more").isSwitch).to.equal(true);
    expect(schema.field("later").isList).to.equal(true);
    expect(schema.field("constructor").isSwitch).to.equal(false);
  });
});
