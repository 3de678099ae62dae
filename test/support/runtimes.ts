/** Runtimes and tools for tests: inline, without a cell, closed after each test. */
import { expect } from "chai";
import sinon from "sinon";
import {
  ToolExecutionContext,
  ToolRuntime,
  type ToolActivationContext,
  type ToolCapability,
  type ToolContext,
  type ToolExecutionContextOptions,
  type ToolExecutionTrace,
  type ToolRuntimeOptions,
  type ToolSpec,
} from "../../src/index.js";
import { CallMarks, isoTime, phasesOf } from "../../src/protocol/trace.js";

/** Makes runtimes in the suite that asks; each is closed after its test. */
export function runtimesOfSuite(): (options?: ToolRuntimeOptions) => ToolRuntime {
  let open: ToolRuntime[] = [];
  afterEach(async () => {
    const closing = open;
    open = [];
    const reports = await Promise.all(closing.map((runtime) => runtime.close({ graceMs: 0 })));
    expect(reports.map(({ quarantined }) => quarantined)).to.deep.equal(reports.map(() => 0));
  });
  return (options = {}) => {
    const runtime = new ToolRuntime({ spareCells: 0, graceMs: 20, ...options });
    open.push(runtime);
    return runtime;
  };
}

/** A specification that takes any input. */
export function specOf(name: string, rest: Partial<ToolSpec> = {}): ToolSpec {
  return { name, description: `${name} for tests`, inputSchema: {}, ...rest };
}

/** A context. */
export function contextOf(planId: string, rest: Partial<ToolExecutionContextOptions> = {}): ToolExecutionContext {
  return new ToolExecutionContext({ planId, ...rest });
}

/** What a mock instance does in place of succeeding. */
export interface MockBehaviour {
  activate?: (context: ToolActivationContext) => unknown;
  execute?: (input: unknown, context: ToolContext) => unknown;
  deactivate?: (context: ToolActivationContext) => unknown;
}

/** An instance of a tool whose stages are spies. */
export interface MockInstance {
  activate: sinon.SinonSpy<[ToolActivationContext], Promise<void>>;
  execute: sinon.SinonSpy<[unknown, ToolContext], unknown>;
  deactivate: sinon.SinonSpy<[ToolActivationContext], Promise<void>>;
}

/** Makes an instance whose stages are spies. */
export function mockInstance(behaviour: MockBehaviour = {}): MockInstance {
  return {
    activate: sinon.spy(async (context: ToolActivationContext): Promise<void> => {
      await behaviour.activate?.(context);
    }),
    execute: sinon.spy((input: unknown, context: ToolContext): unknown =>
      behaviour.execute ? behaviour.execute(input, context) : "output",
    ),
    deactivate: sinon.spy(async (context: ToolActivationContext): Promise<void> => {
      await behaviour.deactivate?.(context);
    }),
  };
}

/** Registers a mock instance, which writes nothing unless told otherwise. */
export function registerMock(
  runtime: ToolRuntime,
  name: string,
  behaviour: MockBehaviour = {},
  capability: ToolCapability = { writes: false },
  rest: Partial<ToolSpec> = {},
): MockInstance {
  const instance = mockInstance(behaviour);
  runtime.register(specOf(name, { source: "builtin", ...rest }), { instance, capability });
  return instance;
}

/** The trace of a call that was over at once. */
export function traceOfTool(toolName: string, success = true): ToolExecutionTrace {
  const now = performance.now();
  const marks = new CallMarks(now);
  marks.settled = now;
  return Object.freeze({
    toolName,
    planId: "plan",
    callId: "call",
    startedAt: isoTime(now),
    endedAt: isoTime(now),
    durationMs: 0,
    phases: phasesOf(marks, now),
    resultSizeBytes: 0,
    success,
    outcome: success ? "ok" : "tool_error",
    attempt: 1,
  });
}
