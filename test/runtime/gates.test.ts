import { expect } from "chai";
import {
  ToolAccessDeniedError,
  ToolCheckpointRequiredError,
  ToolHumanApprovalRequiredError,
  ToolSafetyViolationError,
  ToolSandboxRequiredError,
} from "../../src/protocol/errors.js";
import { ISOLATION_TIERS, type IsolationTier, type ToolCapability, type ToolSpec } from "../../src/protocol/tool.js";
import type { CellTier } from "../../src/runtime/cell.js";
import type { ToolExecutionContext } from "../../src/runtime/execution-context.js";
import { passGates, requiredTier, tierFor, type Tiers } from "../../src/runtime/gates.js";
import { SafetyRules, type SafetyProfile } from "../../src/runtime/safety-profile.js";
import { ToolRegistry, type Registration } from "../../src/runtime/tool-registry.js";
import { thrownBy } from "../support/outcomes.js";
import { contextOf, mockInstance, specOf } from "../support/runtimes.js";

const tier = (name: IsolationTier, kind: "module" | "object" | "both" = "both"): CellTier => ({
  tier: name,
  bounded: false,
  quarantined: 0,
  ready: { spare: 0, warm: 0 },
  hostHeapFlag: undefined,
  accepts: (source) => kind === "both" || source.kind === kind,
  start: () => Promise.reject(new Error("a gate starts nothing")),
  describe: () => Promise.reject(new Error("a gate describes nothing")),
  expect: () => undefined,
  forget: () => undefined,
  enforcement: () => [],
  close: () => Promise.resolve(),
});

/** A tier whose cells cannot write where nothing is granted. */
const holding = (name: IsolationTier): CellTier => ({
  ...tier(name),
  enforcement: () => [{ subject: "fs.write", granted: "nothing", enforcedBy: "a test", holds: true }],
});

const registered = (
  capability: ToolCapability,
  kind: "module" | "object" = "object",
  given: Partial<ToolSpec> = {},
): Registration => {
  const registry = new ToolRegistry();
  const spec = specOf("acme/tool", given);
  if (kind === "object") registry.register(spec, { instance: mockInstance(), capability });
  else registry.register(spec, { module: "./tool.js", capability });
  const registration = registry.registration("acme/tool");
  if (!registration) throw new Error("not registered");
  return registration;
};

const ALL = ISOLATION_TIERS.map((name) => tier(name));
const plain = contextOf("plan");
const pass = (
  tool: Registration,
  context: ToolExecutionContext,
  tiers: Tiers,
  safetyProfile?: SafetyProfile,
): CellTier =>
  passGates(tool, context, {
    tiers,
    safety: safetyProfile && new SafetyRules(safetyProfile, "INVALID_OPTIONS"),
    approvals: undefined,
  });

