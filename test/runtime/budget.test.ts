import { expect } from "chai";
import { ToolCostLimitExceededError, ToolExecutionError, type Budget, type ToolContext } from "../../src/index.js";
import { deferred, rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

describe("runtime/budget", () => {
  const makeRuntime = runtimesOfSuite();

  it("a budget that cannot be understood is refused, with a hint", () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [null, "must be object"],
      [{ call: 1 }, "did you mean `calls`"],
      [{ calls: -1 }, "/calls"],
      [{ calls: 1.5 }, "/calls"],
      [{ cost: Infinity }, "/cost"],
      [{ cost: NaN }, "/cost"],
      [{ tools: { "acme/x": { calls: "2" } } }, "/tools/acme~1x/calls"],
    ];
    for (const [budget, part] of wrong) {
      const error = thrownBy(() => contextOf("plan", { budget: budget as Budget })) as Error;
      expect(error, part).to.have.property("code", "INVALID_ARGUMENT");
      expect(error.message)
        .to.match(/^Budget of plan "plan": /)
        .and.include(part);
    }
  });

  it("execute() makes no call beyond the budget, says why, and leaves a trace", async () => {
    const runtime = makeRuntime();
    const { execute } = registerMock(runtime, "acme/tool");
    const context = contextOf("plan", { budget: { calls: 2 } });
    for (let call = 0; call < 2; call++) await runtime.execute("acme/tool", {}, context);
    const error = (await rejectionOf(runtime.execute("acme/tool", {}, context))) as ToolCostLimitExceededError;
    expect(error).to.be.instanceOf(ToolCostLimitExceededError).with.property("code", "COST_LIMIT_EXCEEDED");
    expect(error.message).to.equal(
      'Tool "acme/tool" was not called in plan "plan": the budget of plan "plan": its 2 calls are used up.',
    );
    expect(error.details).to.deep.include({ tool: "acme/tool", planId: "plan", limits: { calls: 2 } });
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["ok", "ok", "denied"]);
    expect(execute.callCount).to.equal(2);
    expect(await rejectionOf(runtime.activate("acme/tool", context))).to.be.instanceOf(ToolCostLimitExceededError);
  });

  it("an input that breaks its schema, and a call that is denied, cost nothing", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", {}, { writes: false, cost: 3 }, { inputSchema: { type: "string" } });
    const context = contextOf("plan", { budget: { calls: 5, cost: 3 } });
    expect((await runtime.execute("acme/tool", 1, context)).success).to.equal(false);
    expect(context.spending()).to.include({ calls: 0, cost: 0 });
    expect((await runtime.execute("acme/tool", "text", context)).success).to.equal(true);
    expect(context.spending()).to.include({ calls: 1, cost: 3 });
  });

  it("calls side by side do not spend the same units twice", async () => {
    const runtime = makeRuntime();
    const { execute } = registerMock(runtime, "acme/tool", {}, { writes: false, cost: 4 });
    const context = contextOf("plan", { budget: { cost: 10 } });
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => runtime.execute("acme/tool", {}, context)));
    expect(ends.map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled", "rejected", "rejected"]);
    expect(execute.callCount).to.equal(2);
    expect(context.spending()?.cost).to.equal(8);
  });

  it("nested calls are counted with their caller's", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/inner");
    registerMock(runtime, "acme/outer", {
      execute: async (_input: unknown, context: ToolContext) => (await context.call("acme/inner", {})).success,
    });
    const context = contextOf("plan", { budget: { calls: 3, tools: { "acme/inner": { calls: 1 } } } });
    await runtime.execute("acme/outer", {}, context);
    expect(context.spending()?.calls).to.equal(2);
    expect(context.spending("acme/inner")?.calls).to.equal(1);
    const error = await rejectionOf(runtime.execute("acme/outer", {}, context));
    expect(error).to.be.instanceOf(ToolExecutionError).with.nested.property("cause.code", "COST_LIMIT_EXCEEDED");
  });

  it("limits of tools and namespaces hold beside those of the plan", async () => {
    const runtime = makeRuntime();
    for (const name of ["acme/one", "acme/two", "other/three"]) registerMock(runtime, name);
    const budget = { calls: 10, tools: { "acme/*": { calls: 2 }, "acme/one": { calls: 1 } } };
    const context = contextOf("plan", { budget });
    const outcome = async (name: string): Promise<string> => {
      await runtime.execute(name, {}, context).catch(() => undefined);
      return context.traces.at(-1)!.outcome;
    };
    expect(await outcome("acme/one")).to.equal("ok");
    expect(await outcome("acme/one")).to.equal("denied");
    expect(await outcome("acme/two")).to.equal("ok");
    expect(await outcome("acme/two")).to.equal("denied");
    expect(await outcome("other/three")).to.equal("ok");
    expect(context.spending()?.calls).to.equal(3);
    expect(context.spending("acme/*")?.calls).to.equal(2);
    expect(context.spending("acme/none")).to.equal(undefined);
  });

  it("a call that reports more than is left is stopped, and told why", async () => {
    const runtime = makeRuntime();
    const stopped = deferred<unknown>();
    registerMock(runtime, "acme/tool", {
      execute: (_input: unknown, context: ToolContext) =>
        new Promise((_resolve, reject) => {
          context.cancellationToken.signal.addEventListener("abort", () => {
            stopped.resolve(context.cancellationToken.signal.reason);
            reject(context.cancellationToken.signal.reason as Error);
          });
          context.reportCost(6);
        }),
    });
    const context = contextOf("plan", { budget: { cost: 5 } });
    const error = (await rejectionOf(runtime.execute("acme/tool", {}, context))) as ToolExecutionError;
    expect(error).to.be.instanceOf(ToolExecutionError).with.property("code", "COST_LIMIT_EXCEEDED");
    expect(error.outcome).to.equal("cancelled");
    expect(error.message).to.include("was stopped").and.include("5 cost units");
    expect(((await stopped.promise) as Error).message).to.include("budget");
    expect(context.traces[0]).to.include({ outcome: "cancelled", cost: 6 });
    expect(await rejectionOf(runtime.execute("acme/tool", {}, context))).to.be.instanceOf(ToolCostLimitExceededError);
  });

  it("an answer that comes in spite of the overrun stands: it is paid for", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool", {
      execute: (_input: unknown, context: ToolContext) => {
        context.reportCost(6);
        return "dear";
      },
    });
    const context = contextOf("plan", { budget: { cost: 5 } });
    expect((await runtime.execute("acme/tool", {}, context)).output).to.equal("dear");
    expect(context.spending()?.cost).to.equal(6);
  });

  it("what is spent stays spent when the plan is begun anew with the same context", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool");
    const context = contextOf("plan", { budget: { calls: 1 } });
    await runtime.execute("acme/tool", {}, context);
    await runtime.deactivatePlan("plan");
    expect(await rejectionOf(runtime.execute("acme/tool", {}, context))).to.be.instanceOf(ToolCostLimitExceededError);
  });

  it("contexts of one plan share its books, and one with another budget is refused", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool");
    const first = contextOf("plan", { budget: { calls: 1 } });
    await runtime.execute("acme/tool", {}, first);
    const second = contextOf("plan", { budget: { calls: 1 } });
    expect(await rejectionOf(runtime.execute("acme/tool", {}, second))).to.be.instanceOf(ToolCostLimitExceededError);
    const other = await rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan", { budget: { calls: 9 } })));
    expect(other).to.have.property("code", "PLAN_CONFLICT");
  });

  it("a call that cannot be ended costs its estimate: its tool was reached", async () => {
    const runtime = makeRuntime({ graceMs: 0 });
    const started = deferred();
    const execute = (): Promise<never> => {
      started.resolve();
      return new Promise(() => undefined);
    };
    registerMock(runtime, "acme/tool", { execute }, { writes: false, cost: 2 });
    const context = contextOf("plan", { budget: { cost: 10 } });
    const controller = new AbortController();
    const call = rejectionOf(runtime.execute("acme/tool", {}, context, { signal: controller.signal }));
    await started.promise;
    controller.abort();
    expect(await call).to.have.property("outcome", "unsettled");
    expect(context.spending()?.cost).to.equal(2);
  });
});
