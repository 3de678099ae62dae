import { spawnSync } from "node:child_process";
import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import fc from "fast-check";
import { ToolSchemaValidationError, type SchemaViolation } from "../../src/protocol/errors.js";
import type { JsonSchema } from "../../src/protocol/tool.js";
import {
  describeViolations,
  SchemaCache,
  validateToolInput,
  validateToolOutput,
} from "../../src/runtime/schema-validator.js";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";
const DIALECTS = [DRAFT_07, DRAFT_2020];

const check = (schema: JsonSchema, value: unknown): readonly SchemaViolation[] | undefined =>
  new SchemaCache().compile(schema).check(value);
const holds = (schema: JsonSchema, value: unknown): boolean => check(schema, value) === undefined;
const keywords = (schema: JsonSchema, value: unknown): string[] =>
  (check(schema, value) ?? []).map(({ keyword }) => keyword);

function refusal(schema: unknown, trusted = true): ToolSchemaValidationError {
  try {
    new SchemaCache().compile(schema as JsonSchema, { trusted });
  } catch (error) {
    expect(error).to.be.instanceOf(ToolSchemaValidationError);
    return error as ToolSchemaValidationError;
  }
  throw new Error("the schema was accepted");
}

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

function namesTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`);
}

function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const entry of Object.values(value)) freezeDeep(entry);
}

describe("runtime/schema-validator", () => {
  describe("validateToolInput()", () => {
    const spec = { name: "acme/read", inputSchema: Type.Object({ path: Type.String(), limit: Type.Integer() }) };

    it("validateToolInput() passes a valid input and names tool and violations otherwise", () => {
      validateToolInput(spec, { path: "a", limit: 1 });
      expect(() => validateToolInput(spec, { path: 1, limit: 1 }))
        .to.throw(ToolSchemaValidationError, /^Input validation failed for tool "acme\/read": \/path must be string$/)
        .that.deep.includes({
          code: "SCHEMA_VALIDATION_FAILED",
          schema: spec.inputSchema,
          errors: [
            { instancePath: "/path", schemaPath: "/properties/path/type", keyword: "type", message: "must be string" },
          ],
        });
    });

    it("validateToolInput() reports the whole value and counts what it does not name", () => {
      const inputSchema = Type.Object(Object.fromEntries(namesTo(6).map((name) => [name, Type.String()])));
      expect(() => validateToolInput({ name: "acme/x", inputSchema }, {})).to.throw(
        "Input validation failed for tool \"acme/x\": value must have required property 'p0'; " +
          "value must have required property 'p1'; value must have required property 'p2'; and 3 more",
      );
    });
  });

  describe("validateToolOutput()", () => {
    it("validateToolOutput() checks the output schema, and passes anything without one", () => {
      validateToolOutput({ name: "acme/x" }, { any: 1 });
      validateToolOutput({ name: "acme/x", outputSchema: { type: "integer" } }, 7);
      expect(() => validateToolOutput({ name: "acme/x", outputSchema: { type: "integer" } }, "7")).to.throw(
        ToolSchemaValidationError,
        /^Output validation failed for tool "acme\/x": value must be integer$/,
      );
    });
  });

  describe("describeViolations()", () => {
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

  describe("SchemaCache.compile() dialects", () => {
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

  describe("SchemaCache.compile() refusals", () => {
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

    it("compile() refuses a $ref that leads nowhere, out, or in a circle", () => {
      expect(refusal({ properties: { a: { $ref: "#/$defs/b" } } }).message).to.equal(
        'Schema cannot be used: /properties/a/$ref: $ref "#/$defs/b" leads nowhere',
      );
      expect(refusal({ $ref: "#/constructor" }).message).to.match(/leads nowhere/);
      expect(refusal({ $ref: "#/required", required: ["a"] }).message).to.match(/does not lead to a schema/);
      expect(refusal({ $ref: "http://localhost:9/remote.json" }).message).to.match(/can't resolve reference/);
      const circles: JsonSchema[] = [
        { $ref: "#" },
        { allOf: [{ anyOf: [{ $ref: "#" }] }] },
        { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
        { $dynamicAnchor: "node", not: { $dynamicRef: "#node" } },
      ];
      for (const schema of circles)
        expect(refusal(schema).message).to.match(/refers to itself without taking any data/);
      expect(refusal({ $ref: "http://a/b", $defs: { b: { $id: "http://a/b", $ref: "http://a/b" } } }).message).to.match(
        /too deep/,
      );
      expect(holds({ $defs: { unused: { $ref: "#/$defs/gone" } } }, 1)).to.equal(true);
    });

    it("compile() resolves every local way to refer", () => {
      const $defs = {
        "List[int]": { type: "array" },
        "A B/<~>": { type: "array" },
        "50%": { type: "array" },
        anchored: { $anchor: "it", type: "array" },
      };
      for (const $ref of [
        "#/$defs/List[int]",
        "#/$defs/List%5Bint%5D",
        "#/$defs/A%20B~1%3C~0%3E",
        "#/$defs/A B~1<~0>",
        "#/$defs/50%",
        "#/$defs/50%25",
        "#it",
      ]) {
        expect(keywords({ properties: { a: { $ref } }, $defs }, { a: 1 }), $ref).to.deep.equal(["type"]);
      }
      for (const $id of ["urn:x", "no uri at all", "acme/tool", "#here"]) {
        expect(
          holds({ $schema: DRAFT_07, $id, items: { $ref: "#/$defs/n" }, $defs: { n: { type: "number" } } }, ["a"]),
          $id,
        ).to.equal(false);
      }
      const $id = "https://acme.test/tool";
      expect(holds({ $id, items: { $ref: `${$id}#/$defs/n` }, $defs: { n: { type: "number" } } }, ["a"])).to.equal(
        false,
      );
      expect(holds({ $ref: "#/x-types/n", "x-types": { n: { type: "number", nullable: true } } }, null)).to.equal(
        false,
      );
      expect(holds({ items: { $ref: DRAFT_2020 } }, [{ type: "strin" }])).to.equal(false);
      expect(holds({ $schema: DRAFT_07, items: { $ref: DRAFT_07 } }, [{ type: "strin" }])).to.equal(false);
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

  describe("CompiledSchema.check() values", () => {
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
      expect(holds({ properties: { constructor: { type: "string" }, valueOf: { type: "string" } } }, {})).to.equal(
        true,
      );
      expect(holds({ properties: { constructor: { type: "string" } } }, { constructor: 1 })).to.equal(false);
      for (const $schema of DIALECTS) {
        const schema = JSON.parse(
          '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
        ) as object;
        expect(holds({ $schema, ...schema }, proto)).to.equal(false);
        expect(holds({ $schema, ...schema }, JSON.parse('{"__proto__":"text"}'))).to.equal(true);
        expect(holds({ $schema, ...schema }, { other: 1 })).to.equal(false);
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

  describe("CompiledSchema.check() patterns and formats", () => {
    const linear = (pattern: string, text: string): boolean =>
      new SchemaCache().compile({ pattern }, { trusted: false }).check(text) === undefined;

    it("check() answers a pattern that backtracks for ever", () => {
      const text = `${"a".repeat(50_000)}!`;
      for (const pattern of ["(a+)+$", "^(a|aa)+$", "^(\\w*)*$", "^([a-z]+)*[0-9]$"]) {
        expect(keywords({ pattern }, text), pattern).to.deep.equal(["pattern"]);
        expect(keywords({ patternProperties: { [pattern]: false } }, { [text]: 1 }), pattern).to.deep.equal([]);
      }
    });

    it("check() reads a pattern as ECMAScript does", () => {
      const texts = [
        "",
        "a",
        "A1",
        "é",
        "e\u0301",
        "\n",
        "a\nb",
        "\u2028",
        "\u00a0",
        "\ufeff",
        "٣",
        "😀",
        "\ud83d",
        "a😀b",
        "x-y",
        "[",
        "]",
        "^",
        "$5",
        "\\",
        "/",
        "_",
        "\b",
        "\0",
      ];
      const patterns = [
        ...[
          "\\d",
          "\\D",
          "\\w",
          "\\W",
          "\\s",
          "\\S",
          "^\\S+$",
          "\\b",
          "a\\b",
          "\\Ba",
          ".",
          "^.$",
          "^..$",
          "[\\s\\S]",
          "^[^]$",
          "[]",
        ],
        ...[
          "\\p{L}",
          "^\\P{L}$",
          "\\p{Lu}",
          "\\p{Script=Latin}",
          "\\p{Emoji}",
          "[\\p{L}\\d_-]+",
          "[^\\p{L}]",
          "\\u00e9",
          "\\xe9",
        ],
        ...[
          "\\u{1F600}",
          "\\ud83d\\ude00",
          "[\\ud83d\\ude00]",
          "[😀]",
          "^[^a]$",
          "(?<year>\\d)",
          "(?:a|)",
          "^(a|A1)?$",
          "a$",
          "^$",
        ],
        ...[
          "[\\b]",
          "\\0",
          "\\cJ",
          "[\\]\\[]",
          "[[:alpha:]]",
          "\\/",
          "\\$5",
          "[\\w-]",
          "x\\-y",
          "[a\\-z]",
          "a{1,2}?",
          "^a{0}$",
          "a{0,}",
          "\\^",
        ],
      ];
      for (const pattern of patterns) {
        const native = (() => {
          try {
            return new RegExp(pattern, "u");
          } catch {
            return new RegExp(pattern);
          }
        })();
        for (const text of texts)
          expect(linear(pattern, text), `/${pattern}/ on ${JSON.stringify(text)}`).to.equal(native.test(text));
      }
    });

    it("check() matches as the native engine does on generated patterns", () => {
      const units = ["a", "b", "A", "1", "_", "-", " ", "é", "😀", "\n", "\u2028"];
      const atom = fc.constantFrom(
        ...[
          "a",
          "b",
          "A",
          "1",
          "_",
          "é",
          "😀",
          ".",
          "\\d",
          "\\D",
          "\\w",
          "\\W",
          "\\s",
          "\\S",
          "\\p{L}",
          "\\P{Lu}",
          "\\u00e9",
          "\\x41",
        ],
        ...["[ab]", "[^a]", "[\\w-]", "[a-c1]", "[^\\s\\d]", "[é😀]", "[\\p{L}-]", "\\u{1F600}", "\\-", "-"],
      );
      const { pattern } = fc.letrec<{ pattern: string; term: string; group: string }>((tie) => ({
        pattern: fc
          .array(
            fc.array(tie("term"), { maxLength: 3 }).map((terms) => terms.join("")),
            { minLength: 1, maxLength: 2 },
          )
          .map((all) => all.join("|")),
        group: tie("pattern").chain((inner) => fc.constantFrom(`(${inner})`, `(?:${inner})`, `(?<n>${inner})`)),
        term: fc.oneof(
          { depthSize: "small", withCrossShrink: true },
          fc
            .tuple(atom, fc.constantFrom("", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{1,}"))
            .map((parts) => parts.join("")),
          fc.constantFrom("^", "$", "\\b", "\\B"),
          fc.tuple(tie("group"), fc.constantFrom("", "?", "*", "{0,2}")).map((parts) => parts.join("")),
        ),
      }));
      fc.assert(
        fc.property(
          pattern,
          fc.array(fc.string({ unit: fc.constantFrom(...units), maxLength: 8 }), { minLength: 1, maxLength: 6 }),
          (source, texts) => {
            let native: RegExp;
            try {
              native = new RegExp(source, "u");
            } catch {
              fc.pre(false);
              return;
            }
            const compiled = new SchemaCache().compile({ pattern: source }, { trusted: false });
            // V8 also tries a boundary between the two halves of a surrogate pair, against the standard.
            const fair = /\\b/i.test(source) ? texts.map((text) => text.replaceAll("😀", "é")) : texts;
            for (const text of fair)
              expect(compiled.check(text) === undefined, JSON.stringify(text)).to.equal(native.test(text));
          },
        ),
        { numRuns: 400 },
      );
    });

    it("check() counts beyond what the linear engine takes at once", () => {
      expect(linear("^[a-z]{3,2500}$", "a".repeat(2_500))).to.equal(true);
      expect(linear("^[a-z]{3,2500}$", "a".repeat(2_501))).to.equal(false);
      expect(linear("^(?:[a-z]{1,63}\\.){1,127}$", `${"a".repeat(63)}.`.repeat(127))).to.equal(true);
      expect(linear("^(?:[a-z]{1,63}\\.){1,127}$", `${"a".repeat(64)}.`)).to.equal(false);
      expect(refusal({ pattern: "(?:a{1000}){1000}" }, false).message).to.match(/too large/);
    });

    it("compile() runs what the linear engine cannot express natively for a trusted source alone", () => {
      for (const pattern of ["^(?=a)", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>"]) {
        const schema = { properties: { p: { pattern } } };
        const compiled = new SchemaCache().compile(schema);
        expect(compiled.nativePatterns).to.deep.equal([pattern]);
        expect(compiled.check({ p: "c" })).to.have.lengthOf(1);
        const error = refusal(schema, false);
        expect(error.message).to.match(/\/properties\/p\/pattern: the pattern .* cannot run in linear time/);
      }
      expect(new SchemaCache().compile({ pattern: "^a+$" }).nativePatterns).to.deep.equal([]);
    });

    it("check() tells the patterns of one schema apart", () => {
      const schema = {
        patternProperties: { "^a": { type: "string" }, "^b": { type: "number" } },
        additionalProperties: false,
      };
      expect(holds(schema, { a: "x", b: 1 })).to.equal(true);
      expect(holds(schema, { a: 1 })).to.equal(false);
      expect(holds(schema, { b: "x" })).to.equal(false);
      expect(holds(schema, { c: 1 })).to.equal(false);
    });

    it("check() checks formats, and refuses what would make a native one slow", () => {
      const cases: [string, string, string][] = [
        ["email", "a.b@example.org", "a.b@"],
        ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"],
        ["ipv4", "127.0.0.1", "127.0.0.256"],
        ["ipv6", "::1", "::g"],
        ["date", "2024-02-29", "2023-02-29"],
        ["date-time", "2024-01-01T00:00:00Z", "2024-01-01"],
        ["uri", "https://example.org/a?b#c", "not a uri"],
        ["uri-reference", "/a/b", "\\\\a"],
        ["uri-template", "/a/{b}", "/a/{b"],
        ["hostname", "example.org", "-a"],
        ["json-pointer", "/a~0b", "/a~2"],
        ["duration", "P1D", "P"],
        ["regex", "^a$", "("],
      ];
      for (const [format, good, bad] of cases) {
        expect(holds({ format }, good), `${format} ${good}`).to.equal(true);
        expect(holds({ format }, bad), `${format} ${bad}`).to.equal(false);
      }
      expect(holds({ format: "email" }, `${"a.".repeat(50_000)}@`)).to.equal(false);
      expect(holds({ format: "url" }, `https://example.org/${"a".repeat(4_000)}`)).to.equal(true);
      expect(holds({ format: "url" }, `https://example.org/${"a".repeat(5_000)}`)).to.equal(false);
      expect(holds({ format: "no-such-format" }, "x")).to.equal(true);
    });
  });

  describe("CompiledSchema.check() bounds", () => {
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

    it("check() lets large data have its way", () => {
      const leaf = { id: "x", kids: [] };
      const tree = {
        id: "x",
        kids: Array.from({ length: 500 }, () => ({ id: "x", kids: Array.from({ length: 400 }, () => ({ ...leaf })) })),
      };
      expect(holds({ properties: { id: { type: "string" }, kids: { items: { $ref: "#" } } } }, tree)).to.equal(true);
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

  describe("SchemaCache", () => {
    it("compile() finds equal content again, whatever the order of keys", () => {
      const cache = new SchemaCache();
      const first = cache.compile({ type: "object", properties: { a: { type: "string" } } });
      expect(cache.compile({ properties: { a: { type: "string" } }, type: "object" })).to.equal(first);
      expect(cache.compile({ type: "object", properties: { a: { type: "string" } } }, { trusted: false })).not.to.equal(
        first,
      );
      expect(cache.compile({ $schema: DRAFT_07, type: "object" })).not.to.equal(cache.compile({ type: "object" }));
      expect(cache.compile({ enum: [1, 2] })).not.to.equal(cache.compile({ enum: [2, 1] }));
    });

    it("compile() takes two schemas with one $id, and one schema twice", () => {
      const cache = new SchemaCache();
      const $id = "https://acme.test/same";
      const text = cache.compile({ $id, type: "string" });
      const count = cache.compile({ $id, type: "number" });
      cache.compile({ $id, type: "string" });
      expect([text.check("a"), count.check(1)]).to.deep.equal([undefined, undefined]);
      expect(text.check(1)).to.have.lengthOf(1);
    });

    it("compile() is not misled by a schema that its caller changes", () => {
      const cache = new SchemaCache();
      const schema: Record<string, unknown> = { type: "string" };
      const before = cache.compile(schema);
      schema["type"] = "number";
      expect(before.check("a")).to.equal(undefined);
      expect(cache.compile(schema).check("a")).to.have.lengthOf(1);
    });

    it("size stays within maxEntries, and the schema used least recently goes first", () => {
      const cache = new SchemaCache({ maxEntries: 3 });
      const kept = cache.compile({ minimum: 0 });
      for (let minimum = 1; minimum < 20; minimum++) {
        cache.compile({ minimum });
        expect(cache.compile({ minimum: 0 })).to.equal(kept);
        expect(cache.size).to.be.at.most(3);
      }
    });

    it("compile() leaks nothing over 10,000 schemas, and prints nothing", function () {
      this.timeout(60_000);
      const script = `
        import { SchemaCache } from ${JSON.stringify(new URL("../../src/runtime/schema-validator.js", import.meta.url).href)};
        const cache = new SchemaCache({ maxEntries: 50 });
        const run = (from, to) => {
          for (let minimum = from; minimum < to; minimum++) cache.compile({ $id: "urn:x", minimum }).check(0);
          try { cache.compile({ pattern: "(", "x-i": from, format: "nope" }); } catch {}
          try { cache.compile({ $ref: "#/gone", "x-i": from }); } catch {}
          cache.compile({ format: "nope", nullable: true, items: [true], $schema: "${DRAFT_07}" }).check("x");
          gc();
          return process.memoryUsage().heapUsed;
        };
        const warm = run(0, 1000);
        const after = run(1000, 10000);
        // Node 26 keeps over a kilobyte of each function that is made from text, whoever makes it.
        for (let index = 0; index < 18000; index++) new Function("return " + index)();
        gc();
        const bare = process.memoryUsage().heapUsed - after;
        process.stdout.write(JSON.stringify({ grown: after - warm - bare, size: cache.size }));
      `;
      const child = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", script], {
        encoding: "utf8",
      });
      expect(child.stderr).to.equal("");
      const { grown, size } = JSON.parse(child.stdout) as { grown: number; size: number };
      expect(size).to.be.at.most(50);
      expect(grown).to.be.lessThan(20e6);
    });
  });
});
