import { expect } from "chai";
import fc from "fast-check";
import { SchemaCache } from "../../src/schema/cache.js";
import { holds, keywords, refusal } from "./questions.js";

describe("schema/patterns", () => {
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
        "^[\\w-.]+$",
        "[+-\\d]",
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
});
