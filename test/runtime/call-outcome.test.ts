import { expect } from "chai";
import { encodeError } from "../../src/protocol/error-codec.js";
import {
  ERROR_CLASSES,
  ToolCancelledError,
  ToolExecutionError,
  ToolRuntimeError,
  type ErrorCode,
} from "../../src/protocol/errors.js";
import type { CellAnswer } from "../../src/protocol/messages.js";
import { OUTCOMES } from "../../src/protocol/trace.js";
import { answerOf, interruptedError, outcomeOfError } from "../../src/runtime/call-outcome.js";
import type { CellEnd } from "../../src/runtime/cell.js";
import { ToolCall } from "../../src/runtime/tool-call.js";
import { thrownBy } from "../support/outcomes.js";
import { contextOf } from "../support/runtimes.js";

const key = { slot: 1, generation: 1 };
const output: CellAnswer = { ...key, kind: "output", output: "done", size: 4 };
const CANCELS = ["cancelled", "plan_deactivated", "runtime_closed"] as const;

const newCall = (): ToolCall =>
  new ToolCall({ callId: "call-1", context: contextOf("plan-1"), toolName: "acme/tool", input: {}, tokens: [] });

const threw = (error: unknown): CellAnswer => ({ ...key, kind: "threw", error: encodeError(error) });

const errorOf = (call: ToolCall, end: Parameters<typeof answerOf>[1]) =>
  thrownBy(() => answerOf(call, end)) as ToolExecutionError;

const cellEnded = (call: ToolCall, end: CellEnd, killedBy?: string) =>
  errorOf(call, { kind: "cell_ended", end, ...(killedBy !== undefined && { killedBy }) });

