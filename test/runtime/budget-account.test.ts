import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { BudgetAccount, type BudgetedCall, type BudgetLimits } from "../../src/runtime/budget-account.js";

interface FakeCall extends BudgetedCall {
  cost: number | undefined;
  reached: boolean;
  interrupt: sinon.SinonSpy<["budget", string], void>;
}

const callOf = (estimate = 0): FakeCall => ({
  toolName: "acme/tool",
  estimate,
  cost: undefined,
  reached: true,
  interrupt: sinon.spy((_reason: "budget", _detail: string): void => undefined),
});

describe("runtime/budget-account", () => {
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => (clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })));
  afterEach(() => {
    expect(clock.countTimers(), "timers left").to.equal(0);
    clock.restore();
  });

  const accountOf = (limits: BudgetLimits): BudgetAccount => new BudgetAccount('plan "p"', "*", limits);
  const report = (account: BudgetAccount, call: FakeCall, amount: number): void => {
    const before = call.cost ?? 0;
    call.cost = before + amount;
    account.reported(call, before);
  };

  it("problem() counts calls, also those that are over", () => {
    const account = accountOf({ calls: 2 });
    const [one, two] = [callOf(), callOf()];
    account.open(one);
    account.open(two);
    expect(account.problem(0)).to.include("2 calls");
    account.close(one);
    account.close(two);
    expect(account.problem(0)).to.include("2 calls");
    expect(account.spending().calls).to.equal(2);
  });

  it("open() reserves the estimate, close() settles what it came to", () => {
    const account = accountOf({ cost: 10 });
    const dear = callOf(8);
    account.open(dear);
    expect(account.problem(3)).to.include("of its 10 cost units 2 are left");
    expect(account.problem(2)).to.equal(undefined);
    report(account, dear, 1);
    expect(account.problem(3), "a report below the estimate frees nothing yet").to.not.equal(undefined);
    account.close(dear);
    expect(account.spending().cost).to.equal(1);
    expect(account.problem(9)).to.equal(undefined);
  });

  it("close() takes the estimate where nothing was reported, and nothing where the tool was not reached", () => {
    const account = accountOf({ cost: 10 });
    const [silent, unreached] = [callOf(4), callOf(4)];
    unreached.reached = false;
    for (const call of [silent, unreached]) account.open(call);
    for (const call of [silent, unreached, silent]) account.close(call);
    expect(account.spending().cost).to.equal(4);
  });

  it("reported() stops the call that goes beyond what is left, not its neighbours", () => {
    const account = accountOf({ cost: 10 });
    const [modest, greedy] = [callOf(5), callOf()];
    account.open(modest);
    account.open(greedy);
    report(account, greedy, 5);
    sinon.assert.notCalled(greedy.interrupt);
    report(account, greedy, 0.5);
    sinon.assert.calledOnceWithMatch(greedy.interrupt, "budget", "10 cost units");
    sinon.assert.notCalled(modest.interrupt);
    for (const call of [modest, greedy]) account.close(call);
    expect(account.problem(0)).to.include("0 are left");
    report(account, greedy, 100);
    expect(account.spending().cost, "a call that is over reports nothing").to.equal(10.5);
  });

  it("wall time runs while at least one call is open, and stops all of them when it is up", async () => {
    const account = accountOf({ wallMs: 100 });
    const [one, two] = [callOf(), callOf()];
    account.open(one);
    await clock.tickAsync(30);
    account.open(two);
    await clock.tickAsync(30);
    account.close(one);
    account.close(two);
    expect(account.spending().wallMs).to.equal(60);
    await clock.tickAsync(1_000);
    expect(account.problem(0)).to.equal(undefined);
    const last = callOf();
    account.open(last);
    await clock.tickAsync(39);
    sinon.assert.notCalled(last.interrupt);
    await clock.tickAsync(1);
    sinon.assert.calledOnceWithMatch(last.interrupt, "budget", "100 ms of wall time");
    expect(account.problem(0)).to.include("wall time");
    account.close(last);
  });

  it("CPU time is that of the cells, of those too that have ended", async () => {
    const account = accountOf({ cpuMs: 100 });
    let end!: () => void;
    const cells = [
      { cpuMs: 10, ended: new Promise<void>((resolve) => (end = resolve)) },
      { cpuMs: 20, ended: new Promise<void>(() => undefined) },
    ];
    for (const cell of cells) account.meter(cell);
    const call = callOf();
    account.open(call);
    expect(account.spending().cpuMs).to.equal(30);
    cells[0]!.cpuMs = 40;
    end();
    await clock.tickAsync(35);
    sinon.assert.notCalled(call.interrupt);
    expect(account.spending().cpuMs).to.equal(60);
    cells[1]!.cpuMs = 60;
    await clock.tickAsync(40);
    sinon.assert.calledOnceWithMatch(call.interrupt, "budget", "100 ms of CPU time");
    expect(account.problem(0)).to.include("CPU time");
    account.close(call);
  });

  it("meter() looks sooner where another cell may use up what is left", async () => {
    const account = accountOf({ cpuMs: 100 });
    const call = callOf();
    account.open(call);
    const cells = [1, 2, 3, 4].map(() => ({ cpuMs: 0, ended: new Promise<void>(() => undefined) }));
    for (const cell of cells) account.meter(cell);
    for (const cell of cells) cell.cpuMs = 25;
    await clock.tickAsync(25);
    sinon.assert.calledOnce(call.interrupt);
    account.close(call);
  });

  it("problem() keeps calls that report no more than their estimate within the cost, in any order", () => {
    const steps = fc.array(
      fc.record({
        estimate: fc.integer({ min: 0, max: 20 }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        closes: fc.nat(5),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (list) => {
        const account = accountOf({ cost: 100 });
        const open: FakeCall[] = [];
        for (const { estimate, share, closes } of list) {
          const call = callOf(estimate);
          if (account.problem(estimate) === undefined) {
            account.open(call);
            report(account, call, estimate * share);
            open.push(call);
          }
          for (let n = 0; n < closes && open.length > 0; n++) account.close(open.shift()!);
          expect(account.spending().cost).to.be.at.most(100 + 1e-9);
          expect(call.interrupt.called).to.equal(false);
        }
        for (const call of open) account.close(call);
      }),
    );
  });
});
