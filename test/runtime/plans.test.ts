import { expect } from "chai";
import sinon from "sinon";
import type { Activation } from "../../src/runtime/activation.js";
import { ToolLifecycleCache } from "../../src/runtime/lifecycle-cache.js";
import type { PlanState } from "../../src/runtime/plan-state.js";
import { Plans, type PlansOptions } from "../../src/runtime/plans.js";
import { ToolCall } from "../../src/runtime/tool-call.js";
import { afterReadyWork, codeOf, deferred, thrownBy } from "../support/outcomes.js";
import { contextOf } from "../support/runtimes.js";

interface FakeActivation {
  readonly planId: string;
  readonly toolName: string;
  inUse: boolean;
  readonly close: sinon.SinonSpy<[], Promise<void>>;
}

const activationOf = (
  planId: string,
  toolName: string,
  closing: Promise<void> = Promise.resolve(),
): FakeActivation => ({
  planId,
  toolName,
  inUse: false,
  close: sinon.spy(() => closing),
});

const real = (activation: FakeActivation): Activation => activation as unknown as Activation;

const callIn = (plan: PlanState, callId: string, toolName = "acme/tool"): ToolCall => {
  const call = new ToolCall({ callId, context: plan.context, toolName, input: {}, tokens: [] });
  plan.add(call);
  return call;
};

