import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import fc from "fast-check";
import { SchemaCache } from "../../src/schema/cache.js";
import { check, DIALECTS, holds, keywords, namesTo } from "./questions.js";

function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const entry of Object.values(value)) freezeDeep(entry);
}

describe("schema/check", () => {
  it("check() points at the subschema, also behind a $ref", () => {
    const inner = { type: "object", properties: { b: { type: "string" }, next: { $ref: "#/$defs/in~ner" } } };
    const schema = { properties: { "a~/b": { $ref: "#/$defs/in~0ner" } }, $defs: { "in~ner": inner } };
    schema.$defs["in~ner"].properties.next.$ref = "#/$defs/in~0ner";
    expect(check(schema, { "a~/b": { next: { b: 1 } } })).to.deep.equal([
      {
        instancePath: "/a~0~1b/next/b",
        schemaPath: "/$defs/in~0ner/properties/b/type",
        keyword: "type",
        message: "must be string",
      },
    ]);
  });

  it("check() reports at most 100 violations", () => {
    const list = Array.from({ length: 200_000 }, (_, index) => index);
    expect(check({ items: { type: "string" } }, list)).to.have.lengthOf(100);
    const map = Object.fromEntries(list.slice(0, 20_000).map((index) => [`k${index}`, index]));
    expect(check({ additionalProperties: false }, map)).to.have.lengthOf(100);
    expect(check({ propertyNames: { maxLength: 0 } }, map)).to.have.lengthOf(100);
    expect(check({ required: namesTo(1_000) }, {})).to.have.lengthOf(100);
  });

  it("check() finds a later branch after an earlier one failed many times", () => {
    const $defs = {
      text: { type: "object", properties: { next: { $ref: "#/$defs/text" } } },
      count: { type: "integer" },
    };
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    expect(
      holds({ anyOf: [{ items: { $ref: "#/$defs/text" } }, { items: { $ref: "#/$defs/count" } }], $defs }, list),
    ).to.equal(true);
    expect(holds({ contains: { const: 99_999 } }, list)).to.equal(true);
    expect(keywords({ contains: { $ref: "#/$defs/text" }, $defs }, list)).to.include("contains");
  });

  it("check() sees own properties only", () => {
    const proto: unknown = JSON.parse('{"__proto__":1}');
    expect(keywords({ required: ["constructor", "__proto__", "toString"] }, {})).to.have.lengthOf(3);
    expect(holds({ required: ["constructor", "__proto__"] }, JSON.parse('{"constructor":1,"__proto__":2}'))).to.equal(
      true,
    );
    expect(holds({ required: ["a"] }, Object.create({ a: 1 }))).to.equal(false);
    expect(keywords({ properties: { a: {} }, additionalProperties: false }, proto)).to.deep.equal([
      "additionalProperties",
    ]);
    expect(holds({ properties: { constructor: { type: "string" }, valueOf: { type: "string" } } }, {})).to.equal(true);
    expect(holds({ properties: { constructor: { type: "string" } } }, { constructor: 1 })).to.equal(false);
    for (const $schema of DIALECTS) {
      const schema = JSON.parse(
        '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
      ) as object;
      expect(holds({ $schema, ...schema }, proto)).to.equal(false);
      expect(holds({ $schema, ...schema }, JSON.parse('{"__proto__":"text"}'))).to.equal(true);
      expect(holds({ $schema, ...schema }, { other: 1 })).to.equal(false);
      const pattern = JSON.parse('{"patternProperties":{"__proto__":{"type":"string"}}}') as object;
      expect(holds({ $schema, ...pattern }, proto)).to.equal(false);
      expect(holds({ $schema, ...pattern }, { a__proto__z: 1 })).to.equal(false);
      expect(holds({ $schema, ...pattern }, { other: 1 })).to.equal(true);
    }
    const evaluated = { patternProperties: { "^a": {} }, unevaluatedProperties: false };
    expect(keywords(evaluated, { toString: 1 })).to.deep.equal(["unevaluatedProperties"]);
    expect(holds(evaluated, { a: 1 })).to.equal(true);
    expect(({} as Record<string, unknown>)["type"]).to.equal(undefined);
  });

  it("check() compares by value in const, enum and uniqueItems", () => {
    const awkward: unknown = JSON.parse('{"valueOf":1,"constructor":{"a":[1]}}');
    expect(holds({ const: { constructor: { a: [1] }, valueOf: 1 } }, awkward)).to.equal(true);
    expect(holds({ const: { a: 1 } }, awkward)).to.equal(false);
    expect(holds({ const: { a: 1 } }, { a: 1, b: 1 })).to.equal(false);
    expect(holds({ const: { a: [1, 2] } }, { a: [1] })).to.equal(false);
    expect(holds({ enum: [null, { b: 1, a: 2 }] }, { a: 2, b: 1 })).to.equal(true);
    expect(holds({ enum: namesTo(500) }, "p499")).to.equal(true);
    expect(holds({ enum: namesTo(500) }, "p500")).to.equal(false);
    const unique = { uniqueItems: true };
    expect(
      holds(unique, [1, "1", true, "true", null, "null", 0, false, [], {}, [1], ["1"], { a: 1 }, { a: "1" }]),
    ).to.equal(true);
    expect(holds(unique, JSON.parse("[1, 1.0]"))).to.equal(false);
    expect(holds(unique, JSON.parse("[0, -0]"))).to.equal(false);
    expect(check(unique, [{ x: 0 }, { a: 1, b: [2] }, { b: [2], a: 1 }])?.[0]?.message).to.match(/items ## 1 and 2/);
    expect(holds({ uniqueItems: false }, [1, 1])).to.equal(true);
  });

  it("check() takes uniqueItems in linear time", () => {
    const items = Array.from({ length: 60_000 }, (_, index) => ({ index, text: `item ${index}` }));
    expect(holds({ uniqueItems: true }, items)).to.equal(true);
    expect(holds({ uniqueItems: true }, [...items, { text: "item 7", index: 7 }])).to.equal(false);
  });

  it("check() takes multipleOf as decimal", () => {
    expect(holds({ multipleOf: 0.01 }, 19.99)).to.equal(true);
    expect(holds({ multipleOf: 0.0001 }, 0.00751)).to.equal(false);
    expect(holds({ multipleOf: 1 }, 1e22)).to.equal(true);
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 1, max: 500 }), (value, divisor) => {
        expect(holds({ multipleOf: divisor / 100 }, value / 100)).to.equal(value % divisor === 0);
      }),
      { numRuns: 100 },
    );
  });

  it("check() takes numbers that JSON cannot hold for none", () => {
    for (const value of [NaN, Infinity, 1n]) expect(holds({ type: "number" }, value)).to.equal(false);
  });

  it("check() never changes the value, and compile() never the schema", () => {
    const schema = {
      type: "object",
      properties: {
        a: { type: "integer", default: 3 },
        b: { type: "array", items: { default: "x" }, uniqueItems: true },
      },
      patternProperties: { __proto__x: { type: "string" } },
      dependentRequired: { a: namesTo(30) },
      $defs: { x: { $dynamicAnchor: "x", "x-note": 1 } },
      "x-note": { nullable: true },
    };
    const before = structuredClone(schema);
    freezeDeep(schema);
    const compiled = new SchemaCache().compile(schema);
    expect(schema).to.deep.equal(before);
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.record({ a: fc.jsonValue(), b: fc.array(fc.jsonValue()) }, { requiredKeys: [] })),
        (value) => {
          const copy = structuredClone(value);
          freezeDeep(value);
          compiled.check(value);
          expect(value).to.deep.equal(copy);
        },
      ),
    );
    expect(holds({ properties: { a: { type: "integer" } } }, { a: "1" })).to.equal(false);
  });

  it("check() turns data that cannot be read into a violation", () => {
    const hostile = {
      get a(): string {
        throw new Error("boom");
      },
    };
    expect(check({ properties: { a: { type: "string" } } }, hostile)?.[0]?.message).to.equal("cannot be read: boom");
    const speechless = {
      get a(): string {
        throw Object.create(null);
      },
    };
    expect(check({ properties: { a: { type: "string" } } }, speechless)?.[0]?.message).to.equal(
      "cannot be read: unknown",
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(check({ required: ["a"] }, proxy)).to.have.lengthOf(1);
  });

  it("check() takes schemas of TypeBox, with their Symbol keys", () => {
    const Tree = Type.Recursive((This) =>
      Type.Object({
        id: Type.String(),
        kind: Type.Union([Type.Literal("a"), Type.Literal("b")]),
        kids: Type.Array(This),
      }),
    );
    expect(holds(Tree, { id: "x", kind: "a", kids: [{ id: "y", kind: "b", kids: [] }] })).to.equal(true);
    expect(check(Tree, { id: "x", kind: "a", kids: [{ id: 1, kind: "b", kids: [] }] })?.[0]?.instancePath).to.equal(
      "/kids/0/id",
    );
  });
});
