import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { CellSupply, type Permit, type PermitHolder } from "../../src/runtime/cell-supply.js";

class Holder implements PermitHolder {
  readonly given: Permit[] = [];
  readonly reclaimed: Permit[] = [];

  constructor(
    readonly planId: string,
    readonly yields = true,
  ) {}

  permitGiven(permit: Permit): void {
    this.given.push(permit);
  }

  reclaim(permit: Permit): void {
    this.reclaimed.push(permit);
  }
}

/** A permit whose cell is up. */
const take = (supply: CellSupply, holder: Holder): Permit => {
  const permit = supply.tryTake(holder);
  if (!permit) throw new Error("expected a permit");
  supply.ready(permit);
  return permit;
};

describe("runtime/cell-supply", () => {
  let clock: sinon.SinonFakeTimers;

  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });

  afterEach(() => {
    expect(clock.countTimers()).to.equal(0);
    clock.restore();
  });

  it("tryTake() gives as many permits as there may be live cells", () => {
    const supply = new CellSupply(2);
    const holder = new Holder("a");
    expect(take(supply, holder).holder).to.equal(holder);
    take(supply, holder);
    expect(supply.tryTake(holder)).to.equal(undefined);
    expect(supply.live).to.equal(2);
  });

  it("giveBack() frees a permit once", () => {
    const supply = new CellSupply(1);
    const permit = take(supply, new Holder("a"));
    supply.giveBack(permit);
    supply.giveBack(permit);
    expect(supply.live).to.equal(0);
    take(supply, new Holder("b"));
    expect(supply.tryTake(new Holder("c"))).to.equal(undefined);
  });

  it("tryTake() passes nobody who waits", () => {
    const supply = new CellSupply(1);
    const [first, waiting, late] = [new Holder("a", false), new Holder("b"), new Holder("c")];
    const permit = take(supply, first);
    supply.wait(waiting);
    supply.giveBack(permit);
    expect(waiting.given).to.have.length(1);
    expect(supply.tryTake(late)).to.equal(undefined);
  });

  it("wait() serves plans in turn", () => {
    const supply = new CellSupply(1);
    let permit = take(supply, new Holder("z", false));
    const waiting = [new Holder("a", false), new Holder("a", false), new Holder("b", false)];
    for (const holder of waiting) supply.wait(holder);
    const order: number[] = [];
    for (let round = 0; round < 3; round++) {
      supply.giveBack(permit);
      const index = waiting.findIndex(({ given }, each) => given.length > 0 && !order.includes(each));
      order.push(index);
      permit = waiting[index]!.given[0]!;
    }
    expect(order).to.deep.equal([0, 2, 1]);
  });

  it("wait() takes the least recently used idle cell of a holder that yields", () => {
    const supply = new CellSupply(3);
    const [one, two, kept] = [new Holder("a"), new Holder("b"), new Holder("c", false)];
    const permits = [one, two, kept].map((holder) => take(supply, holder));
    supply.idle(permits[1]!);
    supply.idle(permits[0]!);
    supply.idle(permits[2]!);
    supply.wait(new Holder("d"));
    expect(two.reclaimed).to.deep.equal([permits[1]]);
    expect(one.reclaimed).to.deep.equal([]);
    supply.wait(new Holder("e"));
    expect(one.reclaimed).to.deep.equal([permits[0]]);
    supply.wait(new Holder("f"));
    expect(kept.reclaimed).to.deep.equal([]);
    supply.close();
  });

  it("busy() keeps a cell from being taken as idle, and it is used most recently afterwards", () => {
    const supply = new CellSupply(2);
    const [one, two] = [new Holder("a"), new Holder("b")];
    const [first, second] = [take(supply, one), take(supply, two)];
    supply.idle(first);
    supply.idle(second);
    supply.busy(first);
    supply.idle(first);
    supply.wait(new Holder("c"));
    expect(two.reclaimed).to.deep.equal([second]);
    expect(one.reclaimed).to.deep.equal([]);
  });

  it("wait() asks a busy cell of a holder that yields once it has served for a while", () => {
    const supply = new CellSupply(1);
    const busy = new Holder("a");
    const permit = take(supply, busy);
    const waiting = new Holder("b");
    supply.wait(waiting);
    expect(busy.reclaimed).to.deep.equal([]);
    clock.tick(1_000);
    expect(busy.reclaimed).to.deep.equal([permit]);
    expect(waiting.given).to.deep.equal([]);
    supply.giveBack(permit);
    expect(waiting.given).to.have.length(1);
  });

  it("wait() asks for no cell that is still starting, but soon after it is up", () => {
    const supply = new CellSupply(1);
    const starting = new Holder("a");
    const permit = supply.tryTake(starting);
    if (!permit) throw new Error("expected a permit");
    supply.wait(new Holder("b"));
    clock.tick(60_000);
    expect(starting.reclaimed).to.deep.equal([]);
    supply.ready(permit);
    expect(starting.reclaimed).to.deep.equal([]);
    clock.tick(1_000);
    expect(starting.reclaimed).to.deep.equal([permit]);
    supply.close();
  });

  it("wait() never asks for the cells of a holder that does not yield", () => {
    const supply = new CellSupply(1);
    const pinned = new Holder("a", false);
    const permit = take(supply, pinned);
    supply.wait(new Holder("b"));
    supply.idle(permit);
    clock.tick(60_000);
    expect(pinned.reclaimed).to.deep.equal([]);
  });

  it("wait() asks for one cell for each who waits, and for none twice", () => {
    const supply = new CellSupply(3);
    const holders = [new Holder("a"), new Holder("b"), new Holder("c")];
    for (const holder of holders) supply.idle(take(supply, holder));
    const asked = (): number => holders.reduce((sum, { reclaimed }) => sum + reclaimed.length, 0);
    supply.wait(new Holder("d"));
    clock.tick(1_000);
    expect(asked()).to.equal(1);
    supply.wait(new Holder("e"));
    supply.wait(new Holder("f"));
    supply.wait(new Holder("g"));
    clock.tick(1_000);
    expect(asked()).to.equal(3);
  });

  it("leave() takes a holder out of the line", () => {
    const supply = new CellSupply(1);
    const permit = take(supply, new Holder("a", false));
    const waiting = new Holder("b");
    supply.wait(waiting);
    supply.leave(waiting);
    expect(supply.waiting).to.equal(0);
    supply.giveBack(permit);
    expect(waiting.given).to.deep.equal([]);
    expect(supply.live).to.equal(0);
  });

  it("takeUrgently() goes ahead of all who wait, or says that nothing can be had", () => {
    const supply = new CellSupply(1);
    const holder = new Holder("a");
    const nested = new Holder("b");
    const permit = take(supply, holder);
    expect(supply.takeUrgently(nested)).to.equal(false);
    const waiting = new Holder("c");
    supply.idle(permit);
    expect(supply.takeUrgently(nested)).to.equal(true);
    supply.wait(waiting);
    expect(holder.reclaimed).to.deep.equal([permit]);
    supply.giveBack(permit);
    expect(nested.given).to.have.length(1);
    expect(waiting.given).to.have.length(0);
    supply.close();
  });

  it("takeUrgently() takes what is free although others wait", () => {
    const supply = new CellSupply(2);
    const nested = new Holder("b");
    expect(supply.takeUrgently(nested)).to.be.an("object").with.property("holder", nested);
  });

  it("close() leaves no timer behind", () => {
    const supply = new CellSupply(1);
    take(supply, new Holder("a"));
    supply.wait(new Holder("b"));
    expect(clock.countTimers()).to.equal(1);
    supply.close();
    expect(clock.countTimers()).to.equal(0);
  });

  it("never gives out more than it has, and serves everyone where holders give back", () => {
    const step = fc.record({
      action: fc.constantFrom("want", "idle", "busy", "back", "tick"),
      nth: fc.nat({ max: 20 }),
      plan: fc.constantFrom("a", "b", "c"),
      yields: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
        const supply = new CellSupply(limit);
        const holders: Holder[] = [];
        const out = new Set<Permit>();
        const served = new Set<Holder>();
        const collect = (): void => {
          for (const holder of holders) {
            for (const permit of holder.given.splice(0)) {
              supply.ready(permit);
              out.add(permit);
              served.add(holder);
            }
          }
          expect(supply.live).to.equal(out.size);
          expect(out.size).to.be.at.most(limit);
        };
        for (const { action, nth, plan, yields } of steps) {
          const permit = [...out][nth % Math.max(out.size, 1)];
          if (action === "want") {
            const holder = new Holder(plan, yields);
            holders.push(holder);
            const taken = supply.tryTake(holder);
            if (taken) holder.given.push(taken);
            else supply.wait(holder);
          } else if (action === "tick") clock.tick(5);
          else if (permit && action === "idle") supply.idle(permit);
          else if (permit && action === "busy") supply.busy(permit);
          else if (permit) {
            out.delete(permit);
            supply.giveBack(permit);
          }
          collect();
        }
        while (out.size > 0) {
          const [permit] = out;
          out.delete(permit!);
          supply.giveBack(permit!);
          collect();
        }
        expect(supply.waiting).to.equal(0);
        expect(served.size).to.equal(holders.length);
        supply.close();
      }),
      { numRuns: 100 },
    );
  });

  it("takeUrgently() waits for a cell that is being ended, once for each", () => {
    const supply = new CellSupply(2);
    const pinned = new Holder("a", false);
    const [first] = [take(supply, pinned), take(supply, pinned)];
    const urgent = new Holder("b");
    expect(supply.takeUrgently(urgent)).to.equal(false);
    supply.ending(first);
    expect(supply.takeUrgently(urgent)).to.equal(true);
    expect(supply.takeUrgently(new Holder("c"))).to.equal(false);
    expect(urgent.given).to.have.length(0);
    supply.giveBack(first);
    expect(urgent.given).to.have.length(1);
    expect(supply.takeUrgently(new Holder("d"))).to.equal(false);
  });

  it("pinned counts the permits that come back with their plans only", () => {
    const supply = new CellSupply(3);
    take(supply, new Holder("a"));
    const permit = take(supply, new Holder("a", false));
    expect([supply.pinned, supply.live, supply.limit]).to.deep.equal([1, 2, 3]);
    supply.giveBack(permit);
    expect([supply.pinned, supply.live, supply.limit]).to.deep.equal([0, 1, 3]);
  });
});
