import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import { ToolRuntime } from "../src/index.js";
import { ToolRuntimeError } from "../src/protocol/errors.js";
import { isAnswer } from "../src/protocol/tool.js";
import { defineTool, toolError, toolResult, type ToolContext } from "../src/tool.js";
import { isToolcellError, rejectionOf, thrownBy } from "./support/outcomes.js";
import { contextOf, runtimesOfSuite } from "./support/runtimes.js";
import { WRONG_VALUES } from "./support/wrong-values.js";

const shout = defineTool({
  name: "acme/shout",
  description: "Shouts.",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ shouted: Type.String() }),
  capability: { writes: false },
  execute: ({ text }) => ({ shouted: text.toUpperCase() }),
});

/** Holds at compile time where both types are the same. */
type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

const holds = <Condition extends true>(condition: Condition): Condition => condition;

describe("tool", () => {
  const newRuntime = runtimesOfSuite();

  it("defineTool() keeps the definition and the module's URL", () => {
    const definition = { name: "acme/tool", description: "A tool.", inputSchema: {}, execute: () => 1 };
    const withUrl = defineTool("file:///srv/tool.js", definition);
    expect(withUrl).to.deep.equal({ ...definition, url: "file:///srv/tool.js" });
    expect(defineTool(new URL("file:///srv/tool.js"), definition).url).to.equal("file:///srv/tool.js");
    expect(defineTool(definition)).to.deep.equal(definition);
    expect(Object.isFrozen(withUrl)).to.equal(true);
  });

  it("defineTool() refuses a definition without execute", () => {
    for (const [label, value] of WRONG_VALUES) {
      for (const run of [
        () => defineTool(value as never),
        () => defineTool("file:///srv/tool.js", value as never),
        () => defineTool({ name: "acme/tool", description: "", inputSchema: {}, execute: value as never }),
      ]) {
        if (typeof value === "function" && run.toString().includes("execute")) continue;
        expect(thrownBy(run), label).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_SPEC");
      }
    }
  });

  it("toolResult() marks an output, with nothing changed and nothing to hand over unless said", () => {
    const output = { a: 1 };
    const bare = toolResult({ output });
    expect(isAnswer(bare)).to.equal(true);
    expect(bare).to.deep.equal({ success: true, output: { a: 1 }, changes: [], transfer: [] });
    expect(bare.output).to.equal(output);
    const buffer = new ArrayBuffer(8);
    const changes = [{ operation: "create", resourceId: "r" }] as const;
    expect(toolResult({ output, changes, transfer: [buffer] })).to.include({ changes });
    expect(toolResult({ output, transfer: [buffer] }).transfer).to.deep.equal([buffer]);
    expect(toolResult({ output: undefined })).to.include({ success: true, output: undefined });
  });

  it("toolError() marks a failure", () => {
    const answer = toolError({ code: "E", message: "m" });
    expect(isAnswer(answer)).to.equal(true);
    expect(answer).to.deep.equal({
      success: false,
      error: { code: "E", message: "m", details: {} },
      changes: [],
      transfer: [],
    });
    expect(toolError({ code: "E", message: "m", details: { a: 1 } }).error?.details).to.deep.equal({ a: 1 });
  });

  it("toolResult() and toolError() refuse what is no answer with a typed error", () => {
    for (const value of [undefined, null]) {
      for (const make of [toolResult, toolError]) {
        const error = thrownBy(() => (make as (answer: unknown) => unknown)(value));
        expect(isToolcellError(error), String(error)).to.equal(true);
      }
    }
  });

  it("an answer that a tool makes wrongly costs its own call only", async () => {
    const runtime = newRuntime();
    const answers: unknown[] = [
      toolError({} as never),
      toolError({ code: 5, message: () => 1 } as never),
      toolResult({ output: 1, changes: [{ operation: "rename" }] } as never),
      toolResult({ output: 1, changes: 5 } as never),
      toolResult({ output: 1, transfer: [5] } as never),
      toolResult({ output: 1, transfer: [new SharedArrayBuffer(8)] } as never),
    ];
    const execute = (index: unknown): unknown => answers[index as number] ?? "fine";
    runtime.register({ name: "acme/tool", description: "", inputSchema: {} }, { execute });
    const context = contextOf("p");
    const calls = answers.map((_answer, index) => runtime.execute("acme/tool", index, context));
    const fine = runtime.execute("acme/tool", -1, context);
    for (const settled of await Promise.allSettled(calls)) {
      if (settled.status === "rejected") expect(isToolcellError(settled.reason), String(settled.reason)).to.equal(true);
      else expect(settled.value.error?.message ?? "").to.be.a("string");
    }
    expect((await fine).output).to.equal("fine");
  });

  it("register(tool) without a URL runs inline, and the descriptor says so", async () => {
    const runtime = newRuntime();
    runtime.register(shout);
    const descriptor = await runtime.discover(shout);
    expect(descriptor.isolation).to.deep.equal({ required: "inline", granted: "inline" });
    expect(descriptor.capability).to.include({ writes: false });
  });

  it("execute(tool) types input and output from the schemas", async () => {
    const runtime = newRuntime();
    runtime.register(shout);
    const context = contextOf("p");
    const result = await runtime.execute(shout, { text: "hey" }, context);
    holds<Same<(typeof result)["output"], { shouted: string } | undefined>>(true);
    const shouted: string | undefined = result.output?.shouted;
    expect(shouted).to.equal("HEY");

    // @ts-expect-error The input breaks the tool's schema.
    const wrong = await runtime.execute(shout, { text: 42 }, context);
    expect(wrong.error?.message).to.match(/^Input validation failed/);

    // @ts-expect-error The output has no such field.
    expect(result.output?.loud).to.equal(undefined);

    const untyped = await runtime.execute("acme/shout", { text: "hey" }, context);
    holds<Same<(typeof untyped)["output"], unknown>>(true);
    expect(untyped.output).to.deep.equal({ shouted: "HEY" });
  });

  it("plan.execute(tool) is typed as execute(tool) is", async () => {
    const runtime = newRuntime();
    runtime.register(shout);
    await using plan = runtime.plan({ planId: "p" });
    const result = await plan.execute(shout, { text: "hey" });
    holds<Same<(typeof result)["output"], { shouted: string } | undefined>>(true);
    expect(result.output).to.deep.equal({ shouted: "HEY" });
    // @ts-expect-error The input breaks the tool's schema.
    expect((await plan.execute(shout, {})).success).to.equal(false);
  });

  it("a tool may answer with toolResult() or toolError() and keeps its types", async () => {
    const runtime = newRuntime();
    const half = defineTool({
      name: "acme/half",
      description: "Halves even numbers.",
      inputSchema: Type.Object({ value: Type.Integer() }),
      outputSchema: Type.Integer(),
      execute: ({ value }, _context: ToolContext) =>
        value % 2 === 0 ? toolResult({ output: value / 2 }) : toolError({ code: "ODD", message: "is odd" }),
    });
    runtime.register(half);
    const context = contextOf("p");
    const even = await runtime.execute(half, { value: 4 }, context);
    holds<Same<(typeof even)["output"], number | undefined>>(true);
    expect(even.output).to.equal(2);
    expect((await runtime.execute(half, { value: 3 }, context)).error).to.include({ code: "ODD" });
  });

  it("wherever a name is taken the tool itself may be given", async () => {
    const runtime = newRuntime();
    runtime.register(shout);
    const context = contextOf("p");
    await runtime.activate(shout, context);
    expect(runtime.cacheStats("p").activeTools).to.equal(1);
    await runtime.deactivate(shout, "p");
    expect(runtime.cacheStats("p").activeTools).to.equal(0);
    const other = new ToolRuntime({ spareCells: 0 });
    expect(await rejectionOf(other.execute(shout, { text: "hey" }, context))).to.have.property(
      "code",
      "NOT_REGISTERED",
    );
    await other.close();
  });
});
