import { expect } from "chai";
import sinon from "sinon";
import type { ToolRuntimeBounds } from "../../src/index.js";
import type { Cell } from "../../src/runtime/cell.js";
import { resolveOptions } from "../../src/runtime/options.js";
import { Recycler } from "../../src/runtime/recycler.js";
import { Seat } from "../../src/runtime/seat.js";
import type { ToolCall } from "../../src/runtime/tool-call.js";

const MIB = 1024 * 1024;

describe("runtime/recycler", () => {
  let clock: sinon.SinonFakeTimers;
  let worn: sinon.SinonSpy;

  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    worn = sinon.spy();
  });

  afterEach(() => {
    expect(clock.countTimers()).to.equal(0);
    clock.restore();
  });

  const recycler = (options: ToolRuntimeBounds): Recycler => new Recycler(resolveOptions(options), worn);
  const seat = (served = 0, heapUsed: () => Promise<number | undefined> = () => Promise.resolve(undefined)): Seat =>
    new Seat({ served, heapUsed } as unknown as Cell<ToolCall>, undefined);

  it("sent() tells once of a cell whose worker was sent so many calls, earlier leases included", () => {
    const subject = recycler({ recycleAfterCalls: 5 });
    const one = seat(2);
    subject.sent(one);
    subject.sent(one);
    sinon.assert.notCalled(worn);
    subject.sent(one);
    subject.sent(one);
    sinon.assert.calledOnceWithExactly(worn, one, "calls");
  });

  it("answered() looks at the heap once for all calls of a while, and tells where it is above the mark", async () => {
    const heapUsed = sinon.stub<[], Promise<number | undefined>>().resolves(10 * MIB);
    const subject = recycler({ recycleHeapMb: 10 });
    const one = seat(0, heapUsed);
    for (let call = 0; call < 50; call++) subject.answered(one);
    await clock.runAllAsync();
    sinon.assert.calledOnce(heapUsed);
    sinon.assert.notCalled(worn);
    heapUsed.resolves(10 * MIB + 1);
    subject.answered(one);
    await clock.runAllAsync();
    sinon.assert.calledOnceWithExactly(worn, one, "heap");
  });

  it("answered() asks no cell again that has not answered yet, none that leaves, and never without a mark", async () => {
    const heapUsed = sinon.stub<[], Promise<number | undefined>>().returns(new Promise(() => undefined));
    const subject = recycler({ recycleHeapMb: 1 });
    const stuck = seat(0, heapUsed);
    const leaving = seat(0, heapUsed);
    leaving.leaving = "yield";
    for (let round = 0; round < 3; round++) {
      for (const each of [stuck, leaving]) subject.answered(each);
      recycler({ recycleAfterCalls: 1 }).answered(seat(0, heapUsed));
      await clock.runAllAsync();
    }
    sinon.assert.calledOnce(heapUsed);
  });

  it("answered() tells nothing of a cell that says nothing, or leaves meanwhile", async () => {
    const subject = recycler({ recycleHeapMb: 1 });
    const silent = seat();
    const leaves = seat(0, () => {
      leaves.leaving = "spoiled";
      return Promise.resolve(9 * MIB);
    });
    for (const each of [silent, leaves]) subject.answered(each);
    await clock.runAllAsync();
    sinon.assert.notCalled(worn);
  });

  it("ended() takes the look back", () => {
    const subject = recycler({ recycleHeapMb: 1 });
    const one = seat();
    subject.answered(one);
    subject.ended(one);
    expect(clock.countTimers()).to.equal(0);
  });
});
