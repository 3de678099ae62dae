import { expect } from "chai";
import fc from "fast-check";
import { jsonFault } from "../../tools/json-fault.js";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("tools/json-fault", () => {
  it("jsonFault() finds a fault where JSON.parse() does, and only there", () => {
    const parts = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "nul",
      " ",
      "\n",
      "\\u00e9",
      "\\",
      "\t",
    ];
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join("")),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...parts)).map(([json, at, part]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + part + json.slice(place + 1);
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(jsonFault(text) === undefined).to.equal(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("jsonFault() says where and what is expected", () => {
    for (const [text, line, column, expected] of [
      ["", 1, 1, "a value"],
      ["[1,]", 1, 4, "a value"],
      ["[1 2]", 1, 4, '"," or "]"'],
      ['{"a":1\n "b":2}', 2, 2, '"," or "}"'],
      ["{a:1}", 1, 2, "a name in quotes"],
      ['{"a" 1}', 1, 6, '":"'],
      ['{"a":1,}', 1, 8, "a name in quotes"],
      ['["a', 1, 4, "a quote that ends the string"],
      ['["\\x"]', 1, 3, "an escape that JSON knows"],
      ['["\n"]', 1, 3, "an escape in place of a control character"],
      ["1 2", 1, 3, "the end"],
      ["01", 1, 2, "the end"],
      ["[1]\r\n]", 2, 1, "the end"],
    ] as const) {
      expect(jsonFault(text), text).to.include({ line, column, expected });
    }
  });

  it("jsonFault() says what stands there", () => {
    expect(jsonFault("[1 2, 3]")?.found).to.equal("2, 3]");
    expect(jsonFault(`[1 ${"x".repeat(50)}`)?.found).to.equal("x".repeat(20));
    expect(jsonFault("[1,\r\n x\r\n]")?.found).to.equal("x");
    expect(jsonFault("[")?.found).to.equal("");
  });

  it("jsonFault() goes as deep as JSON may", () => {
    const depth = 200_000;
    expect(jsonFault("[".repeat(depth) + "]".repeat(depth))).to.equal(undefined);
    expect(jsonFault("[".repeat(depth))).to.include({ column: depth + 1 });
    expect(jsonFault(`["${"x".repeat(5_000_000)}"`)).to.include({ expected: '"," or "]"' });
  });
});