describe("runtime/plans", () => {
  let clock: sinon.SinonFakeTimers;
  let cache: ToolLifecycleCache<Activation>;

  const newPlans = (options: Partial<PlansOptions> = {}): Plans => {
    cache = new ToolLifecycleCache<Activation>();
    return new Plans(
      { planIdleMs: 1_000, maxActivations: 100, maxActivationsPerPlan: 100, maxPlans: 100, ...options },
      cache,
    );
  };

  const activate = (plans: Plans, plan: PlanState, toolName: string, closing?: Promise<void>): FakeActivation => {
    const activation = activationOf(plan.planId, toolName, closing);
    plans.add(plan, real(activation));
    cache.put(plan.planId, toolName, real(activation));
    return activation;
  };

  const end = (plans: Plans, plan: PlanState, call: ToolCall): void => {
    call.release();
    plans.left(plan, call);
  };

  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance", "Date"] });
  });

  afterEach(() => {
    clock.restore();
  });

  it("open() gives the same plan to whoever uses its id with the same grant", () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    expect(plans.open(contextOf("p"))).to.equal(plan);
    expect(plans.get("p")).to.equal(plan);
    expect(plans.get("q")).to.equal(undefined);
    expect(plans.ids()).to.deep.equal(["p"]);
    plans.close();
  });

  it("open() never takes an id for a property of Object.prototype", () => {
    const plans = newPlans();
    for (const id of ["__proto__", "constructor", "toString"]) {
      expect(plans.get(id)).to.equal(undefined);
      expect(plans.open(contextOf(id)).planId).to.equal(id);
    }
    plans.close();
  });

  it("open() refuses another grant under the id of a plan that is in use", () => {
    const boundResources = [
      { slotName: "a", resourceId: "1", resourceType: "folder", path: "/srv/a" },
      { slotName: "b", resourceId: "2", resourceType: "folder" },
    ];
    const plans = newPlans();
    plans.open(contextOf("p", { boundResources }));
    const others = [
      contextOf("p"),
      contextOf("p", { boundResources, readOnly: true }),
      contextOf("p", { boundResources, requireCheckpoints: true }),
      contextOf("p", { boundResources: boundResources.slice(1) }),
      ...(["resourceId", "resourceType", "path"] as const).map((field) =>
        contextOf("p", { boundResources: [{ ...boundResources[0]!, [field]: "/other" }, boundResources[1]!] }),
      ),
      contextOf("p", { boundResources: [{ ...boundResources[0]!, access: "read_write" }, boundResources[1]!] }),
    ];
    for (const other of others) expect(codeOf(thrownBy(() => plans.open(other)))).to.equal("PLAN_CONFLICT");
    plans.open(contextOf("p", { boundResources: [...boundResources].reverse(), sessionId: "s", actorName: "a" }));
    plans.close();
  });

  it("left() forgets a plan that has nothing to keep", () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    const [one, other] = [callIn(plan, "1"), callIn(plan, "2")];
    end(plans, plan, one);
    expect(plans.get("p")).to.equal(plan);
    end(plans, plan, other);
    expect(plans.get("p")).to.equal(undefined);
    plans.open(contextOf("p", { readOnly: true }));
    plans.close();
  });

  it("left() keeps a plan in which a tool is activated", () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    activate(plans, plan, "acme/tool");
    end(plans, plan, callIn(plan, "1"));
    expect(plans.get("p")).to.equal(plan);
    plans.close();
  });

  it("plansOf() names the plans in which a tool is activated", () => {
    const plans = newPlans();
    activate(plans, plans.open(contextOf("p")), "acme/a");
    activate(plans, plans.open(contextOf("q")), "acme/a");
    activate(plans, plans.open(contextOf("r")), "acme/b");
    expect(plans.plansOf("acme/a")).to.deep.equal(["p", "q"]);
    expect(plans.plansOf("acme/c")).to.deep.equal([]);
    plans.close();
  });

  it("evict() forgets an activation once, and never another under its name", () => {
    const plans = newPlans({ maxActivations: 1 });
    const plan = plans.open(contextOf("p"));
    const first = activate(plans, plan, "acme/a");
    plans.evict(real(first));
    plans.evict(real(first));
    const second = activate(plans, plan, "acme/a");
    plans.evict(real(first));
    expect(plan.activations.get("acme/a")).to.equal(second);
    expect(cache.get("p", "acme/a")).to.equal(second);
    plans.close();
  });

  it("deactivatePlan() ends the calls, then the tools, then forgets the plan", async () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    const call = callIn(plan, "1");
    const activation = activate(plans, plan, "acme/a");
    let over = false;
    const ending = plans.deactivatePlan("p", false).then(() => (over = true));
    expect(call.interruption).to.include({ reason: "plan_deactivated" });
    await afterReadyWork();
    expect(activation.close.called).to.equal(false);
    expect(over).to.equal(false);
    end(plans, plan, call);
    await ending;
    expect(activation.close.callCount).to.equal(1);
    expect(cache.planCount).to.equal(0);
    expect(plans.ids()).to.deep.equal([]);
  });

  it("deactivatePlan() lets calls finish where it drains, until somebody asks again", async () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    const call = callIn(plan, "1");
    activate(plans, plan, "acme/a");
    const draining = plans.deactivatePlan("p", true);
    expect(call.interruption).to.equal(undefined);
    const again = plans.deactivatePlan("p", false);
    expect(call.interruption).to.include({ reason: "plan_deactivated" });
    end(plans, plan, call);
    await Promise.all([draining, again]);
    expect(plans.ids()).to.deep.equal([]);
  });

  it("deactivatePlan() refuses the plan to others until it has ended", async () => {
    const plans = newPlans();
    const context = contextOf("p");
    const gate = deferred();
    activate(plans, plans.open(context), "acme/a", gate.promise);
    const ending = plans.deactivatePlan("p", false);
    expect(codeOf(thrownBy(() => plans.open(context)))).to.equal("PLAN_CLOSING");
    await afterReadyWork();
    expect(codeOf(thrownBy(() => plans.open(context)))).to.equal("PLAN_CLOSING");
    gate.resolve();
    await ending;
    plans.open(contextOf("p", { readOnly: true }));
    plans.close();
  });

  it("deactivatePlan() of an unknown plan does nothing", async () => {
    const plans = newPlans();
    await plans.deactivatePlan("nobody", false);
    await plans.deactivate("nobody", "acme/a", false);
    expect(plans.ids()).to.deep.equal([]);
  });

  it("deactivate() ends the calls of one tool and leaves the others alone", async () => {
    const plans = newPlans();
    const plan = plans.open(contextOf("p"));
    const [mine, other] = [callIn(plan, "1", "acme/a"), callIn(plan, "2", "acme/b")];
    const [first, second] = [activate(plans, plan, "acme/a"), activate(plans, plan, "acme/b")];
    [mine.activation, other.activation] = [real(first), real(second)];
    const ending = plans.deactivate("p", "acme/a", false);
    expect(mine.interruption).to.include({ reason: "plan_deactivated" });
    expect(other.interruption).to.equal(undefined);
    end(plans, plan, mine);
    await ending;
    expect([first.close.callCount, second.close.callCount]).to.deep.equal([1, 0]);
    expect(cache.planTools("p")).to.deep.equal(["acme/b"]);
    plans.close();
  });

  it("add() deactivates the tools of the plan that was idle longest, and never one in use", async () => {
    const plans = newPlans({ maxActivations: 3, planIdleMs: 0 });
    const made = new Map<string, FakeActivation>();
    for (const planId of ["p", "q", "r"]) {
      clock.tick(10);
      made.set(planId, activate(plans, plans.open(contextOf(planId)), "acme/a"));
    }
    made.get("p")!.inUse = true;
    const activation = activate(plans, plans.open(contextOf("s")), "acme/a");
    await afterReadyWork();
    expect([...made].map(([planId, { close }]) => [planId, close.callCount])).to.deep.equal([
      ["p", 0],
      ["q", 1],
      ["r", 0],
    ]);
    expect(plans.ids()).to.deep.equal(["p", "r", "s"]);
    expect(activation.close.called).to.equal(false);
  });

  it("add() refuses one more where all that are activated are in use", () => {
    const plans = newPlans({ maxActivations: 2 });
    for (const planId of ["p", "q"]) activate(plans, plans.open(contextOf(planId)), "acme/a").inUse = true;
    const plan = plans.open(contextOf("r"));
    callIn(plan, "1");
    expect(codeOf(thrownBy(() => plans.add(plan, real(activationOf("r", "acme/a")))))).to.equal("OVERLOADED");
    expect(plan.activations.size).to.equal(0);
    plans.close();
  });

  it("deactivates a plan that was abandoned, and only such a one", async () => {
    const plans = newPlans({ planIdleMs: 1_000 });
    const idle = activate(plans, plans.open(contextOf("idle")), "acme/a");
    const used = activate(plans, plans.open(contextOf("used")), "acme/a");
    used.inUse = true;
    const called = plans.open(contextOf("called"));
    const call = callIn(called, "1");
    const kept = activate(plans, called, "acme/a");
    clock.tick(999);
    await afterReadyWork();
    expect(idle.close.called).to.equal(false);
    clock.tick(1_000);
    await afterReadyWork();
    expect([idle.close.callCount, used.close.callCount, kept.close.callCount]).to.deep.equal([1, 0, 0]);
    expect(plans.ids()).to.deep.equal(["used", "called"]);
    end(plans, called, call);
    clock.tick(2_000);
    await afterReadyWork();
    expect(kept.close.callCount).to.equal(1);
    plans.close();
  });

  it("never looks for abandoned plans where it is told not to", async () => {
    const plans = newPlans({ planIdleMs: 0 });
    const activation = activate(plans, plans.open(contextOf("p")), "acme/a");
    expect(clock.countTimers()).to.equal(0);
    clock.tick(10_000_000);
    await afterReadyWork();
    expect(activation.close.called).to.equal(false);
  });

  it("keeps no timer once no plan is in use, and one however many are", async () => {
    const plans = newPlans();
    for (const planId of ["p", "q", "r"]) activate(plans, plans.open(contextOf(planId)), "acme/a");
    expect(clock.countTimers()).to.equal(1);
    for (const planId of ["p", "q", "r"]) await plans.deactivatePlan(planId, false);
    expect(clock.countTimers()).to.equal(0);
    plans.open(contextOf("p"));
    expect(clock.countTimers()).to.equal(1);
    plans.close();
    expect(clock.countTimers()).to.equal(0);
  });

  it("open() refuses one more plan than are allowed, unless one of them is idle", () => {
    const plans = newPlans({ maxPlans: 2 });
    const [one] = [plans.open(contextOf("one")), plans.open(contextOf("two"))];
    const busy = activate(plans, one, "acme/tool");
    busy.inUse = true;
    const other = activate(plans, plans.open(contextOf("two")), "acme/tool");
    other.inUse = true;
    expect(plans.open(contextOf("one")), "one that is in use").to.equal(one);
    const error = thrownBy(() => plans.open(contextOf("three")));
    expect(error).to.have.property("code", "OVERLOADED");
    expect((error as Error).message)
      .to.include("three")
      .and.include("maxPlans");
    other.inUse = false;
    plans.open(contextOf("three"));
    expect(plans.ids()).to.deep.equal(["one", "three"]);
  });

  it("add() refuses one more tool in a plan than are allowed", () => {
    const plans = newPlans({ maxActivationsPerPlan: 1 });
    activate(plans, plans.open(contextOf("plan")), "acme/one");
    const error = thrownBy(() => activate(plans, plans.open(contextOf("plan")), "acme/two"));
    expect(error).to.have.property("code", "OVERLOADED");
    expect((error as Error).message)
      .to.include("acme/two")
      .and.include("maxActivationsPerPlan");
    activate(plans, plans.open(contextOf("other")), "acme/two");
  });
});
