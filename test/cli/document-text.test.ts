import { expect } from "chai";
import { documentText } from "../../src/cli/document-text.js";

const shown = (value: unknown): unknown => JSON.parse(documentText(value)) as unknown;

describe("documentText()", () => {
  it("is JSON.stringify where JSON has a form", () => {
    for (const value of [
      null,
      1,
      "text",
      [],
      {},
      { a: [1, { b: "ü\n" }], c: undefined },
      [undefined],
      [new Number(3)],
    ]) {
      expect(documentText(value)).to.equal(JSON.stringify(value, undefined, 2));
      expect(documentText(value, 0)).to.equal(JSON.stringify(value));
    }
    expect(documentText(undefined)).to.equal("null");
  });

  it("gives a form to what JSON has none for", () => {
    expect(
      shown({
        big: [12345678901234567890n, Object(7n)],
        numbers: [NaN, Infinity, -Infinity],
        dates: [new Date(0), new Date(NaN)],
        pattern: /a\/b/gu,
      }),
    ).to.deep.equal({
      big: ["12345678901234567890", "7"],
      numbers: ["NaN", "Infinity", "-Infinity"],
      dates: ["1970-01-01T00:00:00.000Z", "Invalid Date"],
      pattern: "/a\\/b/gu",
    });
  });

  it("drops nothing of maps, sets, bytes and errors", () => {
    expect(
      shown(
        new Map<unknown, unknown>([
          ["a", new Set([1n])],
          [{ b: 1 }, new Map()],
        ]),
      ),
    ).to.deep.equal({
      Map: [
        ["a", { Set: ["1"] }],
        [{ b: 1 }, { Map: [] }],
      ],
    });
    const bytes = Uint8Array.of(1, 2, 3);
    expect(
      shown([
        bytes,
        bytes.subarray(1),
        bytes.buffer,
        new DataView(bytes.buffer, 2),
        Float64Array.of(0.5, NaN),
        BigInt64Array.of(1n),
      ]),
    ).to.deep.equal([
      { Uint8Array: "AQID" },
      { Uint8Array: "AgM=" },
      { ArrayBuffer: "AQID" },
      { DataView: "Aw==" },
      { Float64Array: [0.5, "NaN"] },
      { BigInt64Array: ["1"] },
    ]);
    const error = Object.assign(new RangeError("too far", { cause: new Map([["at", 1]]) }), { code: "FAR" });
    expect(shown(error))
      .to.have.property("RangeError")
      .that.includes({ name: "RangeError", message: "too far", code: "FAR" });
    expect(shown(error)).to.have.deep.nested.property("RangeError.cause", { Map: [["at", 1]] });
    expect(shown([new Blob(["x"])])).to.deep.equal(["[Blob]"]);
  });

  it("marks a cycle by where it leads, also through a map, and writes twice what is there twice", () => {
    const part: Record<string, unknown> = { name: "part" };
    part["self"] = part;
    const map = new Map<string, unknown>();
    map.set("map", map);
    expect(shown({ "a/b": [part], map, again: [map, map] })).to.deep.equal({
      "a/b": [{ name: "part", self: "[circular: /a~1b/0]" }],
      map: { Map: [["map", "[circular: /map]"]] },
      again: [{ Map: [["map", "[circular: /again/0]"]] }, { Map: [["map", "[circular: /again/1]"]] }],
    });
    const whole: unknown[] = [];
    whole.push(whole);
    expect(shown(whole)).to.deep.equal(["[circular: the whole]"]);
  });

  it("ends where the stack would, and keeps a field named __proto__", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(documentText(deep, 0)).to.include("deeper than 1000 levels");
    expect(documentText(JSON.parse('{"__proto__":{"a":1}}'), 0)).to.equal('{"__proto__":{"a":1}}');
  });

  it("leaves no control character that a terminal obeys", () => {
    const text = "\u001b[31m\u009b2J\u007f\u202e\t\n";
    expect(documentText([text], 0)).to.equal('["\\u001b[31m\\u009b2J\\u007f\\u202e\\t\\n"]');
    expect(shown([text])).to.deep.equal([text]);
  });
});
