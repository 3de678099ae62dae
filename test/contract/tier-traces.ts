/** Every path leaves one trace, of a closed form. */
import { expect } from "chai";
import { OUTCOMES, PHASES, type Outcome, type Plan, type ToolExecutionTrace } from "../../src/index.js";
import { executeChannel, type ExecuteMessage } from "../../src/index.js";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

const TOOL = "fixture/misbehave";

interface Path {
  readonly outcome: Outcome;
  /** Whether the call reached a cell. */
  readonly inCell: boolean;
  run(bed: Bed): Promise<Plan>;
}

/** Runs one call in a plan of its own and waits for its end. */
async function once(
  bed: Bed,
  input: unknown,
  options: { plan?: object; tool?: string; timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Plan> {
  const plan = bed.plan(options.plan ?? {});
  const { timeoutMs, signal } = options;
  const call = plan.execute(options.tool ?? TOOL, input, {
    ...(timeoutMs && { timeoutMs }),
    ...(signal && { signal }),
  });
  await call.catch(() => undefined);
  return plan;
}

async function interrupted(bed: Bed, action: string): Promise<Plan> {
  const controller = new AbortController();
  const running = once(bed, { do: action }, { signal: controller.signal });
  await bed.recorder.logged("started");
  controller.abort();
  return running;
}

const PATHS: Readonly<Record<string, Path>> = {
  "an output": { outcome: "ok", inCell: true, run: (bed) => once(bed, { do: "echo", value: "text" }) },
  "an error answer": {
    outcome: "tool_error",
    inCell: true,
    run: (bed) => once(bed, { kind: "toolError" }, { tool: "fixture/answers" }),
  },
  "a throw": {
    outcome: "threw",
    inCell: true,
    run: (bed) => once(bed, { what: "typeError" }, { tool: "fixture/errors" }),
  },
  "an output that cannot travel": {
    outcome: "threw",
    inCell: true,
    run: (bed) => once(bed, { kind: "function" }, { tool: "fixture/answers" }),
  },
  "an invalid input": {
    outcome: "invalid_input",
    inCell: false,
    run: (bed) => once(bed, { kind: 1 }, { tool: "fixture/answers" }),
  },
  "an invalid output": {
    outcome: "invalid_output",
    inCell: true,
    run: async (bed) => {
      await bed.tool("misbehave", { spec: { name: "fixture/strict", outputSchema: false } });
      return once(bed, { do: "nothing" }, { tool: "fixture/strict" });
    },
  },
  "a denial": {
    outcome: "denied",
    inCell: false,
    run: async (bed) => {
      await bed.tool("misbehave", { spec: { name: "fixture/writer" }, capability: { writes: true } });
      return once(bed, {}, { tool: "fixture/writer", plan: { readOnly: true } });
    },
  },
  "an unknown tool": {
    outcome: "not_registered",
    inCell: false,
    run: (bed) => once(bed, {}, { tool: "fixture/absent" }),
  },
  "a failed activation": {
    outcome: "activation_failed",
    inCell: false,
    run: (bed) => once(bed, {}, { tool: "fixture/lifecycle", plan: { planId: "t=1&activate=throw" } }),
  },
  "a cancel before": {
    outcome: "cancelled",
    inCell: false,
    run: (bed) => once(bed, { do: "nothing" }, { signal: AbortSignal.abort() }),
  },
  "a cancel during": { outcome: "cancelled", inCell: true, run: (bed) => interrupted(bed, "poll") },
  "a deadline during activation": {
    outcome: "timed_out",
    inCell: false,
    run: (bed) => once(bed, {}, { tool: "fixture/lifecycle", plan: { planId: "t=2&activate=hang" }, timeoutMs: 20 }),
  },
};

const APART: Readonly<Record<string, Path>> = {
  "a kill": { outcome: "killed", inCell: true, run: (bed) => interrupted(bed, "spin") },
  "a crash": { outcome: "crashed", inCell: true, run: (bed) => once(bed, { do: "exit", count: 1 }) },
};

const TOGETHER: Readonly<Record<string, Path>> = {
  "a call that cannot be ended": { outcome: "unsettled", inCell: true, run: (bed) => interrupted(bed, "hang") },
};

function checkForm(trace: ToolExecutionTrace): void {
  expect(Object.isFrozen(trace)).to.equal(true);
  expect(OUTCOMES).to.include(trace.outcome);
  expect(trace.success).to.equal(trace.outcome === "ok");
  expect(Object.keys(trace.phases)).to.deep.equal([...PHASES]);
  const phases = Object.values(trace.phases);
  for (const phase of phases) expect(phase).to.be.at.least(0);
  expect(phases.reduce((sum, phase) => sum + phase, 0)).to.be.closeTo(trace.durationMs, 1e-6);
  for (const time of [trace.startedAt, trace.endedAt]) expect(new Date(time).toISOString()).to.equal(time);
  expect(Date.parse(trace.endedAt)).to.be.at.least(Date.parse(trace.startedAt));
  expect(trace.attempt).to.equal(1);
  expect(trace.callId).to.be.a("string").and.not.equal("");
  if (trace.success) expect(trace).not.to.have.property("error");
  else expect(trace.error).to.be.a("string").and.not.equal("");
}

export function describeTraces(bed: Bed): void {
  const paths = { ...PATHS, ...(bed.tier.apart ? APART : TOGETHER) };

  describe("traces", () => {
    for (const [what, { outcome, inCell, run }] of Object.entries(paths)) {
      it(`${what} leaves one trace, "${outcome}"`, async () => {
        await bed.tools("misbehave", "answers", "errors", "lifecycle");
        const plan = await run(bed);
        const trace = onlyTrace(plan);
        checkForm(trace);
        expect(trace).to.include({ outcome, planId: plan.planId });
        if (inCell) expect(trace.cell).to.include({ tier: bed.tier.name });
        else expect(trace).not.to.have.property("cell");
        expect(plan.context.summary()).to.include({ traceCount: 1 });
      });
    }

    it('a call that finds no turn leaves one trace, "overloaded"', async () => {
      bed.open({ maxActiveCalls: 1, maxQueuedCalls: 0 });
      await bed.tools("misbehave");
      const busy = bed.plan();
      const running = rejection(busy.execute(TOOL, { do: "poll" }));
      await bed.recorder.logged("started");
      const plan = bed.plan();
      expect(await rejection(plan.execute(TOOL, { do: "nothing" }))).to.include({ code: "OVERLOADED" });
      checkForm(onlyTrace(plan));
      expect(onlyTrace(plan)).to.include({ outcome: "overloaded" });
      busy.cancel();
      await running;
      expect((await plan.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
    });

    it("calls in quick succession leave one trace each, contiguous and complete", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await Promise.all(
        Array.from({ length: 200 }, (_none, index) =>
          plan.execute(TOOL, { do: index % 2 === 0 ? "echo" : "sleep", ms: 1, value: index }),
        ),
      );
      const { traces } = plan.context;
      expect(traces).to.have.length(200);
      expect(new Set(traces.map(({ callId }) => callId)).size).to.equal(200);
      for (const trace of traces) checkForm(trace);
    });

    it("the run phase holds what the tool took", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const { trace } = await plan.execute(TOOL, { do: "sleep", ms: 60 });
      expect(trace.phases.run).to.be.at.least(50);
      expect(trace.durationMs).to.be.at.least(trace.phases.run);
    });

    it("each call is published on the tracing channel, with its trace", async () => {
      const ended: ExecuteMessage[] = [];
      const failed: ExecuteMessage[] = [];
      const subscribers = {
        start: () => undefined,
        end: () => undefined,
        asyncStart: () => undefined,
        asyncEnd: (message: ExecuteMessage) => ended.push(message),
        error: (message: ExecuteMessage) => failed.push(message),
      };
      executeChannel.subscribe(subscribers);
      try {
        await bed.tools("misbehave", "caller");
        const plan = bed.plan();
        await plan.execute("fixture/caller", { tool: TOOL, input: { do: "echo", value: 1 } });
        await rejection(plan.execute(TOOL, { do: "badChange" }));
        await new Promise(setImmediate);
        expect(ended.map(({ trace }) => trace)).to.deep.equal(plan.context.traces);
        expect(ended[0]).to.include({ toolName: TOOL, parentCallId: ended[1]?.callId });
        expect(failed).to.have.length(1);
      } finally {
        executeChannel.unsubscribe(subscribers);
      }
    });

    it("cacheStats() counts the calls that the tool answered, by plan", async () => {
      await bed.tools("misbehave", "answers");
      const plan = bed.plan();
      const other = bed.plan();
      for (let index = 0; index < 3; index++) await plan.execute(TOOL, { do: "nothing" });
      await plan.execute("fixture/answers", { kind: "toolError" });
      await plan.execute("fixture/answers", { kind: 1 });
      await other.execute(TOOL, { do: "nothing" });
      const stats = bed.runtime.cacheStats(plan.planId);
      expect(stats.activeTools).to.equal(2);
      expect(stats.tools[TOOL]).to.include({ executionCount: 3, activationCount: 1 });
      expect(stats.tools["fixture/answers"]).to.include({ executionCount: 1 });
      expect(bed.runtime.cacheStats(other.planId).tools[TOOL]).to.include({ executionCount: 1 });
      expect(bed.runtime.cache.planTools(plan.planId)).to.have.members([TOOL, "fixture/answers"]);
      expect(bed.runtime.cache.planCount).to.equal(2);
    });
  });
}
