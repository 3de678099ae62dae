/** What a call tells on its way: progress, log lines, changes, cost. */
import { expect } from "chai";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection } from "./recorder.js";

const TOOL = "fixture/misbehave";

export function describeEvents(bed: Bed): void {
  describe("events", () => {
    it("progress arrives in order; the last report always does", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.execute(TOOL, { do: "progress", count: 1_000 }, { callId: "steps" });
      const { progress } = bed.recorder;
      expect(progress.length).to.be.within(1, 1_000);
      const done = progress.map((event) => event.done);
      expect(done).to.deep.equal(done.toSorted((one, other) => one - other));
      expect(progress.at(-1)).to.deep.equal({
        planId: plan.planId,
        toolName: TOOL,
        callId: "steps",
        done: 1_000,
        total: 1_000,
        message: "step 1000",
      });
    });

    it("log lines arrive in order, with level, data, call and cell", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { trace } = await plan.execute(TOOL, { do: "log", text: "line", value: new Map([[1, 2]]) });
      const lines = bed.recorder.logs.filter(({ message }) => message === "line");
      expect(lines.map(({ level }) => level)).to.deep.equal(["debug", "info", "warn", "error"]);
      for (const line of lines) {
        expect(line).to.include({ planId: plan.planId, toolName: TOOL, callId: trace.callId });
        expect(line.cell).to.equal(trace.cell);
      }
      expect(lines[0]).not.to.have.property("data");
      expect(lines[1]?.data).to.deep.equal(new Map([[1, 2]]));
      expect(lines[2]?.data).to.deep.equal({ nested: [new Map([[1, 2]])] });
    });

    it("a log line whose data cannot travel still arrives", async () => {
      await bed.tools("misbehave");
      await bed.plan().execute(TOOL, { do: "logUncloneable" });
      expect(await bed.recorder.logged("with a function"))
        .to.have.property("data")
        .that.is.a("string");
    });

    it("long log texts are bounded", async () => {
      await bed.tools("misbehave");
      await bed.plan().execute(TOOL, { do: "log", text: "l".repeat(1_000_000) });
      for (const { message } of bed.recorder.logs) expect(message.length).to.be.below(100_000);
    });

    it("changes are in the result and the context, in order, each with a time", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { changes } = await plan.execute(TOOL, { do: "change", count: 100 });
      expect(changes.map(({ resourceId }) => resourceId)).to.deep.equal(
        Array.from({ length: 100 }, (_none, index) => `r${index}`),
      );
      for (const { timestamp } of changes) expect(new Date(timestamp).toISOString()).to.equal(timestamp);
      expect(plan.context.changes).to.deep.equal(changes);
      expect(plan.context.summary()).to.include({ changeCount: 100, traceCount: 1 });
    });

    it("changes are kept when the call fails, and when it never ends", async () => {
      await bed.tools("misbehave");
      const failing = bed.plan();
      await rejection(failing.execute(TOOL, { do: "changeThenThrow", count: 3 }));
      expect(failing.context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(["r0", "r1", "r2"]);
      const hanging = bed.plan();
      const controller = new AbortController();
      const call = rejection(hanging.execute(TOOL, { do: "changeThenHang", count: 3 }, { signal: controller.signal }));
      await bed.recorder.logged("changed");
      controller.abort();
      await call;
      expect(hanging.context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(["r0", "r1", "r2"]);
    });

    it("a change that is none is refused where it is made", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      for (const value of [undefined, {}, { operation: "explode", resourceId: "r" }, { operation: "create" }]) {
        const error = await rejection(plan.execute(TOOL, { do: "badChange", value }));
        expect(error.cause).to.include({ code: "INVALID_ARGUMENT" });
      }
      expect(plan.context.changes).to.deep.equal([]);
    });

    it("costs add up in the trace; a cost that is none is refused", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { trace } = await plan.execute(TOOL, { do: "cost", value: [1, 0, 2.5] });
      expect(trace.cost).to.equal(3.5);
      const error = await rejection(plan.execute(TOOL, { do: "cost", value: [4, -1] }));
      expect(error.cause).to.include({ code: "INVALID_ARGUMENT" });
      // What was spent before the failure was spent.
      expect(plan.context.traces[1]?.cost).to.equal(4);
    });

    it("a listener that throws does not reach the call", async () => {
      await bed.tools("misbehave");
      bed.runtime.on("log", () => {
        throw new Error("a listener's fault");
      });
      const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
      const plan = bed.plan();
      await plan.execute(TOOL, { do: "log", text: "line" });
      expect(onlyTrace(plan)).to.include({ outcome: "ok" });
      expect((await warned).message).to.contain("a listener's fault");
    });

    if (!bed.tier.apart) return;

    it("what a tool prints becomes log events of its call", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { trace } = await plan.execute(TOOL, { do: "print", text: "this" });
      const printed = bed.recorder.logs.filter(({ message }) => message.endsWith(" this"));
      expect(printed.map(({ message, level }) => `${level}: ${message}`)).to.deep.equal([
        "info: log this",
        "warn: error this",
        "info: write this",
        "info: info this",
      ]);
      for (const { callId } of printed) expect(callId).to.equal(trace.callId);
    });

    it("a call's log lines beyond the bound are dropped without holes, and it is said how many; the next has its own", async () => {
      bed.open({ maxLogBytes: 1_000 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      for (let call = 0; call < 2; call++) {
        const before = bed.recorder.logs.length;
        expect((await plan.execute(TOOL, { do: "flood", count: 500 })).success).to.equal(true);
        const messages = bed.recorder.logs.slice(before).map(({ message }) => message);
        if (messages[0] === "started") messages.shift();
        const lines = messages.filter((message) => message.startsWith("line "));
        expect(lines).to.deep.equal(lines.map((_line, index) => `line ${index}`));
        expect(lines.join("").length).to.be.within(900, 1_000);
        expect(messages.slice(lines.length)).to.deep.equal([
          "What is logged beyond 1000 bytes in one call is dropped (option maxLogBytes).",
          `${500 - lines.length} log lines of this call were dropped.`,
        ]);
      }
    });

    it("a log line whose data is larger than the bound is dropped, one whose data cannot travel is not", async () => {
      bed.open({ maxLogBytes: 1_000 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.execute(TOOL, { do: "logUncloneable" });
      await bed.recorder.logged("with a function");
      await plan.execute(TOOL, { do: "log", text: "large", value: "x".repeat(1_001) });
      const withData = bed.recorder.logs.filter(({ message, data }) => message === "large" && data !== undefined);
      expect(withData).to.deep.equal([]);
    });

    it("a call that records more changes than are allowed is told so, and what it recorded stands", async () => {
      bed.open({ maxChangesPerCall: 3 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      const error = await rejection(plan.execute(TOOL, { do: "changes", count: 5 }));
      expect(error).to.have.nested.property("cause.code", "OVERLOADED");
      expect((error as Error).message).to.include("maxChangesPerCall");
      expect(plan.context.changes).to.have.lengthOf(3);
    });

    it("a flood of log lines and progress neither stops the host nor loses the answer", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const { success } = await plan.execute(TOOL, { do: "flood", count: 20_000 });
      expect(success).to.equal(true);
      const lines = bed.recorder.logs.filter(({ message }) => message.startsWith("line "));
      expect(lines.map(({ message }) => message)).to.deep.equal(lines.map((_line, index) => `line ${index}`));
      expect(bed.recorder.progress.at(-1)?.done).to.equal(19_999);
    });
  });
}
