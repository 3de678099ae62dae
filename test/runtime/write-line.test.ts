import { expect } from "chai";
import { WriteLine } from "../../src/runtime/write-line.js";
import { afterReadyWork, deferred } from "../support/outcomes.js";

describe("runtime/write-line", () => {
  let emptied: number;
  let line: WriteLine;
  beforeEach(() => {
    emptied = 0;
    line = new WriteLine(() => emptied++);
  });

  it("enter() gives one turn at a time, in the order of the line", () => {
    const given: string[] = [];
    const turns = ["a", "b", "c"].map((name) => {
      const turn = line.enter();
      turn.onGiven = () => given.push(name);
      return turn;
    });
    expect(turns.map(({ isGiven }) => isGiven)).to.deep.equal([true, false, false]);
    turns[0]!.end();
    expect(given).to.deep.equal(["b"]);
    turns[1]!.end();
    expect(given).to.deep.equal(["b", "c"]);
    expect(emptied).to.equal(0);
    turns[2]!.end();
    expect([emptied, line.busy]).to.deep.equal([1, false]);
  });

  it("end() of a turn that waits leaves the line", () => {
    const [first, second, third] = [line.enter(), line.enter(), line.enter()];
    second.end();
    first.end();
    expect([second.isGiven, third.isGiven]).to.deep.equal([false, true]);
    third.end();
    third.end();
    expect(emptied).to.equal(1);
  });

  it("end() keeps the turn while calls of its own hold or wait for one", () => {
    const [outer, next] = [line.enter(), line.enter()];
    const [one, two] = [outer.inner.enter(), outer.inner.enter()];
    expect([one.isGiven, two.isGiven]).to.deep.equal([true, false]);
    outer.end();
    one.end();
    expect([two.isGiven, outer.isOver, next.isGiven]).to.deep.equal([true, false, false]);
    two.end();
    expect([outer.isOver, next.isGiven]).to.deep.equal([true, true]);
  });

  it("keepFor() keeps the turn until a work is done, however it ends", async () => {
    const [first, second] = [line.enter(), line.enter()];
    const work = deferred();
    void first.keepFor(work.promise);
    first.end();
    expect(second.isGiven).to.equal(false);
    work.reject(new Error("no"));
    await afterReadyWork();
    expect(second.isGiven).to.equal(true);
  });
});
