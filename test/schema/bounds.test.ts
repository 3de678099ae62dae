import { expect } from "chai";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { SchemaCache } from "../../src/schema/cache.js";
import { check, DIALECTS, holds, keywords, namesTo } from "./questions.js";

describe("schema/bounds", () => {
  const list = { type: "object", properties: { next: { $ref: "#" } } };

  it("check() ends an exponential recursion", () => {
    const twice = { properties: { v: { type: "number" }, n: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    let value: unknown = { v: "bad" };
    for (let level = 0; level < 40; level++) value = { v: 1, n: value };
    expect(keywords(twice, value)).to.deep.equal(["work"]);

    const $defs: Record<string, JsonSchema> = { p40: { type: "string" } };
    for (let index = 0; index < 40; index++) {
      $defs[`p${index}`] = { allOf: [{ $ref: `#/$defs/p${index + 1}` }, { $ref: `#/$defs/p${index + 1}` }] };
    }
    expect(keywords({ $ref: "#/$defs/p0", $defs }, "x")).to.deep.equal(["work"]);
  });

  it("check() ends over data that holds itself many times", () => {
    let value: unknown = "x";
    let schema: JsonSchema = { type: "string" };
    for (let level = 0; level < 6; level++) {
      value = Array.from({ length: 1_000 }, () => value);
      schema = { items: schema };
    }
    expect(keywords(schema, value)).to.deep.equal(["work"]);
    expect(check({ uniqueItems: true }, [value])).to.have.lengthOf(1);
    const cyclic: Record<string, unknown> = {};
    cyclic["next"] = cyclic;
    expect(keywords(list, cyclic)).to.deep.equal(["depth"]);
    expect(check({ uniqueItems: true }, [cyclic])).to.have.lengthOf(1);
  });

  it("check() ends where a short step does much", () => {
    const wide = Object.fromEntries(namesTo(20_000).map((name) => [name, 1]));
    const times = (count: number, schema: (index: number) => JsonSchema) => ({
      allOf: Array.from({ length: count }, (_, index) => schema(index)),
    });
    const long = { ["k".repeat(200_000)]: 1 };
    const same = { list: namesTo(5_000) };
    const cases: [string, JsonSchema, unknown][] = [
      ["required", { contains: { required: namesTo(20_000) } }, Array.from({ length: 500 }, () => ({}))],
      [
        "properties",
        { items: { properties: Object.fromEntries(namesTo(5_000).map((name) => [name, { type: "string" }])) } },
        Array.from({ length: 20_000 }, () => ({})),
      ],
      ["minProperties", times(200, (minProperties) => ({ minProperties })), wide],
      ["maxProperties", times(200, (index) => ({ maxProperties: 20_000 + index })), wide],
      ["enum", { enum: Array.from({ length: 200 }, () => ({ p0: 1 })) }, wide],
      ["const", { items: { const: { list: namesTo(5_000) } } }, Array.from({ length: 2_000 }, () => same)],
      ["maxLength", times(400, (index) => ({ maxLength: 100_000 + index })), "x".repeat(100_000)],
      ["format", times(400, () => ({ format: "uri" })), `https://a/${"x".repeat(100_000)}`],
      ["multipleOf", { items: times(100, () => ({ multipleOf: 1e-300 })) }, Array.from({ length: 500 }, () => 1e308)],
      ["uniqueItems", { uniqueItems: true }, [Array.from({ length: 200 }, () => long)]],
    ];
    for (const [name, schema, value] of cases) expect(keywords(schema, value), name).to.deep.equal(["work"]);
  });

  it("check() takes a long list of a wide union", () => {
    const required = namesTo(12);
    const branch = (kind: number) => ({
      properties: { kind: { const: kind }, text: { maxLength: 40, format: "email" } },
      required: ["kind", ...required],
    });
    const item = { kind: 29, text: "a@example.org", ...Object.fromEntries(required.map((name) => [name, 1])) };
    const schema = { items: { anyOf: Array.from({ length: 30 }, (_, kind) => branch(kind)) } };
    expect(
      holds(
        schema,
        Array.from({ length: 20_000 }, () => ({ ...item })),
      ),
    ).to.equal(true);
  });

  it("check() lets large data have its way", () => {
    const leaves = (): object[] => Array.from({ length: 800 }, () => ({ id: "x", kids: [] }));
    const tree = { id: "x", kids: Array.from({ length: 500 }, () => ({ id: "x", kids: leaves() })) };
    const id = { anyOf: [{ type: "number" }, { const: 1 }, { const: 2 }, { type: "string" }] };
    // More steps than any check may take, and few for each value.
    expect(holds({ properties: { id, kids: { items: { $ref: "#" } } } }, tree)).to.equal(true);
  });

  it("check() follows a recursive schema for 1,000 levels", () => {
    const depth = (levels: number): unknown => {
      let value: unknown = {};
      for (let level = 0; level < levels; level++) value = { next: value };
      return value;
    };
    expect(holds(list, depth(1_000))).to.equal(true);
    for (const levels of [1_001, 20_000, 200_000]) expect(keywords(list, depth(levels))).to.deep.equal(["depth"]);
    expect(holds({ type: "object" }, depth(20_000))).to.equal(true);
  });

  it("compile() and check() take thousands of properties and branches", function () {
    this.timeout(60_000);
    for (const count of [3_000, 20_000]) {
      const names = namesTo(count);
      const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
      const compiled = new SchemaCache().compile({
        type: "object",
        properties,
        required: names,
        additionalProperties: false,
      });
      const value = Object.fromEntries(names.map((name) => [name, "x"]));
      expect(compiled.check(value)).to.equal(undefined);
      expect(compiled.check({ ...value, p7: 7 })?.[0]?.instancePath).to.equal("/p7");
      expect(compiled.check({ ...value, other: 7 })).to.have.lengthOf(1);
    }
    const properties = Object.fromEntries(namesTo(3_000).map((name) => [name, { type: "string" }]));
    expect(holds({ properties, unevaluatedProperties: false }, { p2999: "x" })).to.equal(true);
    expect(keywords({ properties, unevaluatedProperties: false }, { constructor: "x" })).to.deep.equal([
      "unevaluatedProperties",
    ]);
    expect(holds({ if: { properties }, then: false }, { p2999: 1 })).to.equal(true);
    for (const $schema of DIALECTS) {
      const anyOf = Array.from({ length: 3_000 }, (_, index) => ({ const: index }));
      expect(holds({ $schema, anyOf }, 2_999)).to.equal(true);
      expect(holds({ $schema, anyOf }, 3_000)).to.equal(false);
    }
    expect(keywords({ dependentRequired: { a: namesTo(5_000) } }, { a: 1 })).to.have.lengthOf(100);
  });
});
