import { expect } from "chai";
import fc from "fast-check";
import { ToolRuntimeError } from "../../src/protocol/errors.js";
import { Admission, type TurnTaker } from "../../src/runtime/admission.js";
import { thrownBy } from "../support/outcomes.js";

class Taker implements TurnTaker {
  readonly toolName = "acme/tool";
  hasTurn = false;
  lends = 0;
  given = 0;

  constructor(readonly planId: string) {}

  turnGiven(): void {
    this.given++;
  }
}

const takers = (...plans: string[]): Taker[] => plans.map((planId) => new Taker(planId));

describe("runtime/admission", () => {
  it("enter() gives a turn at once while there is one", () => {
    const admission = new Admission({ maxActiveCalls: 2, maxQueuedCalls: 10 });
    const [first, second, third] = takers("a", "a", "a") as [Taker, Taker, Taker];
    expect(admission.enter(first)).to.equal(true);
    expect(admission.enter(second)).to.equal(true);
    expect(admission.enter(third)).to.equal(false);
    expect(admission).to.include({ active: 2, waiting: 1 });
    expect([first.given, third.given]).to.deep.equal([0, 0]);
    admission.end(first);
    expect(third).to.include({ given: 1, hasTurn: true });
    expect(admission).to.include({ active: 2, waiting: 0 });
  });

  it("enter() refuses one more than may wait, and forgets nobody for it", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 2 });
    const [running, ...waiting] = takers("a", "a", "b");
    admission.enter(running!);
    for (const taker of waiting) admission.enter(taker);
    const error = thrownBy(() => admission.enter(new Taker("c")));
    expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "OVERLOADED");
    expect((error as ToolRuntimeError).details).to.deep.equal({ tool: "acme/tool", planId: "c", open: 3 });
    expect((error as Error).message).to.include("maxQueuedCalls");
    admission.end(running!);
    admission.end(waiting[0]!);
    expect(waiting.map(({ given }) => given)).to.deep.equal([1, 1]);
  });

  it("enter() refuses at once where nobody may wait", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 0 });
    admission.enter(new Taker("a"));
    expect(thrownBy(() => admission.enter(new Taker("a")))).to.have.property("code", "OVERLOADED");
  });

  it("end() gives turns to plans in turn", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 10 });
    const running = new Taker("z");
    admission.enter(running);
    const waiting = takers("a", "a", "a", "b", "c");
    for (const taker of waiting) admission.enter(taker);
    const order: string[] = [];
    let current: Taker | undefined = running;
    while (current) {
      admission.end(current);
      current = waiting.find((taker) => taker.hasTurn);
      if (current) order.push(current.planId);
    }
    expect(order).to.deep.equal(["a", "b", "c", "a", "a"]);
  });

  it("end() of one without a turn, or twice, changes nothing", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 1 });
    const [first, second] = takers("a", "a") as [Taker, Taker];
    admission.end(first);
    expect(admission.active).to.equal(0);
    admission.enter(first);
    admission.enter(second);
    admission.end(first);
    admission.end(first);
    expect(admission).to.include({ active: 1, waiting: 0 });
  });

  it("leave() takes a taker out of the line", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 5 });
    const [running, gone, next] = takers("a", "a", "a") as [Taker, Taker, Taker];
    for (const taker of [running, gone, next]) admission.enter(taker);
    expect(admission.leave(gone)).to.equal(true);
    expect(admission.leave(gone)).to.equal(false);
    expect(admission.leave(running)).to.equal(false);
    admission.end(running);
    expect([gone.given, next.given]).to.deep.equal([0, 1]);
  });

  it("lend() frees the turn for others until takeBack()", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 5 });
    const [lender, other] = takers("a", "b") as [Taker, Taker];
    admission.enter(lender);
    admission.enter(other);
    admission.lend(lender);
    expect(other.given).to.equal(1);
    expect(admission.active).to.equal(1);
    admission.takeBack(lender);
    // Who waits here could wait for ever, so the turn is back beyond the bound.
    expect(admission.active).to.equal(2);
    admission.end(other);
    admission.end(lender);
    expect(admission.active).to.equal(0);
  });

  it("lend() counts, so that one of two waits does not take the turn back", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 5 });
    const taker = new Taker("a");
    admission.enter(taker);
    admission.lend(taker);
    admission.lend(taker);
    expect(admission.active).to.equal(0);
    admission.takeBack(taker);
    expect(admission.active).to.equal(0);
    admission.takeBack(taker);
    expect(admission.active).to.equal(1);
  });

  it("end() of one whose turn is lent out frees nothing twice", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 5 });
    const taker = new Taker("a");
    admission.enter(taker);
    admission.lend(taker);
    admission.end(taker);
    admission.takeBack(taker);
    expect(admission.active).to.equal(0);
  });

  it("lend() and takeBack() of one without a turn change nothing", () => {
    const admission = new Admission({ maxActiveCalls: 1, maxQueuedCalls: 5 });
    const nested = new Taker("a");
    admission.lend(nested);
    admission.takeBack(nested);
    expect(admission.active).to.equal(0);
  });

  it("counts right whatever happens, and never leaves a turn unused while somebody waits", () => {
    const step = fc.record({
      action: fc.constantFrom("enter", "end", "leave", "lend", "takeBack"),
      nth: fc.nat({ max: 30 }),
      plan: fc.constantFrom("a", "b", "c"),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 80 }), (maxActiveCalls, steps) => {
        const admission = new Admission({ maxActiveCalls, maxQueuedCalls: 5 });
        const known: Taker[] = [];
        const inLine = new Set<Taker>();
        for (const { action, nth, plan } of steps) {
          const taker = known[nth % Math.max(known.length, 1)];
          if (action === "enter") {
            const next = new Taker(plan);
            try {
              if (!admission.enter(next)) inLine.add(next);
              known.push(next);
            } catch (error) {
              expect(error).to.have.property("code", "OVERLOADED");
              expect(inLine.size).to.equal(5);
            }
          } else if (taker && action === "leave") expect(admission.leave(taker)).to.equal(inLine.delete(taker));
          else if (taker && action === "end") admission.end(taker);
          else if (taker && action === "lend") admission.lend(taker);
          else if (taker && action === "takeBack" && taker.lends > 0) admission.takeBack(taker);
          for (const each of inLine) if (each.given > 0) inLine.delete(each);
          for (const each of known) expect(each.given).to.be.at.most(1);
          const holding = known.filter(({ hasTurn, lends }) => hasTurn && lends === 0).length;
          expect(admission.active).to.equal(holding);
          expect(admission.waiting).to.equal(inLine.size);
          if (inLine.size > 0) expect(admission.active).to.be.at.least(maxActiveCalls);
        }
      }),
      { numRuns: 200 },
    );
  });
});
