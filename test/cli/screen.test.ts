import { PassThrough } from "node:stream";
import { expect } from "chai";
import { Screen, type Picture } from "../../src/cli/screen.js";

describe("cli/screen", () => {
  const stream = (): PassThrough => new PassThrough({ highWaterMark: 1 << 20 });
  const written = (output: PassThrough): string => {
    const next = (): Buffer | null => output.read() as Buffer | null;
    let text = "";
    // Some Nodes give all that is there at once, others a chunk at a time.
    for (let chunk = next(); chunk !== null; chunk = next()) text += chunk.toString();
    return text;
  };

  it("clear() holds what others write until restore(), in its order", () => {
    const output = stream();
    const screen = new Screen(output);
    screen.write("a\n");
    screen.clear();
    screen.write("b\n");
    screen.ask("really? ");
    screen.write("c\n");
    expect(written(output)).to.equal("a\nreally? ");
    screen.restore();
    screen.write("d\n");
    expect(written(output)).to.equal("b\nc\nd\n");
  });

  it("clear() keeps so much and no more, and says so", () => {
    const output = stream();
    const screen = new Screen(output);
    screen.clear();
    for (let entry = 0; entry < 1_500; entry++) screen.write(`${entry}\n`);
    screen.restore();
    expect(written(output).trimEnd().split("\n").slice(-2)).to.deep.equal(["999", "(500 more entries were not kept)"]);
  });

  it("add() hides pictures while a question stands, also those that come meanwhile", () => {
    const told: string[] = [];
    const picture = (name: string): Picture => ({
      hide: () => told.push(`${name} hides`),
      show: () => told.push(`${name} shows`),
    });
    const screen = new Screen(stream());
    const [one, other] = [picture("one"), picture("other")];
    screen.add(one);
    screen.clear();
    screen.add(other);
    screen.remove(one);
    screen.restore();
    expect(told).to.deep.equal(["one hides", "other hides", "other shows"]);
  });
});