describe("runtime/call-outcome", () => {
  it("answerOf() gives the answer that came", () => {
    expect(answerOf(newCall(), { kind: "answer", answer: output })).to.equal(output);
    const failure: CellAnswer = { ...key, kind: "tool_error", error: { code: "E", message: "m", details: {} } };
    expect(answerOf(newCall(), { kind: "answer", answer: failure })).to.equal(failure);
  });

  it("answerOf() passes on why a call never reached a cell", () => {
    const error = new ToolRuntimeError("m", { code: "OVERLOADED" });
    expect(errorOf(newCall(), { kind: "failed", error })).to.equal(error);
  });

  it("answerOf() makes what the tool threw the cause of a ToolExecutionError", () => {
    const error = errorOf(newCall(), { kind: "answer", answer: threw(new TypeError("broken")) });
    expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code: "EXECUTION_FAILED", outcome: "threw" });
    expect(error.cause).to.be.instanceOf(TypeError).with.property("message", "broken");
    expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan-1", callId: "call-1" });
    for (const part of ["acme/tool", "plan-1", "call-1", "TypeError: broken"]) expect(error.message).to.include(part);
  });

  it("answerOf() keeps the code of an output that cannot leave", () => {
    for (const code of ["RESULT_TOO_LARGE", "RESULT_NOT_CLONEABLE"] as const) {
      const error = errorOf(newCall(), { kind: "answer", answer: threw(new ToolExecutionError("m", { code })) });
      expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code });
    }
  });

  it("answerOf() lets a tool choose no code of ours", () => {
    const own = Object.assign(new Error("m"), { code: "RESULT_TOO_LARGE" });
    expect(errorOf(newCall(), { kind: "answer", answer: threw(own) })).to.include({ code: "EXECUTION_FAILED" });
  });

  it("answerOf() calls an error that escaped a crash", () => {
    const call = newCall();
    call.escaped = true;
    const error = errorOf(call, { kind: "answer", answer: threw(new Error("loose")) });
    expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
  });

  for (const reason of CANCELS) {
    it(`answerOf() says of a call that was stopped that it was ${reason}`, () => {
      for (const end of ["interrupted", "skipped", "threw", "output"] as const) {
        const call = newCall();
        call.interrupt(reason, "why");
        const error = errorOf(
          call,
          end === "interrupted"
            ? { kind: "interrupted" }
            : {
                kind: "answer",
                answer:
                  end === "skipped" ? { ...key, kind: "skipped" } : end === "threw" ? threw(new Error("stop")) : output,
              },
        );
        expect(error, end)
          .to.be.instanceOf(ToolCancelledError)
          .and.include({ code: "CANCELLED", outcome: "cancelled" });
        expect(error.details, end).to.include({ reason, tool: "acme/tool", planId: "plan-1", callId: "call-1" });
        expect(error.details["completed"], end).to.equal(end === "output" ? true : undefined);
        if (end === "threw") expect(error.cause).to.have.property("message", "stop");
        else expect(error.cause, end).to.equal("why");
      }
    });
  }

  it("answerOf() says of a call that passed its deadline that it timed out", () => {
    const call = newCall();
    call.interrupt("deadline", undefined);
    const error = errorOf(call, { kind: "interrupted" });
    expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code: "TIMED_OUT", outcome: "timed_out" });
  });

  it("answerOf() lets stand what was over before it was told to stop", () => {
    const call = newCall();
    call.marks.finished = performance.now();
    call.interrupt("cancelled", undefined);
    expect(answerOf(call, { kind: "answer", answer: output })).to.equal(output);
    const error = errorOf(call, { kind: "answer", answer: threw(new Error("broken")) });
    expect(error).to.include({ code: "EXECUTION_FAILED", outcome: "threw" });
  });

  const ENDS: readonly (readonly [CellEnd["kind"], ErrorCode, string])[] = [
    ["released", "CELL_KILLED", "killed"],
    ["killed", "CELL_KILLED", "killed"],
    ["crashed", "CELL_CRASHED", "crashed"],
    ["out_of_memory", "OUT_OF_MEMORY", "out_of_memory"],
    ["quarantined", "CELL_KILLED", "unsettled"],
    ["abandoned", "CELL_KILLED", "unsettled"],
  ];

  for (const [kind, code, outcome] of ENDS) {
    it(`answerOf() tells of a cell that was ${kind} under its call`, () => {
      const cause = new Error("the reason");
      const error = cellEnded(newCall(), { kind, error: cause, exitCode: 7 });
      expect(error).to.be.instanceOf(ToolExecutionError).and.include({ code, outcome, cause });
      expect(error.message).to.include("acme/tool").and.include("the reason");
      expect(error.details).to.include({ exitCode: 7 });
    });

    it(`answerOf() tells of a cell that was ${kind} while its call was told to stop`, () => {
      for (const reason of CANCELS) {
        const call = newCall();
        call.interrupt(reason, undefined);
        const error = cellEnded(call, { kind });
        expect(error).to.be.instanceOf(ToolCancelledError).and.include({ code: "CANCELLED", outcome });
      }
      const late = newCall();
      late.interrupt("deadline", undefined);
      expect(cellEnded(late, { kind }))
        .to.be.instanceOf(ToolExecutionError)
        .and.include({ code: "TIMED_OUT", outcome });
    });
  }

  it("answerOf() names the neighbour for whose sake a cell was killed", () => {
    const error = cellEnded(newCall(), { kind: "killed" }, "call-2");
    expect(error).to.include({ code: "CELL_KILLED", outcome: "killed" });
    expect(error.details).to.include({ killedBy: "call-2" });
    expect(error.message).to.include("call-2");
  });

  it("interruptedError() takes a call that nobody stopped for cancelled", () => {
    expect(interruptedError(newCall(), undefined)).to.be.instanceOf(ToolCancelledError);
  });

  it("outcomeOfError() has an outcome for every error", () => {
    const expected: Readonly<Record<string, string>> = {
      ToolActivationError: "activation_failed",
      ToolExecutionError: "threw",
      ToolCancelledError: "cancelled",
      ToolSchemaValidationError: "threw",
    };
    for (const [name, Constructor] of Object.entries(ERROR_CLASSES)) {
      const outcome = outcomeOfError(new Constructor("m"));
      expect(OUTCOMES).to.include(outcome);
      expect(outcome, name).to.equal(expected[name] ?? "denied");
    }
    for (const outcome of OUTCOMES) {
      expect(outcomeOfError(new ToolExecutionError("m", { outcome }))).to.equal(outcome);
      expect(outcomeOfError(new ToolCancelledError("m", { outcome }))).to.equal(outcome);
    }
    expect(outcomeOfError(new ToolRuntimeError("m", { code: "NOT_REGISTERED" }))).to.equal("not_registered");
    expect(outcomeOfError(new ToolRuntimeError("m", { code: "OVERLOADED" }))).to.equal("overloaded");
    expect(outcomeOfError(new ToolRuntimeError("m", { code: "CELLS_EXHAUSTED" }))).to.equal("overloaded");
    for (const foreign of [new Error("m"), "text", undefined, null, 5])
      expect(outcomeOfError(foreign)).to.equal("threw");
  });
});