describe("runtime/gates", () => {
  it("passGates() gives the weakest tier that is strong enough", () => {
    expect(pass(registered({}), plain, ALL).tier).to.equal("inline");
    for (const isolation of ISOLATION_TIERS) {
      expect(pass(registered({ isolation }), plain, ALL).tier).to.equal(isolation);
    }
    const [strong, weak] = [tier("container"), tier("thread")];
    expect(pass(registered({ isolation: "thread" }), plain, [strong, weak])).to.equal(weak);
    expect(pass(registered({ isolation: "quickjs" }), plain, [weak, strong])).to.equal(strong);
  });

  it("passGates() keeps a tool that writes out of a read-only plan", () => {
    const readOnly = contextOf("plan", { readOnly: true });
    const error = thrownBy(() => pass(registered({}), readOnly, ALL)) as ToolAccessDeniedError;
    expect(error).to.be.instanceOf(ToolAccessDeniedError);
    expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan" });
    expect(error.message).to.include("acme/tool").and.include("plan");
    expect(pass(registered({ writes: false }), readOnly, ALL).tier).to.equal("inline");
  });

  it("passGates() keeps a tool without a checkpoint out of a plan that requires one", () => {
    const context = contextOf("plan", { requireCheckpoints: true });
    const error = thrownBy(() => pass(registered({ checkpointable: false }), context, ALL));
    expect(error).to.be.instanceOf(ToolCheckpointRequiredError);
    expect(pass(registered({}), context, ALL).tier).to.equal("inline");
  });

  it("passGates() lets a tool run in nothing weaker than it needs", () => {
    const tool = registered({ isolation: "process" });
    const error = thrownBy(() => pass(tool, plain, [tier("inline"), tier("thread")])) as ToolSandboxRequiredError;
    expect(error).to.be.instanceOf(ToolSandboxRequiredError);
    expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan", required: "process" });
    expect(error.message).to.include('"inline", "thread"');
    expect((thrownBy(() => pass(tool, plain, [])) as Error).message).to.include("nothing");
  });

  it("passGates() lets nothing run that a human has to approve", () => {
    const error = thrownBy(() => pass(registered({ requiresApproval: true }), plain, ALL));
    expect(error).to.be.instanceOf(ToolHumanApprovalRequiredError).with.property("code", "APPROVAL_REQUIRED");
  });

  it("passGates() keeps out what a safety profile forbids, the runtime's or the plan's", () => {
    const profile: SafetyProfile = { name: "strict", deny: ["acme/*"] };
    const context = contextOf("plan", { safetyProfile: profile });
    for (const run of [() => pass(registered({}), plain, ALL, profile), () => pass(registered({}), context, ALL)]) {
      const error = thrownBy(run) as ToolSafetyViolationError;
      expect(error).to.be.instanceOf(ToolSafetyViolationError).with.property("code", "SAFETY_VIOLATION");
      expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan", safetyProfile: "strict" });
      expect(error.message).to.include('"acme/*" is denied');
    }
    expect(pass(registered({}), plain, ALL, { deny: ["acme/tools", "acm/*"] }).tier).to.equal("inline");
  });

  it("passGates() gives the tier of whichever profile is stricter", () => {
    const context = contextOf("plan", { safetyProfile: { isolation: { custom: "process" } } });
    expect(pass(registered({}), plain, ALL, { isolation: { trusted: "quickjs" } }).tier).to.equal("quickjs");
    expect(pass(registered({}), context, ALL, { isolation: { trusted: "quickjs" } }).tier).to.equal("process");
    expect(pass(registered({ isolation: "container" }), context, ALL).tier).to.equal("container");
    const error = thrownBy(() => pass(registered({}), context, [tier("thread")])) as ToolSandboxRequiredError;
    expect(error.details).to.include({ required: "process" });
  });

  it("passGates() lets nothing run that a profile wants approved", () => {
    const error = thrownBy(() => pass(registered({}), plain, ALL, { approve: ["acme/tool"] }));
    expect(error).to.be.instanceOf(ToolHumanApprovalRequiredError);
  });

  it("passGates() believes an untrusted source's word that it does not write only where a profile or the cell does", () => {
    const readOnly = contextOf("plan", { readOnly: true });
    const claiming = registered({}, "object", { source: "mcp", readOnly: true });
    const error = thrownBy(() => pass(claiming, readOnly, [tier("inline")]));
    expect(error).to.be.instanceOf(ToolAccessDeniedError).with.property("message").that.includes("only its own word");
    expect(pass(claiming, plain, [tier("inline")]).tier, "in a plan that may write").to.equal("inline");
    expect(pass(claiming, readOnly, [holding("inline")]).tier, "where the cell cannot write").to.equal("inline");
    const trusting: SafetyProfile = { trustReadOnly: ["mcp"] };
    expect(pass(claiming, readOnly, [tier("inline")], trusting).tier).to.equal("inline");
    const vouched = registered({ writes: false }, "object", { source: "mcp" });
    expect(pass(vouched, readOnly, [tier("inline")]).tier, "by the registration's word").to.equal("inline");
    expect(pass(registered({}, "object", { readOnly: true }), readOnly, [tier("inline")]).tier, "trusted").to.equal(
      "inline",
    );
  });

  it("passGates() asks in order: access, checkpoint, safety, sandbox, approval", () => {
    const context = contextOf("plan", { readOnly: true, requireCheckpoints: true });
    const hostile: ToolCapability = {
      writes: true,
      checkpointable: false,
      isolation: "container",
      requiresApproval: true,
    };
    const thrown = (capability: ToolCapability, tiers = [tier("inline")], profile?: SafetyProfile) =>
      (thrownBy(() => pass(registered(capability), context, tiers, profile)) as Error).name;
    expect(thrown(hostile)).to.equal("ToolAccessDeniedError");
    expect(thrown({ ...hostile, writes: false })).to.equal("ToolCheckpointRequiredError");
    const rest = { ...hostile, writes: false, checkpointable: true };
    expect(thrown(rest, [tier("inline")], { deny: ["acme/tool"] })).to.equal("ToolSafetyViolationError");
    expect(thrown(rest)).to.equal("ToolSandboxRequiredError");
    expect(thrown(rest, ALL)).to.equal("ToolHumanApprovalRequiredError");
  });

  it("tierFor() never puts a module into the host's thread", () => {
    const tool = registered({ isolation: "inline" }, "module");
    expect(requiredTier(tool)).to.equal("thread");
    expect(tierFor(tool, [tier("inline")])).to.equal(undefined);
    expect(tierFor(tool, ALL)?.tier).to.equal("thread");
    expect(tierFor(registered({ isolation: "container" }, "module"), ALL)?.tier).to.equal("container");
  });

  it("tierFor() passes over a tier that cannot run the tool", () => {
    const tiers = [tier("inline", "module"), tier("thread", "module"), tier("process", "object")];
    expect(tierFor(registered({}), tiers)?.tier).to.equal("process");
    expect(tierFor(registered({}, "module"), tiers)?.tier).to.equal("thread");
  });
});
