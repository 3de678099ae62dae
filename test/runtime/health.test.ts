import { expect } from "chai";
import { healthOf, type Examined } from "../../src/runtime/health.js";
import { afterReadyWork, deferred } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

type Facts = {
  readonly quarantined?: number;
  readonly hostHeapFlag?: string;
  readonly waiting?: number;
  readonly pinned?: number;
} & Partial<Pick<Examined, "closing" | "maxRssMb">>;

function examine({ quarantined = 0, hostHeapFlag, waiting = 0, pinned = 0, closing = false, maxRssMb }: Facts) {
  return healthOf({
    closing,
    maxRssMb,
    calls: { made: 5, over: 2 },
    admission: { waiting: 1 },
    supply: { waiting, pinned, live: pinned, limit: 4 },
    plans: { waitingCalls: waiting, count: 1 },
    tiers: [
      { quarantined, hostHeapFlag: undefined },
      { quarantined: 0, hostHeapFlag },
    ],
  } as unknown as Examined);
}

const codesOf = (facts: Facts): string[] => examine(facts).reasons.map(({ code }) => code);

describe("runtime/health", () => {
  const newRuntime = runtimesOfSuite();

  it("healthOf() is ok where nothing is the matter, and tells the counts that matter", () => {
    const { rssMb, ...rest } = examine({ pinned: 3, maxRssMb: 2 ** 31 - 1 });
    expect(rest).to.deep.equal({
      status: "ok",
      reasons: [],
      openCalls: 3,
      queuedCalls: 1,
      waitingCalls: 0,
      openPlans: 1,
      liveCells: 3,
      maxLiveCells: 4,
      quarantinedCells: 0,
    });
    expect(rssMb).to.be.above(1);
  });

  it("healthOf() is degraded for each of its reasons, and says in words what to do", () => {
    const cases: readonly (readonly [Facts, string, RegExp])[] = [
      [{ quarantined: 1 }, "CELLS_QUARANTINED", /^1 cell could not be ended/],
      [{ quarantined: 2 }, "CELLS_QUARANTINED", /^2 cells could not be ended/],
      [{ pinned: 4, waiting: 1 }, "CELLS_PINNED", /All 4 cells .* raise maxLiveCells/],
      [{ hostHeapFlag: "--max-old-space-size=64" }, "HEAP_LIMIT_OVERRIDDEN", /--max-old-space-size=64 stands over/],
      [{ maxRssMb: 1 }, "RSS_ABOVE_MARK", /its mark of 1 MiB/],
    ];
    for (const [facts, code, words] of cases) {
      const { status, reasons } = examine(facts);
      expect(status, code).to.equal("degraded");
      expect(reasons.map((reason) => reason.code)).to.deep.equal([code]);
      expect(reasons[0]?.message).to.match(words);
    }
  });

  it("healthOf() finds nothing in cells that are pinned while nobody waits, nor in waiting while some yield", () => {
    expect(codesOf({ pinned: 4 })).to.deep.equal([]);
    expect(codesOf({ pinned: 3, waiting: 2 })).to.deep.equal([]);
  });

  it("healthOf() tells all reasons at once, and closing counts before them", () => {
    const facts = { closing: true, quarantined: 1, pinned: 4, waiting: 1, maxRssMb: 1 };
    expect(codesOf(facts)).to.deep.equal(["CLOSING", "CELLS_QUARANTINED", "CELLS_PINNED", "RSS_ABOVE_MARK"]);
    expect(examine(facts).status).to.equal("closing");
  });

  it("health() counts what is open, and is closing from the moment of close() on", async () => {
    const runtime = newRuntime();
    const done = deferred();
    registerMock(runtime, "acme/slow", { execute: () => done.promise });
    const call = runtime.execute("acme/slow", {}, contextOf("plan"));
    await afterReadyWork();
    expect(runtime.health()).to.include({ openCalls: 1, openPlans: 1, liveCells: 0 });
    done.resolve();
    await call;
    const closing = runtime.close();
    expect(runtime.health()).to.include({ status: "closing", openCalls: 0 });
    await closing;
    expect(runtime.health()).to.include({ status: "closing", openPlans: 0 });
    expect(JSON.parse(JSON.stringify(runtime.health()))).to.have.property("status", "closing");
  });
});
