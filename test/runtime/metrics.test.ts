import { expect } from "chai";
import fc from "fast-check";
import {
  PHASES,
  toolError,
  type NumberPoint,
  type Outcome,
  type Plan,
  type ToolContext,
  type ToolRuntime,
} from "../../src/index.js";
import { afterReadyWork, deferred, rejectionOf } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

const NUMBER = { type: "number" };

/** What a call may come to, and how to make one that does. */
const CALLS: Readonly<
  Record<string, { readonly outcome: Outcome; readonly make: (plan: Plan, readOnly: Plan) => Promise<unknown> }>
> = {
  ok: { outcome: "ok", make: (plan) => plan.execute("acme/echo", 1) },
  nested: { outcome: "ok", make: (plan) => plan.execute("acme/nest", 1) },
  tool_error: { outcome: "tool_error", make: (plan) => plan.execute("acme/fail", 1) },
  threw: { outcome: "threw", make: (plan) => plan.execute("acme/throw", 1) },
  invalid_input: { outcome: "invalid_input", make: (plan) => plan.execute("acme/echo", "text") },
  invalid_output: { outcome: "invalid_output", make: (plan) => plan.execute("acme/wrong", 1) },
  denied: { outcome: "denied", make: (_plan, readOnly) => readOnly.execute("acme/write", 1) },
  not_registered: { outcome: "not_registered", make: (plan) => plan.execute("acme/none", 1) },
  activation_failed: { outcome: "activation_failed", make: (plan) => plan.execute("acme/broken", 1) },
  cancelled: { outcome: "cancelled", make: (plan) => plan.execute("acme/echo", 1, { signal: AbortSignal.abort() }) },
  timed_out: { outcome: "timed_out", make: (plan) => plan.execute("acme/wait", 1, { timeoutMs: 1 }) },
  unsettled: { outcome: "unsettled", make: (plan) => plan.execute("acme/hang", 1, { timeoutMs: 1 }) },
};

function registerAll(runtime: ToolRuntime): void {
  const add = (name: string, execute: (input: unknown, context: ToolContext) => unknown, rest = {}): void => {
    registerMock(runtime, `acme/${name}`, { execute }, { writes: false }, { inputSchema: NUMBER, ...rest });
  };
  add("echo", (input) => input);
  add("nest", async (input, { call }) => (await call("acme/echo", input)).output);
  add("fail", () => toolError({ code: "NO", message: "no" }));
  add("throw", () => {
    throw new Error("thrown");
  });
  add("wrong", () => "text", { outputSchema: NUMBER });
  add("wait", (_input, { cancellationToken: { signal } }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  });
  add("hang", () => deferred().promise);
  registerMock(runtime, "acme/write", {}, { writes: true });
  registerMock(runtime, "acme/broken", {
    activate: () => {
      throw new Error("broken");
    },
  });
}

const sumOf = (points: readonly { readonly value: number }[]): number =>
  points.reduce((sum, { value }) => sum + value, 0);

