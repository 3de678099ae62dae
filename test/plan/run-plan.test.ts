import { expect } from "chai";
import type { PlanEvent, PlanReport } from "../../src/plan/index.js";
import { deferred, rejectionOf } from "../support/outcomes.js";
import { runtimesOfSuite, specOf } from "../support/runtimes.js";
import { outcomesOf as outcomes, registerTools, run } from "./plans.js";

const outputs = ({ steps }: PlanReport): Record<string, unknown> =>
  Object.fromEntries(Object.entries(steps).map(([id, { output }]) => [id, output]));

const from = (pointer: string, rest: object = {}): object => ({ $from: pointer, ...rest });

describe("plan/run-plan", () => {
  const newRuntime = runtimesOfSuite();

  it("runPlan() gives outputs to the steps that use them, in whatever order they stand", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      plan: "order",
      steps: [
        {
          id: "last",
          tool: "test/echo",
          input: { all: [from("/steps/middle/output"), from("/steps/first/output/1/name")] },
        },
        { id: "middle", tool: "test/echo", input: from("/steps/first/output/0") },
        { id: "first", tool: "test/list", input: { length: 2 } },
      ],
    });
    expect(report).to.include({ plan: "order", outcome: "ok", calls: 3 });
    expect(Object.keys(report.steps)).to.deep.equal(["last", "middle", "first"]);
    expect(report.steps["last"]?.output).to.deep.equal({ all: [{ name: "n0", index: 0 }, "n1"] });
  });

  it("runPlan() runs what waits for nothing at once, as many as `concurrency` says", async () => {
    const runtime = newRuntime();
    const gate = deferred();
    let running = 0;
    let most = 0;
    registerTools(runtime, {
      hold: async () => {
        most = Math.max(most, ++running);
        if (running === 2) gate.resolve();
        await gate.promise;
        running--;
      },
    });
    const steps = ["a", "b", "c", "d"].map((id) => ({ id, tool: "test/hold" }));
    const report = await run(runtime, { concurrency: 2, steps });
    expect(report.outcome).to.equal("ok");
    expect(most).to.equal(2);
  });

  it("runPlan() does not run what depends on a failure, and runs the rest", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [
        { id: "bad", tool: "test/fail" },
        { id: "uses", tool: "test/echo", input: from("/steps/bad/output") },
        { id: "after", tool: "test/echo", after: ["bad"] },
        { id: "deep", tool: "test/echo", after: ["uses"] },
        { id: "other", tool: "test/echo", input: 1 },
      ],
    });
    expect(report.outcome).to.equal("failed");
    expect(outcomes(report)).to.deep.equal({
      bad: "failed",
      uses: "blocked",
      after: "blocked",
      deep: "blocked",
      other: "ok",
    });
    expect(report.steps["bad"]?.error).to.include({ code: "NO_LUCK", message: "no luck today" });
    expect(report.steps["deep"]?.reason).to.equal('it waits for "uses", which did not run');
    expect(report.calls).to.equal(2);
  });

  it("runPlan() goes on after a step that may fail, but not without its output", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [
        { id: "bad", tool: "test/throw", continueOnError: true },
        { id: "after", tool: "test/echo", after: ["bad"] },
        { id: "or", tool: "test/echo", input: from("/steps/bad/output", { default: "instead" }) },
        { id: "uses", tool: "test/echo", input: from("/steps/bad/output"), continueOnError: true },
      ],
    });
    expect(outcomes(report)).to.deep.equal({ bad: "failed", after: "ok", or: "ok", uses: "blocked" });
    expect(report.steps["or"]?.output).to.equal("instead");
    expect(report.outcome).to.equal("failed");
  });

  it("runPlan() skips where `when` does not hold", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const when = (pointer: string, rest: object = {}) => ({ when: { $from: pointer, ...rest } });
    const report = await run(runtime, {
      params: { on: { default: true }, none: { default: [] } },
      steps: [
        { id: "yes", tool: "test/echo", ...when("/params/on") },
        { id: "no", tool: "test/echo", ...when("/params/on", { not: true }) },
        { id: "empty", tool: "test/echo", ...when("/params/none") },
        { id: "count", tool: "test/list", input: { length: 4 } },
        { id: "many", tool: "test/echo", ...when("/steps/count/output", { matches: { minItems: 4 } }) },
        { id: "few", tool: "test/echo", ...when("/steps/count/output", { matches: { maxItems: 3 } }) },
        { id: "nothing", tool: "test/echo", ...when("/steps/count/output/9") },
        { id: "after", tool: "test/echo", after: ["few"] },
        { id: "uses", tool: "test/echo", input: from("/steps/few/output") },
      ],
    });
    expect(outcomes(report)).to.deep.equal({
      yes: "ok",
      no: "skipped",
      empty: "skipped",
      count: "ok",
      many: "ok",
      few: "skipped",
      nothing: "skipped",
      after: "ok",
      uses: "skipped",
    });
    expect(report.outcome).to.equal("ok");
  });

  it("runPlan() says of a pointer that leads nowhere how far it led", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [
        { id: "list", tool: "test/list" },
        { id: "uses", tool: "test/echo", input: { x: from("/steps/list/output/7/name") } },
      ],
    });
    expect(report.steps["uses"]).to.deep.include({
      outcome: "failed",
      attempts: 0,
      error: {
        code: "INVALID_PLAN",
        message: "`/steps/list/output/7/name` leads nowhere: there is nothing below `/steps/list/output` of that name",
      },
    });
  });

  it("runPlan() counts an object without fields as empty where `when` asks", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      params: { none: { default: {} }, some: { default: { a: 0 } } },
      steps: [
        { id: "none", tool: "test/echo", when: from("/params/none") },
        { id: "not", tool: "test/echo", when: from("/params/none", { not: true }) },
        { id: "some", tool: "test/echo", when: from("/params/some") },
      ],
    });
    expect(outcomes(report)).to.deep.equal({ none: "skipped", not: "ok", some: "ok" });
  });

  it("runPlan() gives a tool the null that its step has as input, and {} where it has none", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const forEach = { items: [1] };
    const report = await run(runtime, {
      steps: [
        { id: "null", tool: "test/echo", input: null },
        { id: "none", tool: "test/echo" },
        { id: "each", tool: "test/echo", forEach, input: null },
      ],
    });
    expect(outputs(report)).to.deep.equal({ null: null, none: {}, each: [null] });
  });

  it("runPlan() lets a step read how another ended, also where that one failed", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [
        { id: "bad", tool: "test/fail", continueOnError: true },
        { id: "good", tool: "test/echo", input: 1 },
        {
          id: "tell",
          tool: "test/echo",
          when: from("/steps/bad/error"),
          input: {
            why: { $text: [from("/steps/bad/outcome"), ": ", from("/steps/bad/error/message")] },
            attempts: from("/steps/bad/attempts"),
            other: from("/steps/good/error/message", { default: "none" }),
          },
        },
        { id: "quiet", tool: "test/echo", when: from("/steps/good/error"), input: from("/steps/good/error/message") },
        { id: "skipped", tool: "test/echo", input: from("/steps/quiet/outcome") },
        { id: "missing", tool: "test/echo", input: from("/steps/good/error/message"), continueOnError: true },
      ],
    });
    expect(outputs(report)["tell"]).to.deep.equal({ why: "failed: no luck today", attempts: 1, other: "none" });
    expect(outputs(report)["skipped"]).to.equal("skipped");
    expect(outcomes(report)).to.include({ quiet: "skipped", missing: "failed" });
    expect(report.outcome).to.equal("ok");
  });

  it("runPlan() blocks a step that reads how another ended where that one may not fail", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const report = await run(runtime, {
      steps: [
        { id: "bad", tool: "test/fail" },
        { id: "tell", tool: "test/echo", input: from("/steps/bad/outcome") },
      ],
    });
    expect(outcomes(report)).to.deep.equal({ bad: "failed", tell: "blocked" });
  });

  describe("forEach", () => {
    it("calls the tool for each item, in order of their places", async () => {
      const runtime = newRuntime();
      registerTools(runtime);
      const report = await run(runtime, {
        steps: [
          { id: "list", tool: "test/list", input: { length: 5 } },
          {
            id: "each",
            tool: "test/echo",
            forEach: { items: from("/steps/list/output"), concurrency: 2 },
            input: { text: { $text: [from("/item/name"), " at ", from("/index")] } },
          },
        ],
      });
      expect(report.steps["each"]?.output).to.deep.equal([0, 1, 2, 3, 4].map((at) => ({ text: `n${at} at ${at}` })));
      expect(report.steps["each"]).to.include({ outcome: "ok", attempts: 5 });
    });

    it("has as many items under way as its concurrency says", async () => {
      const runtime = newRuntime();
      const gate = deferred();
      let running = 0;
      let most = 0;
      registerTools(runtime, {
        hold: async () => {
          most = Math.max(most, ++running);
          if (running === 3) gate.resolve();
          await gate.promise;
          running--;
        },
      });
      await run(runtime, {
        steps: [{ id: "each", tool: "test/hold", forEach: { items: [...Array(20).keys()], concurrency: 3 } }],
      });
      expect(most).to.equal(3);
    });

    const odd = {
      odd: ({ n }: { n: number }) => {
        if (n % 2 === 1) throw new Error(`odd: ${n}`);
        return n;
      },
    };

    it("starts no further item after one that failed, and says which", async () => {
      const runtime = newRuntime();
      registerTools(runtime, odd);
      const forEach = { items: [0, 1, 2, 3], concurrency: 1 };
      const report = await run(runtime, {
        steps: [{ id: "each", tool: "test/odd", forEach, input: { n: from("/item") } }],
      });
      const each = report.steps["each"];
      expect(each?.outcome).to.equal("failed");
      expect(each?.error?.message).to.match(/^1 of 4 items of step "each" failed, 2 did not begin; item 1: .*odd: 1/);
      expect(each?.items?.map(({ outcome }) => outcome)).to.deep.equal(["ok", "failed", "blocked", "blocked"]);
    });

    it("goes on after a failure where it may", async () => {
      const runtime = newRuntime();
      registerTools(runtime, odd);
      const forEach = { items: [0, 1, 2, 3], continueOnError: true };
      const report = await run(runtime, {
        steps: [{ id: "each", tool: "test/odd", forEach, input: { n: from("/item") } }],
      });
      expect(report.outcome).to.equal("ok");
      expect(report.steps["each"]?.output).to.deep.equal([0, null, 2, null]);
      expect(report.steps["each"]?.items?.map(({ outcome }) => outcome)).to.deep.equal([
        "ok",
        "failed",
        "ok",
        "failed",
      ]);
    });

    it("passes over items for which `when` does not hold", async () => {
      const runtime = newRuntime();
      registerTools(runtime);
      const report = await run(runtime, {
        steps: [
          {
            id: "each",
            tool: "test/echo",
            forEach: { items: [1, 0, 2] },
            when: { $from: "/item", matches: { minimum: 1 } },
            input: from("/item"),
          },
        ],
      });
      expect(report.steps["each"]?.output).to.deep.equal([1, null, 2]);
    });

    it("fails where its items turn out to be no list, and does nothing for none", async () => {
      const runtime = newRuntime();
      registerTools(runtime);
      const report = await run(runtime, {
        params: { text: { default: "text" }, none: { default: [] } },
        steps: [
          { id: "text", tool: "test/echo", forEach: { items: from("/params/text") } },
          { id: "none", tool: "test/echo", forEach: { items: from("/params/none") } },
        ],
      });
      expect(report.steps["text"]?.error?.message).to.equal("`forEach.items` is no list but string");
      expect(report.steps["none"]).to.deep.include({ outcome: "ok", output: [], attempts: 0 });
    });
  });

  describe("retry", () => {
    it("calls again until it succeeds, each call after a longer wait", async () => {
      const runtime = newRuntime();
      let calls = 0;
      registerTools(runtime, {
        flaky: () => {
          if (++calls < 3) throw new Error("not yet");
          return calls;
        },
      });
      const events: PlanEvent[] = [];
      const retry = { attempts: 5, delayMs: 0 };
      const report = await run(
        runtime,
        { steps: [{ id: "flaky", tool: "test/flaky", retry }] },
        { onEvent: (event) => events.push(event) },
      );
      expect(report.steps["flaky"]).to.deep.include({ outcome: "ok", output: 3, attempts: 3 });
      expect(report.calls).to.equal(3);
      expect(events.flatMap((event) => (event.type === "call" ? [event.attempt] : []))).to.deep.equal([1, 2, 3]);
    });

    it("gives up with the last error", async () => {
      const runtime = newRuntime();
      registerTools(runtime);
      const report = await run(runtime, {
        steps: [{ id: "bad", tool: "test/fail", retry: { attempts: 3, delayMs: 0 } }],
      });
      expect(report.steps["bad"]).to.deep.include({ outcome: "failed", attempts: 3 });
      expect(report.steps["bad"]?.error?.code).to.equal("NO_LUCK");
    });

    it("does not call again what cannot do better, or may have done its work", async () => {
      const runtime = newRuntime();
      const hang = () => new Promise(() => undefined);
      registerTools(runtime, { hang });
      runtime.register(specOf("test/strict", { inputSchema: { type: "string" }, capability: { writes: false } }), {
        execute: () => 1,
      });
      runtime.register(specOf("test/again", { capability: { writes: false, idempotent: true } }), {
        execute: (_input, { cancellationToken: { signal } }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              reject(signal.reason as Error);
            });
          }),
      });
      const retry = { attempts: 2, delayMs: 0 };
      const report = await run(runtime, {
        params: { number: { default: 1 } },
        steps: [
          { id: "invalid", tool: "test/strict", input: from("/params/number"), retry },
          { id: "late", tool: "test/hang", timeoutMs: 5, retry },
          { id: "again", tool: "test/again", timeoutMs: 5, retry },
        ],
      });
      expect(Object.values(report.steps).map(({ attempts }) => attempts)).to.deep.equal([1, 1, 2]);
    });
  });

  describe("budget", () => {
    it("starts no call beyond `calls`", async () => {
      const runtime = newRuntime();
      registerTools(runtime);
      const forEach = { items: [1, 2, 3], concurrency: 1 };
      const report = await run(runtime, { budget: { calls: 2 }, steps: [{ id: "each", tool: "test/echo", forEach }] });
      expect(report).to.include({ outcome: "failed", calls: 2 });
      expect(report.steps["each"]?.items?.map(({ outcome }) => outcome)).to.deep.equal(["ok", "ok", "blocked"]);
      expect(report.steps["each"]?.error).to.include({ code: "COST_LIMIT_EXCEEDED" });
    });

    it("starts no call once `cost` is spent", async () => {
      const runtime = newRuntime();
      registerTools(runtime, { dear: (_input, { reportCost }) => reportCost(3) });
      const steps = [
        { id: "a", tool: "test/dear" },
        { id: "b", tool: "test/dear", after: ["a"] },
        { id: "c", tool: "test/dear", after: ["b"] },
      ];
      const report = await run(runtime, { budget: { cost: 5 }, steps });
      expect(outcomes(report)).to.deep.equal({ a: "ok", b: "ok", c: "blocked" });
      expect(report.cost).to.equal(6);
    });

    it("cancels what runs when `wallMs` is up", async () => {
      const runtime = newRuntime();
      registerTools(runtime, {
        wait: (_input, { cancellationToken: { signal } }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
      });
      const report = await run(runtime, {
        budget: { wallMs: 20 },
        steps: [
          { id: "wait", tool: "test/wait" },
          { id: "after", tool: "test/echo", after: ["wait"] },
        ],
      });
      expect(report.outcome).to.equal("cancelled");
      expect(outcomes(report)).to.deep.equal({ wait: "cancelled", after: "cancelled" });
    });
  });

  it("runPlan() cancels what runs when its signal aborts, and runs nothing more", async () => {
    const runtime = newRuntime();
    const started = deferred();
    registerTools(runtime, {
      wait: (_input, { cancellationToken: { signal } }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
          started.resolve();
        }),
    });
    const controller = new AbortController();
    const running = run(
      runtime,
      { concurrency: 1, steps: ["a", "b"].map((id) => ({ id, tool: "test/wait" })) },
      { signal: controller.signal },
    );
    await started.promise;
    controller.abort();
    const report = await running;
    expect(report).to.include({ outcome: "cancelled", calls: 1 });
    expect(outcomes(report)).to.deep.equal({ a: "cancelled", b: "cancelled" });
  });

  it("runPlan() runs a thousand items and a chain of five hundred steps", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const chain = Array.from({ length: 500 }, (_, at) => ({
      id: `s${at}`,
      tool: "test/echo",
      input: at === 0 ? [0] : [from(`/steps/s${at - 1}/output/0`)],
    }));
    const each = {
      id: "each",
      tool: "test/echo",
      forEach: { items: [...Array(1_000).keys()], concurrency: 64 },
      input: from("/item"),
    };
    const report = await run(runtime, { steps: [...chain.reverse(), each] });
    expect(report).to.include({ outcome: "ok", calls: 1_500 });
    expect(outputs(report)["s499"]).to.deep.equal([0]);
    expect(report.steps["each"]?.output).to.deep.equal([...Array(1_000).keys()]);
  });

  it("runPlan() binds resources by paths that start at the plan's folder, and takes parameters", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    const capability = { writes: false, fs: { read: ["repo"] } };
    runtime.register(specOf("test/where", { capability }), {
      execute: (_input, { resource }) => resource("repo").path,
    });
    const report = await run(
      runtime,
      {
        params: { who: { schema: { type: "string" } } },
        resources: { repo: { path: "some/folder" } },
        steps: [
          { id: "where", tool: "test/where" },
          { id: "who", tool: "test/echo", input: from("/params/who") },
        ],
      },
      { params: { who: "me" } },
    );
    expect(outputs(report)).to.deep.equal({ where: "/some/folder", who: "me" });
    const wrong = run(
      runtime,
      { params: { who: { schema: { type: "string" } } }, steps: [{ id: "a", tool: "test/echo" }] },
      { params: { who: 1 } },
    );
    expect(await rejectionOf(wrong)).to.include({ code: "INVALID_PLAN" });
  });

  it("runPlan() leaves nothing activated", async () => {
    const runtime = newRuntime();
    registerTools(runtime);
    await run(runtime, { plan: "p", steps: [{ id: "a", tool: "test/echo" }] });
    expect(runtime.cache.planCount).to.equal(0);
  });
});
