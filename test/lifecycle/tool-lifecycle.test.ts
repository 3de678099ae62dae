/** The lifecycle of tools, scenario by scenario. */
import { expect } from "chai";
import {
  CancellationToken,
  createBoundResource,
  createChange,
  toolError,
  ToolAccessDeniedError,
  ToolActivationError,
  ToolCancelledError,
  ToolCheckpointRequiredError,
  ToolExecutionContext,
  ToolExecutionError,
  ToolLifecycleCache,
  toolResult,
  ToolRuntimeError,
  ToolSchemaValidationError,
  validateToolInput,
  validateToolOutput,
  type ToolExecutionTrace,
} from "../../src/index.js";
import { rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, mockInstance, registerMock, runtimesOfSuite, specOf, traceOfTool } from "../support/runtimes.js";

const SCENARIOS = {
  ToolExecutionContext: [
    "Create a tool execution context with defaults",
    "Create a read-only execution context",
    "Create a checkpoint-required execution context",
    "Record changes in execution context",
    "Add traces to execution context",
    "Get resource from context by slot name",
    "Get resource from context with missing slot raises KeyError",
    "Context summary includes correct counts",
  ],
  BoundResource: ["Create a BoundResource with all fields"],
  CancellationToken: [
    "Cancellation token starts not cancelled",
    "Cancel sets the cancellation flag",
    "Check raises ToolCancelledError when cancelled",
  ],
  "Change tracking": ["Create a change with all operations", "Change has automatic timestamp"],
  ToolDescriptor: ["Create a tool descriptor"],
  ToolResult: ["Create a successful tool result", "Create a failed tool result"],
  "JSON Schema validation": [
    "Validate tool input against valid schema",
    "Validate tool input against invalid data",
    "Validate tool output against valid schema",
    "Validate tool output against invalid data",
    "Schema validation error contains error details",
  ],
  ToolLifecycleCache: [
    "Cache starts empty",
    "Put and get an instance from cache",
    "Get returns None for uncached tool",
    "Increment execution count",
    "Get plan tools lists activated tools",
    "Remove a single tool from cache",
    "Remove plan clears all tools",
  ],
  ToolRuntime: [
    "Register and list tools",
    "Unregister a tool",
    "Get a registered tool",
    "Get an unregistered tool returns None",
    "Discover returns a ToolDescriptor",
    "Activate a tool for a plan",
    "Activate is idempotent for same plan",
    "Execute a tool successfully",
    "Execute a tool with input schema validation failure",
    "Read-only plan rejects tool with writes",
    "Checkpoint-required plan rejects non-checkpointable tool",
    "Execute records changes from tool result",
    "Execute with cancelled token raises ToolCancelledError",
    "Deactivate a single tool",
    "Deactivate plan clears all activated tools",
    "Execute unregistered tool raises ToolRuntimeError",
    "Cache stats after execution",
    "Output schema validation failure returns error result",
    "Execution trace captures duration",
    "ToolExecutionTrace fields",
    "Read-only plan allows read-only tools",
    "Activation failure raises ToolActivationError",
    "Execution failure raises ToolExecutionError",
    "Deactivation failure is non-fatal warning",
    "Plan deactivation handles failing tools gracefully",
    "Cache plan_count property tracks plans",
    "Discover unregistered tool raises ToolRuntimeError",
    "Execution with result error records trace error field",
  ],
} as const;

type Section = keyof typeof SCENARIOS;

const implemented = new Map<Section, string[]>();

function section<Name extends Section>(
  name: Name,
  body: (scenario: (title: (typeof SCENARIOS)[Name][number], steps: () => void | Promise<void>) => void) => void,
): void {
  const titles: string[] = [];
  implemented.set(name, titles);
  describe(name, () => {
    body((title, steps) => {
      titles.push(title);
      it(title, steps);
    });
  });
}

const objectWith = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

const lastTraceOf = ({ traces }: ToolExecutionContext): ToolExecutionTrace => {
  const last = traces.at(-1);
  if (!last) throw new Error("the context has no trace");
  return last;
};

