import { runInNewContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import {
  copyPayload,
  flatSize,
  measurePayload,
  type PayloadLimits,
  type PayloadRefusal,
} from "../../src/protocol/payload.js";

const NO_LIMITS: PayloadLimits = { maxBytes: Infinity, maxDepth: Infinity, maxValues: Infinity };

const refusalOf = (value: unknown, limits: Partial<PayloadLimits> = {}): PayloadRefusal => {
  const measured = measurePayload(value, { ...NO_LIMITS, ...limits });
  if (typeof measured === "number") throw new Error(`expected a refusal, got ${measured} bytes`);
  return measured;
};

const sizeOf = (value: unknown, limits: Partial<PayloadLimits> = {}): number => {
  const measured = measurePayload(value, { ...NO_LIMITS, ...limits });
  if (typeof measured !== "number") throw new Error(`expected a size, got "${measured.message}"`);
  return measured;
};

const nest = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
};

describe("protocol/payload", () => {
  it("copyPayload() gives what a structured clone gives, and what was given stays untouched", () => {
    for (const value of [
      undefined,
      null,
      1,
      "text",
      {},
      { one: 1, none: undefined },
      { deep: [{ er: 1 }] },
      [1, 2],
      new Map([[1, 2]]),
    ]) {
      const copy = copyPayload(value, flatSize(value, NO_LIMITS) >= 0);
      expect(copy).to.deep.equal(value);
      if (typeof value === "object" && value !== null) expect(copy).not.to.equal(value);
    }
  });

  it("copyPayload() throws where a structured clone throws", () => {
    for (const value of [() => 1, { run: () => 1 }, new Proxy({ one: 1 }, {})]) {
      expect(() => copyPayload(value, flatSize(value, NO_LIMITS) >= 0)).to.throw(DOMException);
    }
  });

  it("measurePayload() counts texts by length, numbers as 8, binary data by its bytes, keys included", () => {
    expect(sizeOf(undefined)).to.equal(0);
    expect(sizeOf("four")).to.equal(4);
    expect(sizeOf(1)).to.equal(8);
    expect(sizeOf({ key: "four" })).to.equal(7);
    expect(sizeOf([1, "ab", null])).to.equal(14);
    expect(sizeOf(new ArrayBuffer(100))).to.equal(100);
    expect(sizeOf({ a: new Uint8Array(50) })).to.equal(51);
    expect(sizeOf(new Map([["ab", 1]]))).to.equal(10);
    expect(sizeOf(new Set(["ab", "cd"]))).to.equal(4);
    expect(sizeOf({ when: new Date(0) })).to.equal(20);
  });

  it("measurePayload() never throws and never refuses JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const size = sizeOf(value);
        expect(size).to.be.at.least(0);
        expect(structuredClone(value)).to.deep.equal(value);
      }),
      { numRuns: 300 },
    );
  });

  it("measurePayload() says of what it lets through only that which can be cloned", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const measured = measurePayload(value, NO_LIMITS);
        if (typeof measured === "number") structuredClone(value);
        else expect(measured.reason).to.equal("not_cloneable");
      }),
      { numRuns: 300 },
    );
  });

  it("measurePayload() goes 200,000 levels deep without a stack", () => {
    for (const wrap of [
      (inner: unknown) => [inner],
      (inner: unknown) => ({ inner }),
      (inner: unknown) => new Set([inner]),
    ]) {
      const deep = nest(200_000, wrap);
      expect(sizeOf(deep)).to.be.at.least(8);
      expect(refusalOf(deep, { maxDepth: 500 })).to.include({ reason: "too_large" });
    }
  });

  it("measurePayload() lets through as many levels as it is told, and no more", () => {
    for (const depth of [1, 2, 10, 500]) {
      const value = nest(depth, (inner) => [inner]);
      expect(sizeOf(value, { maxDepth: depth })).to.equal(8);
      expect(refusalOf(value, { maxDepth: depth - 1 }).message).to.include(`${depth - 1} levels`);
    }
    expect(sizeOf("text", { maxDepth: 0 })).to.equal(4);
  });

  it("measurePayload() takes a million keys", () => {
    const many: Record<string, number> = {};
    for (let index = 0; index < 1_000_000; index++) many[`key${index}`] = index;
    expect(sizeOf(many)).to.be.above(8_000_000);
    expect(refusalOf(many, { maxValues: 999_999 })).to.include({ reason: "too_large" });
    expect(sizeOf(many, { maxValues: 1_000_001 })).to.be.above(0);
    expect(refusalOf(many, { maxBytes: 1_000_000 }).message).to.include("1000000 bytes");
  });

  it("measurePayload() stops soon after the bound is passed, also inside one long list", () => {
    let reads = 0;
    const long = new Proxy(new Array<number>(1_000_000).fill(1), {
      get(target, key, receiver) {
        reads++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    expect(refusalOf(long, { maxValues: 1_000 })).to.include({ reason: "too_large" });
    expect(reads).to.be.below(10_000);
  });

  it("measurePayload() counts what is met twice once, so a circle ends", () => {
    const circle: Record<string, unknown> = { text: "abc" };
    circle["self"] = circle;
    circle["again"] = [circle, circle];
    expect(sizeOf(circle)).to.equal("text".length + "abc".length + "self".length + "again".length);
    const shared = { text: "x".repeat(100) };
    expect(sizeOf([shared, shared, shared])).to.equal(104);
  });

  it("measurePayload() refuses a function or a symbol and says where it is", () => {
    expect(refusalOf(() => undefined)).to.include({ reason: "not_cloneable", message: "holds a function" });
    expect(refusalOf(Symbol("s"))).to.include({ reason: "not_cloneable", message: "holds a symbol" });
    expect(refusalOf({ deep: { callback: () => undefined } }).message).to.match(/holds a function .*"callback"/);
    expect(refusalOf({ deep: [{ mark: Symbol("s") }] }).message).to.match(/holds a symbol .*"mark"/);
    expect(refusalOf([() => undefined])).to.include({ reason: "not_cloneable" });
    expect(refusalOf(new Map([["key", () => undefined]]))).to.include({ reason: "not_cloneable" });
    expect(refusalOf({ ["k".repeat(10_000)]: () => undefined }).message.length).to.be.below(300);
  });

  it("measurePayload() refuses what would arrive empty", () => {
    class Secret {
      readonly #value: number;
      constructor(value: number) {
        this.#value = value;
      }
      get value(): number {
        return this.#value;
      }
    }
    expect(refusalOf(new Secret(1))).to.include({ reason: "not_cloneable" });
    expect(refusalOf({ secret: new Secret(1) }).message).to.include("Secret");
    for (const value of [
      new WeakMap(),
      new WeakSet(),
      new WeakRef({}),
      Promise.resolve(),
      new URL("https://example.org"),
    ]) {
      expect(refusalOf([value]), value.constructor.name).to.include({ reason: "not_cloneable" });
    }
  });

  it("measurePayload() lets through a class's instance with fields of its own", () => {
    class Point {
      readonly x = 1;
      readonly y = 2;
    }
    expect(sizeOf(new Point())).to.equal(18);
    expect(refusalOf(Object.assign(new Point(), { move: () => undefined })).message).to.include("move");
  });

  it("measurePayload() refuses shared memory wherever it is", () => {
    const shared = new SharedArrayBuffer(8);
    for (const value of [shared, { shared }, [new Uint8Array(shared)], new Map([["key", new DataView(shared)]])]) {
      expect(refusalOf(value)).to.include({ reason: "not_cloneable" });
    }
    expect(refusalOf(shared).message).to.include("SharedArrayBuffer");
  });

  it("measurePayload() counts the text of errors and of boxed strings", () => {
    const text = "x".repeat(100_000);
    for (const value of [new Error(text), new String(text), [Object(text)]]) {
      expect(refusalOf(value, { maxBytes: 50_000 })).to.include({ reason: "too_large" });
    }
  });

  it("measurePayload() counts the source of regular expressions", () => {
    expect(refusalOf([new RegExp("x".repeat(100_000))], { maxBytes: 50_000 })).to.include({ reason: "too_large" });
  });

  it("measurePayload() refuses what cannot be read", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = Object.defineProperty({}, "a", { get: () => expect.fail("hostile"), enumerable: true });
    const lying = new Proxy({ a: 1 }, { ownKeys: () => expect.fail("hostile") });
    for (const value of [proxy, hostile, lying, [proxy], { hostile }]) {
      expect(refusalOf(value)).to.include({ reason: "not_cloneable" });
    }
  });

  it("measurePayload() takes values of another realm", () => {
    expect(sizeOf(runInNewContext("({ a: [1, 'text'] })"))).to.equal(13);
    expect(sizeOf(runInNewContext("({})"))).to.equal(0);
    expect(sizeOf(runInNewContext("new Map([['ab', 1]])"))).to.equal(10);
    expect(sizeOf(runInNewContext("new Uint8Array(10)"))).to.equal(10);
  });

  it("measurePayload() takes an object without a prototype", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(sizeOf(bare)).to.equal(9);
    expect(sizeOf(Object.create(null))).to.equal(0);
  });

  it("measurePayload() holds the bound on bytes for one text", () => {
    expect(sizeOf("x".repeat(100), { maxBytes: 100 })).to.equal(100);
    expect(refusalOf("x".repeat(101), { maxBytes: 100 })).to.include({ reason: "too_large" });
  });
});
