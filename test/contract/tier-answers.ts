/** What comes back from a tool that returns. */
import { expect } from "chai";
import { ToolExecutionError } from "../../src/index.js";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

export function describeAnswers(bed: Bed): void {
  describe("answers", () => {
    it("execute() gives the output of a module of plain exports", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const result = await plan.execute("fixture/misbehave", { do: "echo", value: { list: [1, "two", null] } });
      expect(result).to.include({ success: true });
      expect(result.output).to.deep.equal({ list: [1, "two", null] });
      expect(result.changes).to.deep.equal([]);
      expect(result).not.to.have.property("error");
      expect(result.trace).to.deep.equal(onlyTrace(plan));
      expect(result.trace).to.include({ outcome: "ok", success: true });
      expect(result.trace.cell).to.include({ tier: bed.tier.name });
    });

    it("execute() gives the output of a tool made with defineTool, with its version in the trace", async () => {
      await bed.tools("answers");
      const result = await bed.plan().execute("fixture/answers", { kind: "text" });
      expect(result.output).to.equal("text");
      expect(result.trace).to.include({ toolName: "fixture/answers", toolVersion: "1.2.3" });
    });

    it("execute() gives toolResult()'s output and changes, each with a time", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      const { success, output, changes } = await plan.execute("fixture/answers", { kind: "toolResult" });
      expect({ success, output }).to.deep.equal({ success: true, output: { fine: true } });
      expect(changes[0]).to.deep.equal({
        operation: "create",
        resourceId: "r1",
        path: "a.txt",
        timestamp: "2020-01-02T03:04:05.000Z",
      });
      expect(changes[1]).to.include({ operation: "delete", resourceId: "r2" });
      expect(new Date(changes[1]!.timestamp).toISOString()).to.equal(changes[1]!.timestamp);
      expect(plan.context.changes).to.deep.equal(changes);
    });

    it("execute() gives toolError() as an answer, with its details and changes", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      const result = await plan.execute("fixture/answers", { kind: "toolError" });
      expect(result.success).to.equal(false);
      expect(result).not.to.have.property("output");
      expect(result.error).to.deep.equal({
        code: "NOT_TODAY",
        message: "not today",
        details: { until: "tomorrow", list: [1, 2] },
      });
      expect(result.changes).to.have.length(1);
      expect(onlyTrace(plan)).to.include({ outcome: "tool_error", success: false, error: "not today" });
    });

    it("execute() takes an output that looks like an answer for an output", async () => {
      await bed.tools("answers");
      const result = await bed.plan().execute("fixture/answers", { kind: "lookalike" });
      expect(result.success).to.equal(true);
      expect(result.output).to.deep.include({ success: false, error: { code: "FAKE", message: "an output" } });
    });

    it("execute() refuses an error answer whose details cannot travel, and a change that is none", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      const uncloneable = await rejection(plan.execute("fixture/answers", { kind: "toolErrorUncloneable" }));
      expect(uncloneable).to.be.instanceOf(ToolExecutionError);
      expect(uncloneable).to.include({ code: "RESULT_NOT_CLONEABLE", outcome: "threw" });
      const badChanges = await rejection(plan.execute("fixture/answers", { kind: "badChanges" }));
      expect(badChanges).to.be.instanceOf(ToolExecutionError);
      expect(badChanges.cause).to.include({ code: "INVALID_ARGUMENT" });
      expect(plan.context.changes).to.deep.equal([]);
    });

    it("execute() waits for promises and thenables", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      expect((await plan.execute("fixture/answers", { kind: "promise" })).output).to.equal("awaited");
      expect((await plan.execute("fixture/answers", { kind: "thenable" })).output).to.equal("from a thenable");
    });

    it("execute() checks the input before the tool and the output after it", async () => {
      await bed.tools("answers");
      await bed.tool("misbehave", { spec: { outputSchema: { type: "number" } } });
      const plan = bed.plan();
      const input = await plan.execute("fixture/answers", { kind: 1 });
      expect(input.success).to.equal(false);
      expect(input.error?.message).to.match(/^Input validation failed/);
      expect(input.trace.outcome).to.equal("invalid_input");
      expect(bed.recorder.cells).to.deep.equal([]);
      const output = await plan.execute("fixture/misbehave", { do: "echo", value: "no number" });
      expect(output.success).to.equal(false);
      expect(output).not.to.have.property("output");
      expect(output.error?.message).to.match(/^Output validation failed/);
      expect(output.trace.outcome).to.equal("invalid_output");
    });

    it("execute() runs calls of one cell side by side, started in the order they were made", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const calls = Array.from({ length: 20 }, (_none, value) =>
        plan.execute("fixture/misbehave", { do: "meet", count: 20, value }, { callId: `call-${value}` }),
      );
      const results = await Promise.all(calls);
      expect(results.map(({ output }) => output)).to.deep.equal(results.map((_result, index) => index));
      const started = bed.recorder.logs.filter(({ message }) => message === "started");
      expect(started.map(({ callId }) => callId)).to.deep.equal(results.map((_result, index) => `call-${index}`));
      expect(new Set(results.map(({ trace }) => trace.cell?.id)).size).to.equal(1);
    });

    it("execute() gives the context's facts to the tool; its methods may be taken apart", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { output, trace, changes } = await plan.execute(
        "fixture/misbehave",
        { do: "describe" },
        { callId: "my call" },
      );
      expect(output).to.include({ planId: plan.planId, callId: "my call", attempt: 1, idempotencyKey: "my call" });
      expect((output as { traceparent: string }).traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(trace).to.include({ callId: "my call", cost: 1 });
      expect(changes).to.have.length(1);
      expect(bed.recorder.count("destructured")).to.equal(1);
    });

    it("execute() shows the bound resources that the capability names, and no others", async () => {
      await bed.tool("misbehave", { capability: { fs: { read: ["repo"] } } });
      const plan = bed.plan({
        boundResources: [
          { slotName: "repo", resourceId: "r", resourceType: "thing", access: "read_write" },
          { slotName: "hidden", resourceId: "h", resourceType: "thing" },
        ],
      });
      const { output } = await plan.execute("fixture/misbehave", { do: "resource", text: "repo" });
      expect(output).to.deep.equal({ slotName: "repo", resourceId: "r", resourceType: "thing", access: "read_only" });
      for (const text of ["hidden", "absent", "__proto__"]) {
        const error = await rejection(plan.execute("fixture/misbehave", { do: "resource", text }));
        expect(error.cause).to.include({ name: "ToolRuntimeError", code: "RESOURCE_NOT_BOUND" });
      }
    });
  });
}
