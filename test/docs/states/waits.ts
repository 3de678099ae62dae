/** Ends in the states in which a call waits for something outside of cells: `approval`, `admission`, `activation`. */
import { MemoryApprovals, type Checkpoint } from "../../../src/index.js";
import { afterReadyWork, deferred, type Deferred } from "../../support/outcomes.js";
import { registerMock } from "../../support/runtimes.js";
import { ending, stopped, type Ending } from "./ending.js";
import { Stage, SUBJECT, type Stop } from "./stage.js";

/** A call whose request for approval waits. */
function asking(): { readonly stage: Stage; readonly approvals: MemoryApprovals } {
  const approvals = new MemoryApprovals();
  const stage = new Stage({ approvals });
  stage.inline({}, { requiresApproval: true });
  stage.clear.push(() => {
    const { next } = stage;
    stage.next = async () => {
      const served = next();
      for (const { approvalId } of approvals.pending()) approvals.decide(approvalId, { approved: true });
      return served;
    };
  });
  return { stage, approvals };
}

export const APPROVAL: readonly Ending[] = [
  ending("denied", "APPROVAL_REQUIRED", async () => {
    const { stage, approvals } = asking();
    stage.call();
    stage.shows("approval");
    for (const { approvalId } of approvals.pending()) approvals.decide(approvalId, { approved: false });
    return stage;
  }),
  ending("denied", "COST_LIMIT_EXCEEDED", async () => {
    const stage = new Stage();
    stage.inline({}, { cost: 2 });
    const { context } = stage;
    stage.context = stage.contextOf("poor", { budget: { cost: 1 } });
    stage.call();
    stage.next = () => stage.runtime.execute(SUBJECT, { code: "return 1" }, context);
    return stage;
  }),
  // The deadline stands still here.
  ...stopped(
    async (stop) => {
      const { stage } = asking();
      stage.begin(stop);
      await afterReadyWork();
      stage.shows("approval");
      stage.stop();
      return stage;
    },
    ["CANCELLED", "COST_LIMIT_EXCEEDED"],
  ),
];

export const ADMISSION: readonly Ending[] = [
  ending("denied", "CHECKPOINT_REQUIRED", async () => {
    const asked = deferred<Checkpoint>();
    const take = (): Promise<Checkpoint> => asked.promise;
    const stage = new Stage({
      checkpoints: { take, restore: () => Promise.resolve(), list: () => Promise.resolve([]) },
    });
    stage.inline({}, { writes: true });
    const { context } = stage;
    stage.context = stage.contextOf("saved", { requireCheckpoints: true });
    stage.call();
    await afterReadyWork();
    stage.shows("admission");
    asked.reject(new Error("the disk is full"));
    stage.next = () => stage.runtime.execute(SUBJECT, { code: "return 1" }, context);
    return stage;
  }),
  ending("overloaded", "OVERLOADED", async () => {
    const stage = new Stage({ maxActiveCalls: 1, maxQueuedCalls: 0 });
    stage.inline();
    stage.clear.push(await stage.holder());
    stage.call();
    return stage;
  }),
  ...stopped(
    async (stop) => {
      const stage = new Stage({ maxActiveCalls: 1 });
      stage.inline();
      stage.clear.push(await stage.holder());
      stage.begin(stop);
      stage.shows("admission");
      stage.stop();
      return stage;
    },
    ["CANCELLED", "TIMED_OUT"],
  ),
  // A nested call does not wait here; what its plan's time runs out for is any other.
  ending("cancelled", "COST_LIMIT_EXCEEDED", async () => {
    const stage = new Stage({ maxActiveCalls: 1 }, true);
    stage.inline();
    stage.clear.push(await stage.holder());
    const { context } = stage;
    stage.context = stage.contextOf("poor", { budget: { wallMs: 1_000 } });
    stage.call();
    stage.shows("admission");
    stage.clock.tick(1_000);
    stage.next = () => stage.runtime.execute(SUBJECT, { code: "return 1" }, context);
    return stage;
  }),
];

/** A tool whose first activation ends when it is let, or fails. */
function activating(): { readonly stage: Stage; readonly first: Deferred<void> } {
  const stage = new Stage();
  const first = deferred();
  let activations = 0;
  stage.inline({ activate: () => (activations++ === 0 ? first.promise : undefined) });
  stage.clear.push(() => first.resolve());
  return { stage, first };
}

const inActivation = async (stop: Stop): Promise<Stage> => {
  const { stage } = activating();
  stage.begin(stop);
  await afterReadyWork();
  stage.shows("activation");
  stage.stop();
  return stage;
};

export const ACTIVATION: readonly Ending[] = [
  ending("activation_failed", "ACTIVATION_FAILED", async () => {
    const { stage, first } = activating();
    stage.call();
    stage.shows("activation");
    first.reject(new Error("cannot be made ready"));
    return stage;
  }),
  ending("activation_failed", "ACTIVATION_TIMED_OUT", async () => {
    const { stage } = activating();
    stage.call();
    stage.shows("activation");
    stage.clock.tick(30_000);
    return stage;
  }),
  ending("overloaded", "OVERLOADED", async () => {
    const stage = new Stage({ maxActivationsPerPlan: 1 });
    stage.inline();
    registerMock(stage.runtime, "acme/idle");
    await stage.runtime.activate("acme/idle", stage.context);
    stage.call();
    stage.clear.push(() => stage.runtime.deactivatePlan("plan"));
    return stage;
  }),
  ending("overloaded", "CELLS_EXHAUSTED", async () => {
    const stage = new Stage({ maxCallsPerCell: 1 });
    const held = deferred();
    stage.inline({ execute: () => held.promise });
    stage.clear.push(() => held.resolve());
    const { ended } = await stage.neighbour({});
    stage.clear.push(() => ended);
    stage.nest(({ call }) => call(SUBJECT, {}));
    return stage;
  }),
  ...stopped(inActivation),
];
