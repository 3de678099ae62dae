import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { SchemaCache } from "../../src/schema/cache.js";
import { DRAFT_07 } from "./questions.js";

describe("schema/cache", () => {
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
      import { SchemaCache } from ${JSON.stringify(new URL("../../src/schema/cache.js", import.meta.url).href)};
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
