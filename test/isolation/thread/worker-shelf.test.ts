import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import { expect } from "chai";
import sinon from "sinon";
import { CellWorker } from "../../../src/isolation/thread/worker-pool.js";
import { workerProfile, type WorkerProfile } from "../../../src/isolation/thread/worker-profile.js";
import { WorkerShelf, type WorkerShelfOptions } from "../../../src/isolation/thread/worker-shelf.js";
import { emptyGrant } from "../../../src/runtime/grant.js";

const MODULE = "file:///tool.js";
const OTHER = "file:///other.js";

function profile(code: string[] = [], memoryMb = 512): WorkerProfile {
  return workerProfile(emptyGrant(memoryMb), new Set(code));
}

describe("WorkerShelf", () => {
  let kill: sinon.SinonStub;
  let warm: sinon.SinonStub;

  beforeEach(() => {
    kill = sinon.stub(CellWorker.prototype, "kill").resolves(true);
    warm = sinon.stub(CellWorker.prototype, "warm").resolves();
  });
  afterEach(() => {
    sinon.restore();
  });

  const shelf = (options: Partial<WorkerShelfOptions> = {}): WorkerShelf =>
    new WorkerShelf({ spareCells: 0, maxIdle: 2, killTimeoutMs: 1, ...options });
  /** A worker that never had a thread, as one that served these modules. */
  const worker = (served: string = MODULE, of: WorkerProfile = profile()): CellWorker => {
    const made = new CellWorker(of);
    made.served = served;
    return made;
  };
  const killed = (): unknown[] => kill.thisValues;

  it("take() gives a worker once, and only where its profile grants the same", async () => {
    const under = shelf();
    const one = worker(MODULE, profile(["/a.js", "/b.js"]));
    under.give(one);
    expect(under.take({ profile: profile([], 64), module: MODULE, stateless: true })).to.equal(undefined);
    expect(under.take({ profile: profile(["/c.js"]), module: MODULE, stateless: true })).to.equal(undefined);
    expect(under.take({ profile: profile(["/a.js"]), module: MODULE, stateless: true })).to.equal(one);
    expect(under.take({ profile: profile(["/a.js"]), module: MODULE, stateless: true })).to.equal(undefined);
    expect(under.size).to.equal(0);
    await under.close();
  });

  it("take() never gives a tool that keeps state a worker that has loaded its module", async () => {
    const under = shelf();
    under.give(worker(MODULE));
    expect(under.take({ profile: profile(), module: MODULE, stateless: false })).to.equal(undefined);
    expect(under.take({ profile: profile(), module: MODULE, stateless: true })).to.be.instanceOf(CellWorker);
    await under.close();
  });

  it("take() gives a worker to the tool that it served, never to another", async () => {
    const under = shelf();
    const other = worker(OTHER);
    const knowing = worker(MODULE);
    under.give(other);
    under.give(knowing);
    expect(under.take({ profile: profile(), module: MODULE, stateless: true })).to.equal(knowing);
    expect(under.take({ profile: profile(), module: MODULE, stateless: true })).to.equal(undefined);
    await under.close();
  });

  it("take() passes over a worker that has ended", async () => {
    const under = shelf();
    const ended = worker(MODULE);
    under.give(ended);
    sinon.stub(ended, "hasExited").get(() => true);
    expect(under.take({ profile: profile(), module: MODULE, stateless: true })).to.equal(undefined);
    await under.close();
  });

  it("give() keeps no more than maxIdle, the newest", async () => {
    const under = shelf({ maxIdle: 2 });
    const workers = [worker(), worker(), worker()];
    for (const one of workers) under.give(one);
    expect(under.size).to.equal(2);
    expect(killed()).to.deep.equal([workers[0]]);
    await under.close();
  });

  it("give() ends a worker that nobody wants after a while", async () => {
    const over: (() => void)[] = [];
    sinon.stub(timers, "setTimeout").callsFake(((callback: () => void) => {
      over.push(callback);
      return { unref: () => undefined };
    }) as never);
    syncBuiltinESMExports();
    try {
      const under = shelf();
      const one = worker();
      under.give(one);
      expect(over).to.have.length(1);
      for (const callback of over) callback();
      expect(killed()).to.deep.equal([one]);
      expect(under.size).to.equal(0);
    } finally {
      sinon.restore();
      syncBuiltinESMExports();
    }
  });

  it("give() ends a worker that comes back after close()", async () => {
    const under = shelf();
    await under.close();
    const late = worker();
    under.give(late);
    expect(killed()).to.deep.equal([late]);
    expect(under.size).to.equal(0);
  });

  it("stock() starts as many spares as are missing", async () => {
    const under = shelf({ spareCells: 2 });
    under.stock(profile());
    under.stock(profile());
    expect(warm.callCount).to.equal(2);
    await Promise.resolve();
    await Promise.resolve();
    expect(under.size).to.equal(2);
    under.stock(profile());
    expect(warm.callCount).to.equal(2);
    expect(under.take({ profile: profile(), module: MODULE, stateless: false })).to.be.instanceOf(CellWorker);
    under.stock(profile());
    expect(warm.callCount).to.equal(3);
    await under.close();
  });

  it("stock() replaces spares of an older profile once the new ones are up", async () => {
    const under = shelf({ spareCells: 1 });
    under.stock(profile(["/a.js"]));
    await new Promise(setImmediate);
    under.stock(profile(["/a.js", "/b.js"]));
    expect(kill.callCount).to.equal(0);
    await new Promise(setImmediate);
    expect(kill.callCount).to.equal(1);
    expect(under.size).to.equal(1);
    expect(under.take({ profile: profile(["/b.js"]), module: MODULE, stateless: false })).to.be.instanceOf(CellWorker);
    await under.close();
  });

  it("stock() gives a spare up that does not come up", async () => {
    const under = shelf({ spareCells: 1 });
    warm.rejects(new Error("does not start"));
    under.stock(profile());
    await new Promise(setImmediate);
    expect(under.size).to.equal(0);
    expect(kill.callCount).to.equal(1);
    await under.close();
  });

  it("forget() ends the workers that have loaded a module, and no others", async () => {
    const under = shelf();
    const stale = worker(MODULE);
    const fresh = worker(OTHER);
    under.give(stale);
    under.give(fresh);
    under.forget(MODULE);
    expect(killed()).to.deep.equal([stale]);
    expect(under.size).to.equal(1);
    await under.close();
  });

  it("close() ends all, also the spares that are still starting, and starts none", async () => {
    let up: () => void = () => undefined;
    warm.returns(new Promise<void>((resolve) => (up = resolve)));
    const under = shelf({ spareCells: 1 });
    under.give(worker());
    under.stock(profile());
    const closed = under.close();
    up();
    await closed;
    await new Promise(setImmediate);
    expect(new Set(killed()).size).to.equal(2);
    expect(under.size).to.equal(0);
    under.stock(profile());
    expect(warm.callCount).to.equal(1);
  });
});
