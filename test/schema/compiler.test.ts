import { expect } from "chai";
import fc from "fast-check";
import { ToolSchemaValidationError } from "../../src/protocol/errors.js";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { SchemaCache } from "../../src/schema/cache.js";
import { DIALECTS, DRAFT_07, DRAFT_2020, holds, keywords, namesTo, refusal } from "./questions.js";

/** Wraps an innermost schema and value in so many levels. */
function nest(
  levels: number,
  wrap: (schema: JsonSchema) => JsonSchema,
  around: (value: unknown) => unknown,
): [JsonSchema, unknown] {
  let schema: JsonSchema = { type: "string" };
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) {
    schema = wrap(schema);
    value = around(value);
  }
  return [schema, value];
}

describe("schema/compiler", () => {
  describe("dialects", () => {
    it("compile() takes 2020-12 by default and by declaration", () => {
      for (const declared of [
        {},
        { $schema: DRAFT_2020 },
        { $schema: "http://json-schema.org/draft/2020-12/schema#" },
      ]) {
        const schema = { ...declared, prefixItems: [{ type: "string" }], items: false };
        expect(holds(schema, ["a"])).to.equal(true);
        expect(holds(schema, ["a", "b"])).to.equal(false);
      }
      const wide = {
        allOf: [{ properties: { a: true } }],
        unevaluatedProperties: false,
        dependentRequired: { a: ["b"] },
      };
      expect(keywords(wide, { a: 1 })).to.deep.equal(["dependentRequired"]);
      expect(keywords(wide, { c: 1 })).to.deep.equal(["unevaluatedProperties"]);
    });

    it("compile() takes draft-07 when it is declared, with its own keywords alone", () => {
      for (const $schema of ["http", "https"].flatMap((scheme) => [
        `${scheme}://json-schema.org/draft-07/schema`,
        `${scheme}://json-schema.org/draft-07/schema#`,
      ])) {
        const schema = { $schema, items: [{ type: "string" }], additionalItems: false, prefixItems: [false] };
        expect(holds(schema, ["a"])).to.equal(true);
        expect(holds(schema, ["a", 1])).to.equal(false);
        expect(holds({ $schema, dependencies: { a: ["b"] }, unevaluatedProperties: false }, { a: 1, b: 2 })).to.equal(
          true,
        );
        expect(holds({ $schema, dependencies: { a: ["b"] } }, { a: 1 })).to.equal(false);
      }
      expect(holds({ dependencies: { a: ["b"] } }, { a: 1 })).to.equal(true);
      expect(holds({ $schema: DRAFT_07, $dynamicRef: "#gone" }, 1)).to.equal(true);
    });

    it("compile() ignores what stands beside a draft-07 $ref, and keeps it reachable", () => {
      const definitions = { text: { type: "string" } };
      const schema = {
        $schema: DRAFT_07,
        definitions,
        properties: { a: { $ref: "#/definitions/text", type: "number", maxLength: 1 } },
      };
      expect(holds(schema, { a: "long" })).to.equal(true);
      expect(holds(schema, { a: 1 })).to.equal(false);
      expect(holds({ $schema: DRAFT_07, $ref: "#/definitions/text", definitions }, 1)).to.equal(false);
      const modern = { ...schema, $schema: DRAFT_2020 };
      expect(holds(modern, { a: "long" })).to.equal(false);
    });

    it("compile() refuses any other dialect", () => {
      for (const $schema of [
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "",
        "x",
      ]) {
        const error = refusal({ $schema });
        expect(error.message).to.match(/^Schema cannot be used: \/\$schema: unknown dialect/);
        expect(error.errors[0]).to.include({ schemaPath: "/$schema", keyword: "$schema" });
      }
    });

    it("compile() ignores unknown keywords and formats, and what only ajv knows", () => {
      const schema = {
        ...{
          type: "string",
          format: "x-colour",
          id: "old",
          nullable: true,
          $async: true,
          discriminator: { propertyName: "a" },
        },
        ...{ "x-first": { $id: "same", $anchor: "!" }, "x-second": { $id: "same" }, toString: {}, constructor: 1 },
      };
      expect(holds(schema, "a")).to.equal(true);
      expect(holds(schema, null)).to.equal(false);
    });
  });

  describe("refusals", () => {
    it("compile() refuses what is no schema", () => {
      for (const schema of [null, undefined, "string", 7, [], () => {}, 1n]) refusal(schema);
      expect(holds(true, 1)).to.equal(true);
      expect(holds(false, 1)).to.equal(false);
    });

    it("compile() refuses what breaks the meta-schema and says where", () => {
      for (const $schema of DIALECTS) {
        const error = refusal({ $schema, properties: { "a/b": { type: "strin" } } });
        expect(error.message).to.match(/^Schema cannot be used: \/properties\/a~1b\/type: must be equal to one of/);
        expect(error.errors[0]).to.include({ instancePath: "", schemaPath: "/properties/a~1b/type" });
      }
      expect(refusal({ items: 1 }).message).to.equal("Schema cannot be used: /items: must be object or boolean");
      refusal({ properties: { a: { required: true } } });
      refusal({ minimum: "1" });
    });

    it("compile() refuses a pattern that is none, and says where", () => {
      expect(refusal({ properties: { a: { pattern: "((" } } }).message).to.match(
        /^Schema cannot be used: \/properties\/a\/pattern: "\(\(" is no regular expression/,
      );
      expect(refusal({ patternProperties: { "[": { type: "string" } } }).errors[0]?.schemaPath).to.equal(
        "/patternProperties/[",
      );
    });

    it("compile() copies as JSON would, and refuses what JSON cannot hold", () => {
      expect(refusal({ minimum: 1n }).message).to.match(/\/minimum: a bigint is not a JSON value/);
      expect(refusal({ minimum: NaN }).message).to.match(/\/minimum: NaN is not a JSON number/);
      const cyclic: Record<string, unknown> = { type: "object" };
      cyclic["properties"] = { self: cyclic };
      expect(refusal(cyclic).message).to.match(/\/properties\/self: the schema contains itself/);
      const hostile = {
        get type(): string {
          throw new Error("no");
        },
      };
      refusal(hostile);
      class Fancy {
        readonly type = "string";
        readonly later = undefined;
        method(): void {}
      }
      expect(holds({ ...{ type: "string", later: undefined }, [Symbol("kind")]: "Fancy", run: () => {} }, 1)).to.equal(
        false,
      );
      expect(holds(new Fancy() as unknown as JsonSchema, 1)).to.equal(false);
      expect(holds(Object.create({ type: "string" }) as JsonSchema, 1)).to.equal(true);
    });

    it("compile() bounds depth and size", () => {
      const wraps: [(schema: JsonSchema) => JsonSchema, (value: unknown) => unknown][] = [
        [(schema) => ({ type: "object", properties: { a: schema }, required: ["a"] }), (value) => ({ a: value })],
        [(schema) => ({ type: "array", items: schema }), (value) => [value]],
      ];
      for (const [wrap, around] of wraps) {
        const [schema, value] = nest(256, wrap, around);
        expect(holds(schema, value)).to.equal(true);
        expect(refusal(nest(257, wrap, around)[0]).message).to.match(/too deep/);
        expect(refusal(nest(3_000, wrap, around)[0]).message).to.match(/too deep/);
        expect(refusal(nest(50_000, wrap, around)[0]).message).to.match(/too deep/);
      }
      expect(refusal({ enum: Array.from({ length: 100_001 }, (_, index) => index) }).message).to.match(/too large/);
      expect(refusal({ description: "x".repeat(9_000_000) }).message).to.match(/too large/);
      expect(
        refusal({ patternProperties: Object.fromEntries(namesTo(1_001).map((name) => [name, {}])) }).message,
      ).to.match(/too large/);
      expect(
        refusal({ properties: Object.fromEntries(namesTo(20_001).map((name) => [name, { type: "string" }])) }).message,
      ).to.match(/unfolds into more than 20000/);
      let anchors: JsonSchema = { $ref: "#", $dynamicRef: "#a0" };
      for (let level = 0; level < 7; level++) anchors = { $dynamicAnchor: `a${level}`, properties: { inner: anchors } };
      expect(refusal(anchors).message).to.match(/too deep/);
    });

    it("compile() never throws anything else", () => {
      const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
      const loose = fc.dictionary(
        fc.constantFrom(
          "type",
          "properties",
          "items",
          "$ref",
          "$id",
          "$defs",
          "pattern",
          "enum",
          "allOf",
          "required",
          "$schema",
        ),
        fc.oneof(anything, fc.constantFrom("#", "#/$defs/a", "string", "object", DRAFT_07)),
      );
      fc.assert(
        fc.property(fc.oneof(anything, loose), anything, (schema, value) => {
          try {
            new SchemaCache().compile(schema as JsonSchema).check(value);
          } catch (error) {
            expect(error).to.be.instanceOf(ToolSchemaValidationError);
          }
        }),
        { numRuns: 300 },
      );
    });
  });
});
