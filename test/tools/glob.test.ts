import { expect } from "chai";
import fc from "fast-check";
import { Glob } from "../../tools/glob.js";

function matches(pattern: string, path: string): boolean {
  const glob = new Glob(pattern);
  return glob.matches(glob.advance(glob.start, path));
}

describe("tools/glob", () => {
  it("Glob() matches stars, marks and braces", () => {
    const cases: [pattern: string, yes: string[], no: string[]][] = [
      ["*.ts", ["a.ts", ".ts"], ["a/b.ts", "a.tsx", "ats"]],
      ["?.ts", ["a.ts", "é.ts", "😀.ts"], [".ts", "ab.ts", "/.ts"]],
      ["**", ["a", "a/b", "a/b/c"], []],
      ["**/*.ts", ["a.ts", "b/a.ts", "c/b/a.ts"], ["a.js", "b.ts/a"]],
      ["src/**", ["src/a", "src/a/b"], ["src", "srca", "lib/src/a"]],
      ["src/**/x", ["src/x", "src/a/x", "src/a/b/x"], ["src/ax", "srcx", "x"]],
      ["a**b", ["ab", "axxb"], ["a/b"]],
      ["***", ["a"], ["a/b"]],
      ["*.{ts,js}", ["a.ts", "a.js"], ["a.", "a.tsjs", "a.{ts,js}"]],
      ["{a,b{c,d}}/x", ["a/x", "bc/x", "bd/x"], ["b/x", "abc/x"]],
      ["{src/**,test/*}.ts", ["src/a/b.ts", "test/a.ts"], ["test/a/b.ts"]],
      ["a{,.min}.js", ["a.js", "a.min.js"], ["amin.js"]],
      ["{a}", ["{a}"], ["a"]],
      ["{a,b", ["{a,b"], ["a", "b"]],
      ["a,b}", ["a,b}"], ["a"]],
      ["\\*.ts", ["*.ts"], ["a.ts"]],
      ["\\{a,b\\}", ["{a,b}"], ["a"]],
      ["{a\\,b,c}", ["a,b", "c"], ["a"]],
      ["[id].ts", ["[id].ts"], ["i.ts"]],
      ["a.b+c(d)$", ["a.b+c(d)$"], ["axb+c(d)$"]],
    ];
    for (const [pattern, yes, no] of cases) {
      for (const path of yes) expect(matches(pattern, path), `${pattern} on ${path}`).to.equal(true);
      for (const path of no) expect(matches(pattern, path), `${pattern} on ${path}`).to.equal(false);
    }
  });

  it("Glob() agrees with a regular expression, for any pattern and path", () => {
    const token = fc.constantFrom("a", "b", "/", "*", "?", "**/", "{a,b}", "{,a}", ".");
    const path = fc.stringMatching(/^[ab./]{0,8}$/);
    fc.assert(
      fc.property(fc.array(token, { maxLength: 6 }), path, (tokens, text) => {
        // Three stars in a row, and two that do not begin a segment, have a meaning of their own.
        fc.pre(tokens.every((each, at) => each !== "**/" || at === 0 || /\/$/.test(tokens[at - 1] ?? "")));
        fc.pre(!tokens.some((each, at) => each === "*" && /\*/.test(tokens[at + 1] ?? "")));
        const source = tokens.map((each) => {
          if (each === "*") return "[^/]*";
          if (each === "?") return "[^/]";
          if (each === "**/") return "(?:.*/)?";
          if (each === "{a,b}") return "(?:a|b)";
          return each === "{,a}" ? "a?" : each.replace(".", "\\.");
        });
        expect(matches(tokens.join(""), text)).to.equal(new RegExp(`^${source.join("")}$`).test(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("advance() goes on from where it stood, and has no threads left when nothing can match", () => {
    const glob = new Glob("src/**/*.ts");
    const folder = glob.advance(glob.start, "src/");
    expect(glob.matches(folder)).to.equal(false);
    expect(glob.matches(glob.advance(folder, "a/b.ts"))).to.equal(true);
    expect(glob.matches(glob.advance(folder, "b.ts"))).to.equal(true);
    expect(glob.advance(glob.start, "test/")).to.have.length(0);
  });

  it("Glob() takes any pattern, and none makes it slow", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("{},*?\\/a")) }), (pattern) => {
        matches(pattern, "a/a");
      }),
    );
    const text = `${"a".repeat(2_000)}c`;
    for (const pattern of ["*a".repeat(100) + "b", "{a,aa}".repeat(100), "{".repeat(300) + ",}".repeat(300)]) {
      const states = new Glob(pattern).advance(new Glob(pattern).start, text);
      expect(states.length).to.be.at.most(2 * pattern.length);
    }
  });
});
