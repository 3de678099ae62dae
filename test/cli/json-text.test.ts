import { expect } from "chai";
import { parseJson } from "../../src/cli/json-text.js";
import { UsageError } from "../../src/cli/usage-error.js";
import { thrownBy } from "../support/outcomes.js";

describe("parseJson()", () => {
  it("reads JSON, with a byte order mark too", () => {
    for (const text of ['{"a":[1,-2.5e3,"x\\u00e9\\n",true,null,{}]}', "\ufeff[1]", ' "text" ', "0"])
      expect(parseJson(text, "it")).to.deep.equal(JSON.parse(text.replace("\ufeff", "")));
  });

  it("tells line and column of what cannot stand there, also of what YAML would take", () => {
    const cases: [string, number, number][] = [
      ["", 1, 1],
      ["nope", 1, 1],
      ["{a: 1}", 1, 2],
      ["{'a': 1}", 1, 2],
      ['{"a": 1,}', 1, 9],
      ["[1,]", 1, 4],
      ["[1 2]", 1, 4],
      ['{"a" 1}', 1, 6],
      ['{"a":01}', 1, 6],
      ['{"a":tru}', 1, 6],
      ["[1.]", 1, 2],
      ['{\n  "a": 1,\n  "b": .5\n}', 3, 8],
      ['[1, "a\nb"]', 1, 5],
      ['"\\x"', 1, 1],
      ["[1]\n]", 2, 1],
      ["[}", 1, 2],
      ["{]", 1, 2],
      ["[1,\n", 2, 1],
      ['\ufeff{"a":}', 1, 6],
    ];
    for (const [text, line, column] of cases) {
      const error = thrownBy(() => parseJson(text, "a.json", " Mend it."));
      expect(error, text).to.be.instanceOf(UsageError);
      expect(error, text).to.include({ message: `a.json is no JSON at line ${line}, column ${column}. Mend it.` });
    }
  });

  it("finds a fault behind much, and at the end of depth", () => {
    const long = `["${"x".repeat(2_000_000)}",`;
    expect(thrownBy(() => parseJson(long, "it"))).to.include({
      message: `it is no JSON at line 1, column ${long.length + 1}.`,
    });
    const deep = "[".repeat(100_000);
    expect(thrownBy(() => parseJson(deep, "it"))).to.include({ message: "it is no JSON at line 1, column 100001." });
  });
});
