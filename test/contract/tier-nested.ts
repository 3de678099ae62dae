/** Tools that call tools: through the same gates, in the same plan, under the same cancel. */
import { expect } from "chai";
import { ToolCancelledError, ToolExecutionError } from "../../src/index.js";
import type { Bed } from "./tier-bed.js";
import { rejection, type Loose } from "./recorder.js";

const CALLER = "fixture/caller";
const INNER = "fixture/misbehave";

export function describeNested(bed: Bed): void {
  describe("nested calls", () => {
    it("context.call() gives the other tool's result, traced under its caller", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const { output, trace } = await plan.execute(CALLER, { tool: INNER, input: { do: "echo", value: [1, 2] } });
      expect(output).to.deep.include({ success: true, output: [1, 2], changes: [] });
      const [inner, outer] = plan.context.traces;
      expect(outer).to.deep.equal(trace);
      expect(inner).to.include({ toolName: INNER, parentCallId: trace.callId, outcome: "ok", planId: plan.planId });
      expect(outer).not.to.have.property("parentCallId");
      expect((output as { trace: unknown }).trace).to.deep.equal(inner);
    });

    it("context.call() gives what is an answer as an answer", async () => {
      await bed.tools("caller", "answers");
      const plan = bed.plan();
      const failed = await plan.execute(CALLER, { tool: "fixture/answers", input: { kind: "toolError" } });
      expect(failed.success).to.equal(true);
      expect(failed.output).to.deep.include({ success: false });
      expect((failed.output as { error: unknown }).error).to.deep.include({ code: "NOT_TODAY" });
      expect(plan.context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(["half"]);
      const invalid = await plan.execute(CALLER, { tool: "fixture/answers", input: { kind: 1 } });
      expect((invalid.output as { error: { message: string } }).error.message).to.match(/^Input validation failed/);
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal([
        "tool_error",
        "ok",
        "invalid_input",
        "ok",
      ]);
    });

    it("context.call() throws what a call throws, with its class and code", async () => {
      await bed.tools("caller", "errors", "misbehave");
      await bed.tool("misbehave", { spec: { name: "fixture/writer" }, capability: { writes: true } });
      const plan = bed.plan({ readOnly: true });
      const report = async (tool: string, input: unknown = {}): Promise<Loose> =>
        (await plan.execute(CALLER, { tool, input, report: true })).output;
      expect(await report("fixture/errors", { what: "typeError" })).to.include({
        isError: true,
        name: "ToolExecutionError",
        code: "EXECUTION_FAILED",
        outcome: "threw",
      });
      expect(await report("fixture/writer", { do: "nothing" })).to.include({
        name: "ToolAccessDeniedError",
        code: "ACCESS_DENIED",
      });
      expect(await report("fixture/absent")).to.include({ name: "ToolRuntimeError", code: "NOT_REGISTERED" });
      for (const tool of ["", "__proto__", 7 as never]) expect(await report(tool)).to.include({ isError: true });
      expect(plan.context.traces.map(({ outcome }) => outcome).slice(0, 6)).to.deep.equal([
        ...["threw", "ok"],
        ...["denied", "ok"],
        ...["not_registered", "ok"],
      ]);
    });

    it("an inner failure that the caller does not catch is the caller's, the causes in a chain", async () => {
      await bed.tools("caller", "errors");
      const plan = bed.plan();
      const error = await rejection(plan.execute(CALLER, { tool: "fixture/errors", input: { what: "custom" } }));
      expect(error).to.be.instanceOf(ToolExecutionError).with.property("outcome", "threw");
      expect(error.cause).to.be.instanceOf(ToolExecutionError);
      expect(error.cause.cause).to.include({ name: "CustomError", code: "E_CUSTOM" });
      expect(error.details.tool).to.equal(CALLER);
      expect(error.cause.details.tool).to.equal("fixture/errors");
    });

    it("an inner input that cannot travel fails the inner call only", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const { output } = await plan.execute(CALLER, { tool: INNER, uncloneable: true, report: true });
      expect(output).to.include({ isError: true });
      expect(bed.recorder.count("started")).to.equal(0);
    });

    it("many inner calls at once each get their own result", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const callers = [1, 2, 3].map((value) =>
        plan.execute(CALLER, { tool: INNER, times: 20, input: { do: "echo", value } }),
      );
      for (const [index, { output }] of (await Promise.all(callers)).entries()) {
        expect((output as { output: number }[]).map((result) => result.output)).to.deep.equal(
          new Array(20).fill(index + 1),
        );
      }
      expect(plan.context.summary().traceCount).to.equal(63);
    });

    it("a tool that asks for too much at once is refused what is too much, and nothing else", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const input = { tool: INNER, input: { do: "echo", value: 1 }, report: true };
      expect((await plan.execute(CALLER, { ...input, times: 256 })).output).to.have.length(256);
      expect((await plan.execute(CALLER, { ...input, times: 257 })).output).to.include({
        name: "ToolRuntimeError",
        code: "OVERLOADED",
      });
    });

    it("tools call each other as deeply as maxCallDepth says", async () => {
      bed.open({ maxCallDepth: 3 });
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const input = { tool: INNER, input: { do: "echo", value: "bottom" }, report: true };
      const reached = JSON.stringify((await plan.execute(CALLER, { ...input, depth: 2 })).output);
      expect(reached).to.contain('"output":"bottom"');
      expect(plan.context.traces).to.have.length(4);
      const refused = JSON.stringify((await plan.execute(CALLER, { ...input, depth: 3 })).output);
      expect(refused).to.contain("CALL_DEPTH_EXCEEDED").and.not.contain("bottom");
    });

    it("a call graph without end ends at the depth limit", async () => {
      await bed.tools("caller");
      const plan = bed.plan();
      const error = await rejection(plan.execute(CALLER, { tool: CALLER, depth: 1_000 }));
      let last = error;
      while (last.cause) last = last.cause;
      expect(last).to.include({ code: "CALL_DEPTH_EXCEEDED" });
    });

    it("nested calls do not wait for turns that their callers hold", async () => {
      bed.open({ maxActiveCalls: 1 });
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const calls = [1, 2, 3].map((value) =>
        plan.execute(CALLER, { tool: INNER, depth: 2, input: { do: "echo", value } }),
      );
      expect((await Promise.all(calls)).every(({ success }) => success)).to.equal(true);
    });

    for (const [how, options] of [
      ["signal", {}],
      ["deadline", { timeoutMs: 400 }],
    ] as const) {
      it(`the outer call's ${how} reaches the inner one`, async () => {
        await bed.tools("caller", "misbehave");
        const plan = bed.plan();
        await plan.activate(CALLER);
        await plan.activate(INNER);
        const controller = new AbortController();
        const call = rejection(
          plan.execute(CALLER, { tool: INNER, input: { do: "signal" } }, { signal: controller.signal, ...options }),
        );
        // The caller logs nothing: this is the inner call's word.
        await bed.recorder.logged("started");
        if (how === "signal") controller.abort();
        const error = await call;
        const outcome = how === "signal" ? "cancelled" : "timed_out";
        expect(error).to.have.property("outcome", outcome);
        expect(plan.context.traces.map((trace) => [trace.toolName, trace.outcome])).to.deep.equal([
          [INNER, outcome],
          [CALLER, outcome],
        ]);
      });
    }

    it("cancelling the plan ends every level", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const call = rejection(plan.execute(CALLER, { tool: INNER, depth: 3, input: { do: "poll" } }));
      await bed.recorder.logged("started");
      plan.cancel();
      expect(await call)
        .to.be.instanceOf(ToolCancelledError)
        .with.property("outcome", "cancelled");
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(new Array(5).fill("cancelled"));
    });

    it("an inner call that its caller does not wait for ends with its plan, under one trace", async () => {
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const { output } = await plan.execute(CALLER, { tool: INNER, input: { do: "poll" }, forget: true });
      expect(output).to.equal("forgotten");
      await plan.deactivate();
      expect(plan.context.traces.map(({ toolName, outcome }) => [toolName, outcome])).to.have.deep.members([
        [CALLER, "ok"],
        [INNER, "cancelled"],
      ]);
    });
  });
}
