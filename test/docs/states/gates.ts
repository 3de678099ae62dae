/** Ends in the state `gates`. */
import {
  ToolRuntime,
  type ToolCapability,
  type ToolExecutionContextOptions,
  type ToolRuntimeOptions,
} from "../../../src/index.js";
import { contextOf, registerMock } from "../../support/runtimes.js";
import { ending, type Ending } from "./ending.js";
import { Stage, SUBJECT } from "./stage.js";

/** Another tool of another plan is served. */
function otherIsServed(stage: Stage): void {
  registerMock(stage.runtime, "acme/next");
  stage.next = () => stage.runtime.execute("acme/next", {}, contextOf("next"));
}

const refused = (
  code: string,
  capability: ToolCapability,
  plan: Partial<ToolExecutionContextOptions> = {},
  options: ToolRuntimeOptions = {},
): Ending =>
  ending("denied", code, async () => {
    const stage = new Stage(options);
    stage.inline({}, capability);
    stage.context = contextOf("plan", plan);
    stage.call();
    otherIsServed(stage);
    return stage;
  });

const invalid = (code: string, input: unknown, options: ToolRuntimeOptions = {}): Ending =>
  ending("invalid_input", code, async () => {
    const stage = new Stage(options);
    stage.inline({}, {}, { inputSchema: { type: "object", required: ["code"] } });
    stage.call(input);
    return stage;
  });

/** A call while a plan of another call is as it is. */
const beside = (code: string, make: (stage: Stage, go: () => Promise<unknown>) => void): Ending =>
  ending("denied", code, async () => {
    const stage = new Stage();
    stage.inline();
    const go = await stage.holder("plan", "taken");
    make(stage, go);
    await stage.end;
    await go();
    otherIsServed(stage);
    return stage;
  });

export const GATES: readonly Ending[] = [
  invalid("SCHEMA_VALIDATION_FAILED", {}),
  invalid("INPUT_NOT_CLONEABLE", { code: () => undefined }),
  invalid("INPUT_TOO_LARGE", { code: [[[[]]]] }, { maxPayloadDepth: 3 }),
  ending("not_registered", "NOT_REGISTERED", async () => {
    const stage = new Stage();
    stage.call();
    await stage.end;
    stage.inline();
    return stage;
  }),
  refused("ACCESS_DENIED", { writes: true }, { readOnly: true }),
  refused("CHECKPOINT_REQUIRED", { checkpointable: false }, { requireCheckpoints: true }),
  refused("SAFETY_VIOLATION", {}, {}, { safetyProfile: { deny: [SUBJECT] } }),
  refused("SANDBOX_REQUIRED", { isolation: "thread" }),
  refused("APPROVAL_REQUIRED", { requiresApproval: true }),
  beside("PLAN_CONFLICT", (stage) => {
    stage.context = contextOf("plan", { readOnly: true });
    stage.call();
  }),
  beside("PLAN_CLOSING", (stage) => {
    stage.clear.push(() => closing);
    const closing = stage.runtime.deactivatePlan("plan", { drain: true });
    stage.context = contextOf("plan");
    stage.call();
  }),
  beside("CALL_ID_IN_USE", (stage) => {
    stage.context = contextOf("plan");
    stage.call({}, { callId: "taken" });
  }),
  ending("denied", "RUNTIME_CLOSED", async () => {
    const stage = new Stage();
    stage.inline();
    await stage.runtime.close();
    stage.call();
    stage.next = async () => {
      await using other = new ToolRuntime();
      registerMock(other, "acme/next");
      return await other.execute("acme/next", {}, contextOf("next"));
    };
    return stage;
  }),
  ending("overloaded", "OVERLOADED", async () => {
    const stage = new Stage({ maxPlans: 1 });
    stage.inline();
    stage.clear.push(await stage.holder());
    stage.call();
    return stage;
  }),
  ending("cancelled", "CANCELLED", async () => {
    const stage = new Stage();
    stage.inline();
    stage.call({}, { signal: AbortSignal.abort() });
    return stage;
  }),
  ending("cancelled", "COST_LIMIT_EXCEEDED", async () => {
    const stage = new Stage();
    stage.inline();
    stage.nest(({ call, reportCost }) => {
      reportCost(2);
      return call(SUBJECT, {});
    });
    return stage;
  }),
  ending("timed_out", "TIMED_OUT", async () => {
    const stage = new Stage();
    stage.inline();
    stage.nest(
      ({ call }) => {
        stage.clock.tick(1_000);
        return call(SUBJECT, {});
      },
      { timeoutMs: 1_000 },
    );
    return stage;
  }),
];