/** Numbers by one attribute. */
function sumsBy(points: readonly NumberPoint[], attribute: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { attributes, value } of points) {
    const name = attributes[attribute]!;
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

describe("runtime/metrics", () => {
  const newRuntime = runtimesOfSuite();

  const gaugesOf = (runtime: ToolRuntime): Record<string, number> =>
    Object.fromEntries(
      Object.entries(runtime.metrics().gauges).map(([name, { points }]) => [
        name.replace("toolcell.", ""),
        sumOf(points),
      ]),
    );

  it("metrics() counts every call once by what became of it, as its plans' traces do", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(CALLS)), { maxLength: 25 }), async (names) => {
        const runtime = newRuntime({ graceMs: 0 });
        registerAll(runtime);
        const plan = runtime.plan({ planId: "plan" });
        const readOnly = runtime.plan({ planId: "read-only", readOnly: true });
        await Promise.allSettled(names.map((name) => CALLS[name]!.make(plan, readOnly)));
        const { counters, gauges, histograms } = runtime.metrics();
        const nested = names.filter((name) => name === "nested").length;
        const traces = [...plan.context.traces, ...readOnly.context.traces];
        const made = sumOf(counters["toolcell.call.made"].points);
        const ended = counters["toolcell.call.ended"].points;

        expect(made).to.equal(names.length + nested);
        expect(traces).to.have.length(made);
        expect(sumOf(ended)).to.equal(made);
        const expected: Record<string, number> = nested > 0 ? { ok: nested } : {};
        for (const name of names) expected[CALLS[name]!.outcome] = (expected[CALLS[name]!.outcome] ?? 0) + 1;
        expect(sumsBy(ended, "outcome")).to.deep.equal(expected);

        expect(histograms["toolcell.call.duration"].points.reduce((sum, { count }) => sum + count, 0)).to.equal(made);
        const phases = histograms["toolcell.call.phase.duration"].points;
        expect(phases.map(({ count }) => count)).to.deep.equal(PHASES.map(() => made));
        const inTraces = traces.reduce((sum, { durationMs }) => sum + durationMs, 0);
        expect(phases.reduce((sum, point) => sum + point.sum, 0)).to.be.closeTo(inTraces, 1e-6);
        expect(histograms["toolcell.call.result.size"].points[0]?.count).to.equal(expected.ok ?? 0);
        expect(sumOf(gauges["toolcell.call.open"].points)).to.equal(0);
        await runtime.close({ graceMs: 0 });
      }),
      { numRuns: 40 },
    );
  });

  it("metrics() counts by tool, and names that are not registered together", async () => {
    const runtime = newRuntime();
    registerAll(runtime);
    const plan = runtime.plan({ planId: "plan" });
    for (const input of [1, 2, 3]) await plan.execute("acme/echo", input);
    await plan.execute("acme/fail", 1);
    for (const name of ["made/up", "also/made-up"]) await rejectionOf(plan.execute(name, 1));
    expect(sumsBy(runtime.metrics().counters["toolcell.call.ended"].points, "tool")).to.deep.equal({
      "acme/echo": 3,
      "acme/fail": 1,
      other: 2,
    });
  });

  it("metrics() tells of calls that run, wait for a turn and wait for a cell, of plans and activations", async () => {
    const runtime = newRuntime({ maxActiveCalls: 1 });
    const ready = deferred();
    const done = deferred();
    registerMock(runtime, "acme/slow", { activate: () => ready.promise, execute: () => done.promise });
    const calls = ["p", "q"].map((planId) => runtime.execute("acme/slow", {}, contextOf(planId)));
    await afterReadyWork();
    // Who waits for a cell has lent its turn to the other one.
    expect(gaugesOf(runtime)).to.include({ "call.open": 2, "call.active": 0, "call.queued": 0, "call.waiting": 2 });
    ready.resolve();
    await afterReadyWork();
    const third = runtime.execute("acme/slow", {}, contextOf("p"));
    await afterReadyWork();
    expect(gaugesOf(runtime)).to.include({ "call.open": 3, "call.queued": 1, "call.waiting": 0 });
    expect(gaugesOf(runtime)).to.include({ "plan.open": 2, "activation.open": 2, "cell.live": 0 });
    done.resolve();
    await Promise.all([...calls, third]);
    await Promise.all(["p", "q"].map((planId) => runtime.deactivatePlan(planId)));
    expect(gaugesOf(runtime)).to.include({ "call.open": 0, "call.active": 0, "plan.open": 0, "activation.open": 0 });
    const { counters } = runtime.metrics();
    const tier = "inline";
    expect(counters["toolcell.cell.started"].points).to.deep.equal([
      { attributes: { tier, origin: "cold" }, value: 2 },
    ]);
    expect(counters["toolcell.cell.ended"].points).to.deep.equal([{ attributes: { tier, end: "released" }, value: 2 }]);
  });

  it("metrics() counts a call that the runtime refused since it was closed", async () => {
    const runtime = newRuntime();
    registerAll(runtime);
    await runtime.close();
    const context = contextOf("plan");
    await rejectionOf(runtime.execute("acme/echo", 1, context));
    const { counters } = runtime.metrics();
    expect(sumOf(counters["toolcell.call.made"].points)).to.equal(1);
    expect(sumsBy(counters["toolcell.call.ended"].points, "outcome")).to.deep.equal({ denied: 1 });
  });

  it("metrics() counts an answer that came too late", async () => {
    const runtime = newRuntime({ graceMs: 0 });
    const late = deferred();
    registerMock(runtime, "acme/late", { execute: () => late.promise });
    const context = contextOf("plan");
    await rejectionOf(runtime.execute("acme/late", 1, context, { timeoutMs: 1 }));
    late.resolve();
    await afterReadyWork();
    const { counters } = runtime.metrics();
    expect(sumOf(counters["toolcell.call.late_results"].points)).to.equal(runtime.lateResults).and.to.equal(1);
  });

  it("metrics() is plain JSON in which every metric has a unit, a description and a name of its own", async () => {
    const runtime = newRuntime();
    registerAll(runtime);
    await runtime.execute("acme/echo", 1, contextOf("plan"));
    const metrics = runtime.metrics();
    expect(JSON.parse(JSON.stringify(metrics))).to.deep.equal(metrics);
    const all = [metrics.counters, metrics.gauges, metrics.histograms].flatMap((group) => Object.entries(group));
    expect(new Set(all.map(([name]) => name)).size).to.equal(all.length);
    for (const [name, { unit, description }] of all) {
      expect(name).to.match(/^toolcell(\.[a-z_]+)+$/);
      expect(unit, name).to.match(/^(ms|By|\{[a-z]+\})$/);
      expect(description, name).to.match(/^[A-Z]/);
    }
    expect(Date.parse(metrics.startTime)).to.be.at.most(Date.parse(metrics.time));
  });
});
