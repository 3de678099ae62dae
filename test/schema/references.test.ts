import { expect } from "chai";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { DRAFT_07, DRAFT_2020, holds, keywords, refusal } from "./questions.js";

describe("schema/references", () => {
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
    for (const schema of circles) expect(refusal(schema).message).to.match(/refers to itself without taking any data/);
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
    expect(holds({ $id, items: { $ref: `${$id}#/$defs/n` }, $defs: { n: { type: "number" } } }, ["a"])).to.equal(false);
    expect(holds({ $ref: "#/x-types/n", "x-types": { n: { type: "number", nullable: true } } }, null)).to.equal(false);
    expect(holds({ items: { $ref: DRAFT_2020 } }, [{ type: "strin" }])).to.equal(false);
    expect(holds({ $schema: DRAFT_07, items: { $ref: DRAFT_07 } }, [{ type: "strin" }])).to.equal(false);
  });

  it("compile() takes a $dynamicRef for a plain one where its resource has no dynamic anchor of that name", () => {
    const inner = { $id: "https://acme.test/inner", $defs: { n: { $anchor: "n", type: "number" } } };
    const elsewhere = { $id: "https://acme.test/elsewhere", $dynamicAnchor: "n", type: "string" };
    for (const $dynamicRef of ["#/$defs/n", "#n"]) {
      const schema = {
        $id: "https://acme.test/outer",
        items: { ...inner, properties: { a: { $dynamicRef } } },
        $defs: { elsewhere },
      };
      expect(holds(schema, [{ a: 1 }]), $dynamicRef).to.equal(true);
      expect(holds(schema, [{ a: "x" }]), $dynamicRef).to.equal(false);
    }
  });
});