describe("Tool lifecycle runtime", () => {
  const newRuntime = runtimesOfSuite();

  section("ToolExecutionContext", (scenario) => {
    scenario("Create a tool execution context with defaults", () => {
      const context = new ToolExecutionContext({ planId: "plan-001" });
      expect(context.planId).to.equal("plan-001");
      expect(context.readOnly).to.equal(false);
      expect(context.requireCheckpoints).to.equal(false);
      expect(context.changes).to.have.length(0);
      expect(context.traces).to.have.length(0);
      expect(context.cancellationToken.isCancelled).to.equal(false);
    });

    scenario("Create a read-only execution context", () => {
      const context = new ToolExecutionContext({ planId: "plan-002", readOnly: true });
      expect(context.readOnly).to.equal(true);
    });

    scenario("Create a checkpoint-required execution context", () => {
      const context = new ToolExecutionContext({ planId: "plan-003", requireCheckpoints: true });
      expect(context.requireCheckpoints).to.equal(true);
    });

    scenario("Record changes in execution context", () => {
      const context = contextOf("plan-004");
      context.recordChange({ operation: "create", resourceId: "res-001" });
      expect(context.changes).to.have.length(1);
    });

    scenario("Add traces to execution context", () => {
      const context = contextOf("plan-005");
      context.addTrace(traceOfTool("test/tool"));
      expect(context.traces).to.have.length(1);
    });

    scenario("Get resource from context by slot name", () => {
      const context = contextOf("plan-006");
      context.bindResource({ slotName: "repo", resourceId: "res-001", resourceType: "git-checkout" });
      expect(context.getResource("repo").resourceId).to.equal("res-001");
    });

    scenario("Get resource from context with missing slot raises KeyError", () => {
      const context = contextOf("plan-007");
      const error = thrownBy(() => context.getResource("missing"));
      expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "RESOURCE_NOT_BOUND");
      expect(error).to.have.property("message").that.includes("missing");
    });

    scenario("Context summary includes correct counts", () => {
      const context = contextOf("plan-008");
      context.bindResource({ slotName: "repo", resourceId: "res-001", resourceType: "git-checkout" });
      context.recordChange({ operation: "modify", resourceId: "res-001" });
      context.addTrace(traceOfTool("test/tool"));
      const { resourceCount, changeCount, traceCount } = context.summary();
      expect(resourceCount).to.equal(1);
      expect(changeCount).to.equal(1);
      expect(traceCount).to.equal(1);
    });
  });

  section("BoundResource", (scenario) => {
    scenario("Create a BoundResource with all fields", () => {
      const bound = createBoundResource({ slotName: "db", resourceId: "res-db-001", resourceType: "postgresql" });
      expect(bound.slotName).to.equal("db");
      expect(bound.access).to.equal("read_only");
    });
  });

  section("CancellationToken", (scenario) => {
    scenario("Cancellation token starts not cancelled", () => {
      expect(new CancellationToken().isCancelled).to.equal(false);
    });

    scenario("Cancel sets the cancellation flag", () => {
      const token = new CancellationToken();
      token.cancel();
      expect(token.isCancelled).to.equal(true);
    });

    scenario("Check raises ToolCancelledError when cancelled", () => {
      const token = new CancellationToken();
      token.cancel();
      expect(thrownBy(() => token.check())).to.be.instanceOf(ToolCancelledError);
    });
  });

  section("Change tracking", (scenario) => {
    scenario("Create a change with all operations", () => {
      const change = createChange({ operation: "create", resourceId: "res-001" });
      expect(change.operation).to.equal("create");
      expect(change.resourceId).to.equal("res-001");
    });

    scenario("Change has automatic timestamp", () => {
      const { timestamp } = createChange({ operation: "delete", resourceId: "res-002" });
      expect(new Date(timestamp).toISOString()).to.equal(timestamp);
    });
  });

  section("ToolDescriptor", (scenario) => {
    scenario("Create a tool descriptor", async () => {
      const runtime = newRuntime();
      const spec = specOf("builtin/read-file", { description: "Read a file", source: "builtin" });
      runtime.register(spec, { instance: mockInstance() });
      const descriptor = await runtime.discover("builtin/read-file");
      expect(descriptor.name).to.equal("builtin/read-file");
      expect(descriptor.description).to.equal("Read a file");
      expect(descriptor.source).to.equal("builtin");
    });
  });

  section("ToolResult", (scenario) => {
    scenario("Create a successful tool result", () => {
      const result = toolResult({ output: "hello" });
      expect(result.success).to.equal(true);
      expect(result.output).to.equal("hello");
    });

    scenario("Create a failed tool result", () => {
      const result = toolError({ code: "BROKEN", message: "something broke" });
      expect(result.success).to.equal(false);
      expect(result.error?.message).to.equal("something broke");
    });
  });

  section("JSON Schema validation", (scenario) => {
    const inputSpec = { name: "test/input", inputSchema: objectWith("path") };
    const outputSpec = { name: "test/output", outputSchema: objectWith("content") };

    scenario("Validate tool input against valid schema", () => {
      expect(() => validateToolInput(inputSpec, { path: "test.txt" })).not.to.throw();
    });

    scenario("Validate tool input against invalid data", () => {
      const error = thrownBy(() => validateToolInput(inputSpec, { path: 42 }));
      expect(error).to.be.instanceOf(ToolSchemaValidationError);
    });

    scenario("Validate tool output against valid schema", () => {
      expect(() => validateToolOutput(outputSpec, { content: "file data" })).not.to.throw();
    });

    scenario("Validate tool output against invalid data", () => {
      const error = thrownBy(() => validateToolOutput(outputSpec, { content: 123 }));
      expect(error).to.be.instanceOf(ToolSchemaValidationError);
    });

    scenario("Schema validation error contains error details", () => {
      const error = thrownBy(() => validateToolInput(inputSpec, { path: 42 })) as ToolSchemaValidationError;
      expect(error.errors).to.be.an("array").with.length(1);
      expect(error.errors[0]).to.include({ instancePath: "/path", keyword: "type" });
      expect(error.schema).to.deep.equal(inputSpec.inputSchema);
    });
  });

  section("ToolLifecycleCache", (scenario) => {
    scenario("Cache starts empty", () => {
      expect(new ToolLifecycleCache().planCount).to.equal(0);
    });

    scenario("Put and get an instance from cache", () => {
      const cache = new ToolLifecycleCache();
      const instance = mockInstance();
      cache.put("plan-001", "builtin/read", instance);
      expect(cache.get("plan-001", "builtin/read")).to.equal(instance);
    });

    scenario("Get returns None for uncached tool", () => {
      expect(new ToolLifecycleCache().get("plan-001", "builtin/missing")).to.equal(undefined);
    });

    scenario("Increment execution count", () => {
      const cache = new ToolLifecycleCache();
      cache.put("plan-001", "builtin/read", mockInstance());
      cache.incrementExecution("plan-001", "builtin/read");
      expect(cache.stats("plan-001").tools["builtin/read"]?.executionCount).to.equal(1);
    });

    scenario("Get plan tools lists activated tools", () => {
      const cache = new ToolLifecycleCache();
      cache.put("plan-001", "builtin/read", mockInstance());
      cache.put("plan-001", "builtin/write", mockInstance());
      expect(cache.planTools("plan-001")).to.include("builtin/read");
      expect(cache.planTools("plan-001")).to.include("builtin/write");
    });

    scenario("Remove a single tool from cache", () => {
      const cache = new ToolLifecycleCache();
      cache.put("plan-001", "builtin/read", mockInstance());
      cache.remove("plan-001", "builtin/read");
      expect(cache.get("plan-001", "builtin/read")).to.equal(undefined);
    });

    scenario("Remove plan clears all tools", () => {
      const cache = new ToolLifecycleCache();
      cache.put("plan-001", "builtin/read", mockInstance());
      cache.put("plan-001", "builtin/write", mockInstance());
      cache.removePlan("plan-001");
      expect(cache.planCount).to.equal(0);
    });
  });

  section("ToolRuntime", (scenario) => {
    scenario("Register and list tools", () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      expect(runtime.list().map(({ name }) => name)).to.include("builtin/read-file");
    });

    scenario("Unregister a tool", () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      runtime.unregister("builtin/read-file");
      expect(runtime.list().map(({ name }) => name)).not.to.include("builtin/read-file");
    });

    scenario("Get a registered tool", () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      expect(runtime.get("builtin/read-file")).to.include({ name: "builtin/read-file", source: "builtin" });
    });

    scenario("Get an unregistered tool returns None", () => {
      expect(newRuntime().get("builtin/missing")).to.equal(undefined);
    });

    scenario("Discover returns a ToolDescriptor", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      const descriptor = await runtime.discover("builtin/read-file");
      expect(descriptor.name).to.equal("builtin/read-file");
    });

    scenario("Activate a tool for a plan", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file");
      await runtime.activate("builtin/read-file", contextOf("plan-010"));
      expect(mock.activate.called).to.equal(true);
    });

    scenario("Activate is idempotent for same plan", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file");
      const context = contextOf("plan-011");
      await runtime.activate("builtin/read-file", context);
      await runtime.activate("builtin/read-file", context);
      expect(mock.activate.callCount).to.equal(1);
    });

    scenario("Execute a tool successfully", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file");
      const context = contextOf("plan-012");
      const result = await runtime.execute("builtin/read-file", { path: "test.txt" }, context);
      expect(result.success).to.equal(true);
      expect(mock.execute.firstCall.args[0]).to.deep.equal({ path: "test.txt" });
      expect(context.traces).to.have.length(1);
    });

    scenario("Execute a tool with input schema validation failure", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/typed-tool", {}, {}, { inputSchema: objectWith("path") });
      const result = await runtime.execute("builtin/typed-tool", { path: 42 }, contextOf("plan-013"));
      expect(result.success).to.equal(false);
      expect(result.error?.message).to.include("Input validation failed");
      expect(mock.execute.called).to.equal(false);
    });

    scenario("Read-only plan rejects tool with writes", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/write-file", {}, { writes: true });
      const context = contextOf("plan-014", { readOnly: true });
      const error = await rejectionOf(runtime.execute("builtin/write-file", {}, context));
      expect(error).to.be.instanceOf(ToolAccessDeniedError);
      expect(mock.execute.called).to.equal(false);
    });

    scenario("Checkpoint-required plan rejects non-checkpointable tool", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file", {}, { writes: false, checkpointable: false });
      const context = contextOf("plan-015", { requireCheckpoints: true });
      const error = await rejectionOf(runtime.activate("builtin/read-file", context));
      expect(error).to.be.instanceOf(ToolCheckpointRequiredError);
      expect(mock.activate.called).to.equal(false);
    });

    scenario("Execute records changes from tool result", async () => {
      const runtime = newRuntime();
      const changes = [{ operation: "modify", resourceId: "res-001", path: "test.txt" }] as const;
      const execute = () => toolResult({ output: "edited", changes });
      registerMock(runtime, "builtin/edit-file", { execute }, { writes: true });
      const context = contextOf("plan-016");
      await runtime.execute("builtin/edit-file", { path: "test.txt" }, context);
      expect(context.changes).to.have.length(1);
    });

    scenario("Execute with cancelled token raises ToolCancelledError", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file");
      const context = contextOf("plan-017");
      context.cancellationToken.cancel();
      const error = await rejectionOf(runtime.execute("builtin/read-file", {}, context));
      expect(error).to.be.instanceOf(ToolCancelledError);
      expect(mock.execute.called).to.equal(false);
    });

    scenario("Deactivate a single tool", async () => {
      const runtime = newRuntime();
      const mock = registerMock(runtime, "builtin/read-file");
      await runtime.activate("builtin/read-file", contextOf("plan-018"));
      await runtime.deactivate("builtin/read-file", "plan-018");
      expect(mock.deactivate.callCount).to.equal(1);
    });

    scenario("Deactivate plan clears all activated tools", async () => {
      const runtime = newRuntime();
      const mocks = [registerMock(runtime, "builtin/read-file"), registerMock(runtime, "builtin/list-files")];
      const context = contextOf("plan-019");
      await runtime.activate("builtin/read-file", context);
      await runtime.activate("builtin/list-files", context);
      await runtime.deactivatePlan("plan-019");
      expect(mocks.map(({ deactivate }) => deactivate.callCount)).to.deep.equal([1, 1]);
    });

    scenario("Execute unregistered tool raises ToolRuntimeError", async () => {
      const error = await rejectionOf(newRuntime().execute("builtin/ghost", {}, contextOf("plan-020")));
      expect(error).to.be.instanceOf(ToolRuntimeError);
      expect(error).to.have.property("message").that.includes("not registered");
    });

    scenario("Cache stats after execution", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      await runtime.execute("builtin/read-file", { path: "test.txt" }, contextOf("plan-021"));
      expect(runtime.cacheStats("plan-021").activeTools).to.equal(1);
    });

    scenario("Output schema validation failure returns error result", async () => {
      const runtime = newRuntime();
      const execute = () => ({ content: 123 });
      const rest = { outputSchema: objectWith("content") };
      registerMock(runtime, "builtin/validated-output", { execute }, {}, rest);
      const result = await runtime.execute("builtin/validated-output", { path: "test.txt" }, contextOf("plan-022"));
      expect(result.success).to.equal(false);
      expect(result.error?.message).to.include("Output validation failed");
    });

    scenario("Execution trace captures duration", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      const context = contextOf("plan-023");
      await runtime.execute("builtin/read-file", { path: "test.txt" }, context);
      expect(lastTraceOf(context).durationMs).to.be.at.least(0);
    });

    scenario("ToolExecutionTrace fields", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read");
      const { trace } = await runtime.execute("builtin/read", {}, contextOf("plan-trace"));
      expect(trace.toolName).to.equal("builtin/read");
      expect(new Date(trace.startedAt).toISOString()).to.equal(trace.startedAt);
    });

    scenario("Read-only plan allows read-only tools", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/search");
      const context = contextOf("plan-024", { readOnly: true });
      const result = await runtime.execute("builtin/search", { path: "*.py" }, context);
      expect(result.success).to.equal(true);
    });

    scenario("Activation failure raises ToolActivationError", async () => {
      const runtime = newRuntime();
      const activate = () => {
        throw new Error("cannot start");
      };
      registerMock(runtime, "builtin/broken", { activate });
      const error = await rejectionOf(runtime.activate("builtin/broken", contextOf("plan-025")));
      expect(error).to.be.instanceOf(ToolActivationError);
    });

    scenario("Execution failure raises ToolExecutionError", async () => {
      const runtime = newRuntime();
      const execute = () => {
        throw new Error("boom");
      };
      registerMock(runtime, "builtin/crashing", { execute });
      const context = contextOf("plan-026");
      const error = await rejectionOf(runtime.execute("builtin/crashing", {}, context));
      expect(error).to.be.instanceOf(ToolExecutionError);
      expect(context.traces).to.have.length(1);
      expect(lastTraceOf(context).success).to.equal(false);
    });

    const stickyBehaviour = {
      deactivate: () => {
        throw new Error("cannot stop");
      },
    };

    scenario("Deactivation failure is non-fatal warning", async () => {
      const runtime = newRuntime();
      const warnings: string[] = [];
      runtime.on("warning", ({ code }) => warnings.push(code));
      const mock = registerMock(runtime, "builtin/sticky", stickyBehaviour);
      await runtime.activate("builtin/sticky", contextOf("plan-027"));
      await runtime.deactivate("builtin/sticky", "plan-027");
      expect(mock.deactivate.callCount).to.equal(1);
      expect(warnings).to.deep.equal(["DEACTIVATION_FAILED"]);
    });

    scenario("Plan deactivation handles failing tools gracefully", async () => {
      const runtime = newRuntime();
      const warnings: string[] = [];
      runtime.on("warning", ({ code }) => warnings.push(code));
      const mock = registerMock(runtime, "builtin/sticky", stickyBehaviour);
      await runtime.activate("builtin/sticky", contextOf("plan-028"));
      await runtime.deactivatePlan("plan-028");
      expect(mock.deactivate.callCount).to.equal(1);
      expect(warnings).to.deep.equal(["DEACTIVATION_FAILED"]);
    });

    scenario("Cache plan_count property tracks plans", async () => {
      const runtime = newRuntime();
      registerMock(runtime, "builtin/read-file");
      await runtime.activate("builtin/read-file", contextOf("plan-029"));
      expect(runtime.cache.planCount).to.equal(1);
    });

    scenario("Discover unregistered tool raises ToolRuntimeError", async () => {
      const error = await rejectionOf(newRuntime().discover("builtin/ghost"));
      expect(error).to.be.instanceOf(ToolRuntimeError);
      expect(error).to.have.property("message").that.includes("No implementation registered");
    });

    scenario("Execution with result error records trace error field", async () => {
      const runtime = newRuntime();
      const execute = () => toolError({ code: "NO_FILE", message: "there is no such file" });
      registerMock(runtime, "builtin/err-tool", { execute });
      const context = contextOf("plan-030");
      await runtime.execute("builtin/err-tool", { path: "test.txt" }, context);
      expect(lastTraceOf(context).error).to.equal("there is no such file");
    });
  });

  it("has each of the 57 scenarios, in its section and in order", () => {
    expect(Object.fromEntries(implemented)).to.deep.equal(SCENARIOS);
    expect(Object.values(SCENARIOS).flat()).to.have.length(57);
  });
});
