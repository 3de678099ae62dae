import { expect } from "chai";
import fc from "fast-check";
import { ToolCancelledError, ToolRuntime, type Plan } from "../../src/index.js";
import type { RacerInput } from "../fixtures/tools/racer.js";

type Until = RacerInput["until"];

/** When a round's call is cancelled: never, or after some turns of a kind of queue. */
interface Round {
  readonly until: Until;
  readonly work: number;
  readonly cancel: { readonly after: "now" | "microtasks" | "immediates"; readonly turns: number } | undefined;
}

const cancelAt = fc.record({
  after: fc.constantFrom("now" as const, "microtasks" as const, "immediates" as const),
  turns: fc.nat(6),
});
// A call that ends only when it is cancelled is always cancelled; that it ends shows that no cancel is lost.
const round: fc.Arbitrary<Round> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      until: fc.constant("none" as const),
      work: fc.nat(400),
      cancel: fc.option(cancelAt, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      until: fc.constantFrom("spin" as const, "await" as const),
      work: fc.constant(0),
      cancel: cancelAt,
    }),
  },
);

async function wait({ after, turns }: { after: "now" | "microtasks" | "immediates"; turns: number }): Promise<void> {
  for (let turn = 0; after !== "now" && turn < turns; turn++) {
    await (after === "microtasks" ? undefined : new Promise((resolve) => setImmediate(resolve)));
  }
}

async function play(plan: Plan, { until, work, cancel }: Round): Promise<void> {
  const controller = new AbortController();
  const call = plan.execute("fixture/racer", { until, work } satisfies RacerInput, { signal: controller.signal });
  const outcome = call.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  if (cancel) {
    await wait(cancel);
    controller.abort("the round says so");
  }
  const { result, error } = await outcome;
  if (!cancel) {
    expect(error, "a cancel reached a call it was not meant for").to.equal(undefined);
    expect(result?.output, "a token told of another call's cancel").to.include({ sawCancel: false });
    expect(result?.trace.outcome).to.equal("ok");
  } else if (error !== undefined) {
    expect(error).to.be.instanceOf(ToolCancelledError).and.have.property("outcome", "cancelled");
  } else {
    expect(until, "a call that only a cancel can end has ended without one").to.equal("none");
    expect(result?.output, "the call was over before it was told to stop").to.include({ sawCancel: false });
  }
}

describe("CancelWords", function () {
  this.timeout(120_000);
  const ROUNDS = 10_000;
  // Few slots, so that each is used again within a round or two.
  const SLOTS = 3;

  it(`cancel() is never lost and never reaches another call, over ${ROUNDS} rounds of races`, async () => {
    await using runtime = new ToolRuntime({ spareCells: 0, graceMs: 60_000, maxCallsPerCell: SLOTS });
    await runtime.registerModule(new URL("../fixtures/tools/racer.js", import.meta.url));
    const plan = runtime.plan({ planId: "races" });
    const runs = ROUNDS / 20;
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 20, maxLength: 20 }), async (rounds) => {
        await Promise.all(rounds.map((one) => play(plan, one)));
      }),
      { numRuns: runs, endOnFailure: true },
    );
    const stats = runtime.cacheStats("races").tools["fixture/racer"];
    expect(stats?.activationCount, "a race has cost the cell").to.equal(1);
    expect(plan.context.summary().traceCount).to.equal(ROUNDS);
  });
});
