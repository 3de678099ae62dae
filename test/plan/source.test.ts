import { expect } from "chai";
import { PlanSource } from "../../src/plan/index.js";

const problemsOf = (text: string): string[] =>
  new PlanSource(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);

const valueOf = (text: string): unknown => {
  expect(problemsOf(text)).to.deep.equal([]);
  return new PlanSource(text).value;
};

describe("plan/source", () => {
  it("PlanSource() refuses an alias inside of its own anchor, and places it", () => {
    expect(problemsOf("a: 1\nb: &x { path: *x }\n")).to.deep.equal([
      "2:15 *x stands inside of &x, the value that it stands for, which so has no end",
    ]);
    expect(problemsOf("a: &x [1, &y { b: *x, c: *y }]\n").map((each) => each.slice(0, 7))).to.deep.equal([
      "1:19 *x",
      "1:26 *y",
    ]);
  });

  it("PlanSource() refuses an alias of nothing, and places it", () => {
    expect(problemsOf("a: *x\nb: &x 1\n")).to.deep.equal(["1:4 no value above is named &x, which *x stands for"]);
  });

  it("PlanSource() takes the last anchor of a name before the alias", () => {
    expect(valueOf("a: &x 1\nb: *x\nc: &x { d: &x 2, e: *x }\nf: *x\n")).to.deep.equal({
      a: 1,
      b: 1,
      c: { d: 2, e: 2 },
      f: 2,
    });
  });

  it("PlanSource() reads a small value by many aliases", () => {
    const uses = Array.from({ length: 2_000 }, () => "*x").join(", ");
    expect(valueOf(`a: &x { glob: "**" }\nb: [${uses}]\n`))
      .to.have.property("b")
      .with.lengthOf(2_000);
  });

  it("PlanSource() bounds what aliases unfold into, also through each other", () => {
    const uses = (name: string, count: number): string => Array.from({ length: count }, () => `*${name}`).join(", ");
    const text = `a: &x "${"x".repeat(100_000)}"\nb: [${uses("x", 10)}]\n`;
    expect(valueOf(text)).to.have.property("b").with.lengthOf(10);
    const problems = problemsOf(`${text}c: [${uses("x", 100)}]\n`);
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]).to.match(/^3:5 aliases up to \*x unfold into more than 1048576 characters; /);
    const levels = Array.from(
      { length: 40 },
      (_, at) => `l${at}: &l${at} [${at === 0 ? "x" : uses(`l${at - 1}`, 10)}]`,
    );
    expect(problemsOf(levels.join("\n"))[0]).to.match(/^\d+:\d+ aliases up to \*l\d unfold into more than 1048576 /);
  });

  it("PlanSource() bounds how deep values stand in each other, also through aliases", () => {
    const problem = "more than 200 lists and objects stand in each other here";
    expect(valueOf("[".repeat(200) + "]".repeat(200))).to.be.an("array");
    expect(problemsOf("[".repeat(201) + "]".repeat(201))).to.deep.equal([`1:201 ${problem}`]);
    for (const deep of ["[", "- ", '{ "a": ', "? "]) {
      expect(problemsOf(`a: 1\n---\n${deep.repeat(50_000)}`), deep).to.have.lengthOf(1);
      expect(problemsOf(deep.repeat(50_000))[0], deep).to.match(new RegExp(`^1:\\d+ ${problem}$`));
    }
    const levels = Array.from({ length: 2_000 }, (_, at) => `l${at}: &l${at} [${at === 0 ? "x" : `*l${at - 1}`}]`);
    expect(problemsOf(levels.join("\n"))[0]).to.equal(`200:14 ${problem}`);
  });

  it("PlanSource() refuses a second document, and places it", () => {
    const problem = "3:1 a second document starts here, and a file holds one; give it a file of its own";
    expect(problemsOf("---\na: 1\n---\nb: 2\n")).to.deep.equal([problem]);
    expect(valueOf("---\na: 1\n...\n")).to.deep.equal({ a: 1 });
  });

  for (const tag of ["!!timestamp 2001-01-01", "!!set { x }", "!!omap [x: 1]", "!!binary aGk=", "!own x"]) {
    const [name] = tag.split(" ");
    it(`PlanSource() refuses ${name}, and places it`, () => {
      expect(problemsOf(`a: 1\nb: ${tag}\n`)).to.deep.equal([
        `2:4 the tag ${name} cannot be used here, where values are of JSON's types; write the value without it, a text in quotes`,
      ]);
    });
  }

  it("PlanSource() reads the tags of JSON's types", () => {
    const text = "a: !!str 5\nb: !!int 5\nc: !!bool true\nd: !!null ''\ne: !!map {}\nf: !!seq []\ng: ! 5\n";
    expect(valueOf(text)).to.deep.equal({ a: "5", b: 5, c: true, d: null, e: {}, f: [], g: "5" });
  });

  it("PlanSource() refuses numbers and names of fields that JSON does not have, and places them", () => {
    expect(problemsOf("a: .inf\nb: [1e999, .nan]\n")).to.deep.equal([
      "1:4 Infinity is no number of JSON's; quote it where a text is meant",
      "2:5 Infinity is no number of JSON's; quote it where a text is meant",
      "2:12 NaN is no number of JSON's; quote it where a text is meant",
    ]);
    expect(problemsOf("? [a, b]\n: 1\n")).to.deep.equal(["1:3 a field's name must be a text"]);
  });
});
