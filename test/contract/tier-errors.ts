/** Errors arrive as they were thrown. */
import { expect } from "chai";
import { ToolCancelledError, ToolExecutionError, ToolRuntimeError } from "../../src/index.js";
import { onlyTrace, type Bed } from "./tier-bed.js";
import { rejection, type Loose } from "./recorder.js";

export function describeErrors(bed: Bed): void {
  /** What the caller gets where the tool throws something of this kind. */
  const thrown = async (what: string, later = false): Promise<Loose> => {
    if (!bed.runtime.get("fixture/errors")) await bed.tools("errors");
    return rejection(bed.plan().execute("fixture/errors", { what, later }));
  };

  describe("errors", () => {
    for (const later of [false, true]) {
      it(`a tool that ${later ? "rejects" : "throws"} is a ToolExecutionError with the tool's error as its cause`, async () => {
        await bed.tools("errors");
        const plan = bed.plan();
        const error = await rejection(plan.execute("fixture/errors", { what: "typeError", later }));
        expect(error).to.be.instanceOf(ToolExecutionError).and.instanceOf(ToolRuntimeError);
        expect(error).to.include({ code: "EXECUTION_FAILED", outcome: "threw" });
        expect(error.message).to.contain("fixture/errors").and.contain(plan.planId).and.contain("a type");
        expect(error.details).to.include({ tool: "fixture/errors", planId: plan.planId });
        expect(error.cause).to.be.instanceOf(TypeError).with.property("message", "a type");
        expect(error.cause.stack).to.contain("errors.js");
        expect(error.cause.cause).to.be.instanceOf(RangeError).with.property("message", "a range");
        expect(onlyTrace(plan)).to.include({ outcome: "threw", success: false, error: error.message });
      });
    }

    it("name, code and own fields cross; a field that cannot costs that field only", async () => {
      const { cause } = await thrown("custom");
      expect(cause).to.be.instanceOf(Error);
      expect(cause).to.include({ name: "CustomError", message: "custom", code: "E_CUSTOM", status: 418 });
      expect(cause.nested).to.deep.equal({ list: [1, 2] });
      expect(cause).not.to.have.any.keys("handler", "shared");
      expect(String(cause)).to.equal("CustomError: custom");
    });

    it("a system error keeps its code", async () => {
      const { cause } = await thrown("systemError");
      expect(cause).to.include({ code: "ENOENT", errno: -2, syscall: "open" });
    });

    it("an AggregateError keeps its members", async () => {
      const { cause } = await thrown("aggregate");
      expect(cause).to.be.instanceOf(AggregateError).with.property("message", "several");
      expect(cause.errors).to.have.length(3);
      expect(cause.errors[0]).to.be.instanceOf(TypeError);
      expect(cause.errors[2]).to.include({ code: "E_CUSTOM" });
    });

    it("an AggregateError that holds itself is cut short", async () => {
      const { cause } = await thrown("crowd");
      const count = (error: Error): number =>
        error instanceof AggregateError
          ? error.errors.reduce((sum: number, member: Error) => sum + count(member), 1)
          : 1;
      expect(count(cause)).to.be.below(1_000);
    });

    it("what is thrown and is no Error arrives as `thrown` of an Error", async () => {
      expect((await thrown("text")).cause).to.include({ message: "just a text", thrown: "just a text" });
      expect((await thrown("number")).cause).to.include({ thrown: 42 });
      expect((await thrown("null")).cause)
        .to.be.instanceOf(Error)
        .with.property("thrown", null);
      expect((await thrown("object")).cause.thrown).to.deep.equal({ status: 404, list: [1] });
    });

    for (const what of ["undefined", "symbol", "function", "getters", "proxy"]) {
      it(`a tool that throws ${what} is still a ToolExecutionError with an Error as its cause`, async () => {
        const error = await thrown(what);
        expect(error).to.be.instanceOf(ToolExecutionError).with.property("outcome", "threw");
        expect(error.cause).to.be.instanceOf(Error).with.property("message").that.is.a("string");
      });
    }

    it("a DOMException keeps its name and message", async () => {
      expect((await thrown("domException")).cause).to.include({ name: "AbortError", message: "aborted" });
    });

    it("an error made to look like a cancel is no cancel", async () => {
      const error = await thrown("cancelled");
      expect(error).to.be.instanceOf(ToolExecutionError).with.property("outcome", "threw");
      expect(error.cause).to.be.instanceOf(ToolCancelledError);
    });

    it("chains of causes are bounded, circles end", async () => {
      let length = 0;
      for (let error = (await thrown("chain")).cause; error; error = error.cause) length++;
      expect(length).to.be.within(2, 20);
      expect((await thrown("circle")).cause.cause.message).to.equal("second");
    });

    it("long messages, many fields and huge ones are bounded", async () => {
      expect((await thrown("longMessage")).cause.message.length).to.be.below(100_000);
      expect(Object.keys((await thrown("manyFields")).cause).length).to.be.within(1, 100);
      const { cause } = await thrown("hugeField");
      expect(cause.message).to.equal("huge field");
      expect(String(cause.payload).length).to.be.below(100_000);
      expect((await thrown("deepField")).cause.message).to.equal("deep field");
    });

    it("odd names and codes do no harm, and nothing reaches a prototype", async () => {
      const odd = await thrown("oddName");
      expect(odd.cause.message).to.equal("odd name");
      expect(odd.cause.name).to.be.a("string");
      const { cause } = await thrown("hasOwnProto");
      expect(cause).to.be.instanceOf(Error);
      expect(cause.polluted).to.equal(undefined);
      expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
    });

    it("a throw costs its own call only", async () => {
      await bed.tools("errors");
      const plan = bed.plan();
      await rejection(plan.execute("fixture/errors", { what: "typeError" }));
      const { success } = await plan.execute("fixture/errors", { what: "nothing of the kind" });
      expect(success).to.equal(true);
      expect(bed.runtime.cacheStats(plan.planId).tools["fixture/errors"]).to.include({ activationCount: 1 });
    });
  });
}
