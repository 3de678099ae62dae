import { expect } from "chai";
import type { PlanReport, StepReport } from "../../src/plan/index.js";
import type { ToolContext } from "../../src/index.js";
import { deferred } from "../support/outcomes.js";
import { runtimesOfSuite } from "../support/runtimes.js";
import { outcomesOf, registerTools, run } from "./plans.js";

/** Waits until it is told to stop. */
const untilStopped = ({ cancellationToken: { signal } }: ToolContext): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

const itemsOf = (step: StepReport | undefined): string[] => (step?.items ?? []).map(({ outcome }) => outcome);

describe("plan/run-items", () => {
  const newRuntime = runtimesOfSuite();

  /** Runs a step over items, of which those that are "fail" fail and "wait" waits; aborts once as many wait as given. */
  const runAndAbort = async (items: string[], waiting: number, forEach: object): Promise<PlanReport> => {
    const runtime = newRuntime();
    const controller = new AbortController();
    let begun = 0;
    registerTools(runtime, {
      item: (item: string, context) => {
        if (item === "fail") throw new Error("no");
        if (item !== "wait") return item;
        const stopped = untilStopped(context);
        if (++begun === waiting) controller.abort();
        return stopped;
      },
    });
    const steps = [
      { id: "each", tool: "test/item", forEach: { items, ...forEach }, input: { $from: "/item" } },
      { id: "after", tool: "test/echo", after: ["each"] },
    ];
    return await run(runtime, { steps }, { signal: controller.signal });
  };

  it("runPlan() is cancelled where items are, also after one that failed and may", async () => {
    const report = await runAndAbort(["fail", "wait", "wait"], 1, { concurrency: 2, continueOnError: true });
    expect(report.outcome).to.equal("cancelled");
    expect(outcomesOf(report)).to.deep.equal({ each: "cancelled", after: "cancelled" });
    expect(itemsOf(report.steps["each"])).to.deep.equal(["failed", "cancelled", "cancelled"]);
    expect(report.steps["each"]?.error?.code).to.equal("CANCELLED");
  });

  for (const continueOnError of [false, true]) {
    it(`runPlan() says of items that a cancelled plan has not begun that they are cancelled, ${continueOnError ? "" : "not "}going on after errors`, async () => {
      const { steps, calls } = await runAndAbort(Array<string>(7).fill("wait"), 2, { concurrency: 2, continueOnError });
      const { each } = steps;
      expect(itemsOf(each)).to.deep.equal(Array<string>(7).fill("cancelled"));
      expect(each?.items?.map(({ attempts }) => attempts)).to.deep.equal([1, 1, 0, 0, 0, 0, 0]);
      const reasons = new Set(each?.items?.slice(2).map(({ reason, error }) => reason ?? error?.message));
      expect([...reasons]).to.deep.equal(["the plan was cancelled before it began"]);
      expect(each?.error?.message).to.match(/^2 of 7 items of step "each" were cancelled, 5 did not begin; item 0: /);
      expect(each?.error?.message).not.to.include("between two attempts");
      expect(calls).to.equal(2);
    });
  }

  it("runPlan() keeps the outputs of items that were over when the plan was cancelled", async () => {
    const { steps } = await runAndAbort(["a", "fail", "wait"], 1, { concurrency: 1, continueOnError: true });
    expect(itemsOf(steps["each"])).to.deep.equal(["ok", "failed", "cancelled"]);
    expect(steps["each"]?.error?.message).to.match(
      /^1 of 3 items of step "each" failed, 1 was cancelled; item 2: .* was cancelled/,
    );
  });

  it("runPlan() blocks a step whose items the budget refuses, also where they may fail", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const forEach = { items: [1, 2, 3, 4], concurrency: 1, continueOnError: true };
    const report = await run(runtime, {
      budget: { calls: 2 },
      steps: [
        { id: "each", tool: "test/fail", forEach },
        { id: "after", tool: "test/echo", after: ["each"] },
      ],
    });
    expect(report).to.include({ outcome: "failed", calls: 2 });
    expect(outcomesOf(report)).to.deep.equal({ each: "blocked", after: "blocked" });
    expect(itemsOf(report.steps["each"])).to.deep.equal(["failed", "failed", "blocked", "blocked"]);
    expect(report.steps["after"]?.reason).to.equal('it waits for "each", which did not run to its end');
    expect(report.steps["each"]?.error).to.include({ code: "COST_LIMIT_EXCEEDED" });
    expect(report.steps["each"]?.error?.message).to.match(
      /^2 of 4 items of step "each" failed, 2 did not begin; item 2: .* 2 calls are used up/,
    );
  });

  it("runPlan() fails a step of which the budget stopped an item, also where that may fail", async () => {
    const runtime = newRuntime();
    registerTools(runtime, {
      dear: (_input, context) => {
        const stopped = untilStopped(context);
        context.reportCost(9);
        return stopped;
      },
    });
    const report = await run(runtime, {
      budget: { cost: 5 },
      steps: [{ id: "each", tool: "test/dear", forEach: { items: [1], continueOnError: true } }],
    });
    expect(report.outcome).to.equal("failed");
    expect(report.steps["each"]?.error).to.include({ code: "COST_LIMIT_EXCEEDED" });
  });

  it("runPlan() says which item kept others from beginning", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [{ id: "each", tool: "test/fail", forEach: { items: [1, 2], concurrency: 1 } }],
    });
    expect(report.steps["each"]?.items?.[1]).to.deep.include({ outcome: "blocked", reason: "item 0 gave no output" });
  });

  it("runPlan() awaits what has begun before it says how the step ended", async () => {
    const runtime = newRuntime();
    const failed = deferred();
    registerTools(runtime, {
      item: async (item: string) => {
        if (item === "fail") throw new Error("no");
        await failed.promise;
        return item;
      },
    });
    const report = await run(
      runtime,
      {
        steps: [
          {
            id: "each",
            tool: "test/item",
            forEach: { items: ["fail", "slow", "never"], concurrency: 2 },
            input: { $from: "/item" },
          },
        ],
      },
      { onEvent: (event) => event.type === "ended" && event.error && failed.resolve() },
    );
    expect(itemsOf(report.steps["each"])).to.deep.equal(["failed", "ok", "blocked"]);
  });
});
