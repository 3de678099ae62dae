import { expect } from "chai";
import { toolError } from "../../src/index.js";
import { runtimesOfSuite } from "../support/runtimes.js";
import { registerTools, run } from "./plans.js";

describe("plan/step-call", () => {
  const newRuntime = runtimesOfSuite();
  const retry = { attempts: 5, delayMs: 0 };

  it("runPlan() reports the last attempt's failure where the budget lets no further one be made", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, { budget: { calls: 2 }, steps: [{ id: "bad", tool: "test/fail", retry }] });
    expect(report).to.include({ outcome: "failed", calls: 2 });
    expect(report.steps["bad"]).to.include({ outcome: "failed", attempts: 2 });
    expect(report.steps["bad"]?.error).to.include({ code: "NO_LUCK" });
    expect(report.steps["bad"]?.error?.message).to.match(
      /^no luck today \(no call is left to try again: .*its 2 calls are used up/,
    );
  });

  it("runPlan() reports the budget where it let no attempt be made", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, { budget: { calls: 0 }, steps: [{ id: "bad", tool: "test/fail", retry }] });
    expect(report.steps["bad"]).to.include({ outcome: "blocked", attempts: 0 });
    expect(report.steps["bad"]?.error).to.include({ code: "COST_LIMIT_EXCEEDED" });
  });

  it("runPlan() fails a step whose retries the budget cut off, also of items that may fail", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const forEach = { items: [1], continueOnError: true };
    const report = await run(runtime, {
      budget: { calls: 2 },
      steps: [{ id: "bad", tool: "test/fail", forEach, retry }],
    });
    expect(report.outcome).to.equal("failed");
    expect(report.steps["bad"]?.error?.message).to.include("no call is left to try again");
  });

  it("runPlan() says of a step that was cancelled between two attempts what the last one failed of", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const controller = new AbortController();
    const report = await run(
      runtime,
      { steps: [{ id: "bad", tool: "test/fail", retry }] },
      { signal: controller.signal, onEvent: ({ type }) => type === "ended" && controller.abort() },
    );
    expect(report.steps["bad"]).to.include({ outcome: "cancelled", attempts: 1 });
    expect(report.steps["bad"]?.error?.message).to.equal(
      'Step "bad" was cancelled between two attempts, the last of which failed: no luck today',
    );
  });

  it("runPlan() keeps an answer that came before the plan was cancelled", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const controller = new AbortController();
    const report = await run(
      runtime,
      { steps: [{ id: "a", tool: "test/echo", input: 1 }] },
      { signal: controller.signal, onEvent: ({ type }) => type === "ended" && controller.abort() },
    );
    expect(report.steps["a"]).to.include({ outcome: "ok", output: 1, attempts: 1 });
  });

  it("runPlan() takes a tool's own code for no cancellation", async () => {
    const runtime = newRuntime();
    registerTools(runtime, { odd: () => toolError({ code: "CANCELLED", message: "mine" }) });
    const report = await run(runtime, { steps: [{ id: "odd", tool: "test/odd", continueOnError: true }] });
    expect(report.steps["odd"]).to.include({ outcome: "failed" });
    expect(report.steps["odd"]?.error).to.include({ code: "CANCELLED", message: "mine" });
    expect(report.outcome).to.equal("ok");
  });
});
