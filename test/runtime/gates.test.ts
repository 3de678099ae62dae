import { expect } from "chai";
import {
  ToolAccessDeniedError,
  ToolCheckpointRequiredError,
  ToolHumanApprovalRequiredError,
  ToolSandboxRequiredError,
} from "../../src/protocol/errors.js";
import { ISOLATION_TIERS, type IsolationTier, type ToolCapability } from "../../src/protocol/tool.js";
import type { CellTier } from "../../src/runtime/cell.js";
import { passGates, requiredTier, tierFor } from "../../src/runtime/gates.js";
import { ToolRegistry, type Registration } from "../../src/runtime/tool-registry.js";
import { thrownBy } from "../support/outcomes.js";
import { contextOf, mockInstance, specOf } from "../support/runtimes.js";

const tier = (name: IsolationTier, kind: "module" | "object" | "both" = "both"): CellTier => ({
  tier: name,
  bounded: false,
  quarantined: 0,
  accepts: (source) => kind === "both" || source.kind === kind,
  start: () => Promise.reject(new Error("a gate starts nothing")),
  describe: () => Promise.reject(new Error("a gate describes nothing")),
  expect: () => undefined,
  forget: () => undefined,
  enforcement: () => [],
  close: () => Promise.resolve(),
});

const registered = (capability: ToolCapability, kind: "module" | "object" = "object"): Registration => {
  const registry = new ToolRegistry();
  const spec = specOf("acme/tool");
  if (kind === "object") registry.register(spec, { instance: mockInstance(), capability });
  else registry.register(spec, { module: "./tool.js", capability });
  const registration = registry.registration("acme/tool");
  if (!registration) throw new Error("not registered");
  return registration;
};

const ALL = ISOLATION_TIERS.map((name) => tier(name));
const plain = contextOf("plan");

describe("runtime/gates", () => {
  it("passGates() gives the weakest tier that is strong enough", () => {
    expect(passGates(registered({}), plain, ALL).tier).to.equal("inline");
    for (const isolation of ISOLATION_TIERS) {
      expect(passGates(registered({ isolation }), plain, ALL).tier).to.equal(isolation);
    }
    const [strong, weak] = [tier("container"), tier("thread")];
    expect(passGates(registered({ isolation: "thread" }), plain, [strong, weak])).to.equal(weak);
    expect(passGates(registered({ isolation: "quickjs" }), plain, [weak, strong])).to.equal(strong);
  });

  it("passGates() keeps a tool that writes out of a read-only plan", () => {
    const readOnly = contextOf("plan", { readOnly: true });
    const error = thrownBy(() => passGates(registered({}), readOnly, ALL)) as ToolAccessDeniedError;
    expect(error).to.be.instanceOf(ToolAccessDeniedError);
    expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan" });
    expect(error.message).to.include("acme/tool").and.include("plan");
    expect(passGates(registered({ writes: false }), readOnly, ALL).tier).to.equal("inline");
  });

  it("passGates() keeps a tool without a checkpoint out of a plan that requires one", () => {
    const context = contextOf("plan", { requireCheckpoints: true });
    const error = thrownBy(() => passGates(registered({ checkpointable: false }), context, ALL));
    expect(error).to.be.instanceOf(ToolCheckpointRequiredError);
    expect(passGates(registered({}), context, ALL).tier).to.equal("inline");
  });

  it("passGates() lets a tool run in nothing weaker than it needs", () => {
    const tool = registered({ isolation: "process" });
    const error = thrownBy(() => passGates(tool, plain, [tier("inline"), tier("thread")])) as ToolSandboxRequiredError;
    expect(error).to.be.instanceOf(ToolSandboxRequiredError);
    expect(error.details).to.deep.equal({ tool: "acme/tool", planId: "plan", required: "process" });
    expect(error.message).to.include('"inline", "thread"');
    expect((thrownBy(() => passGates(tool, plain, [])) as Error).message).to.include("nothing");
  });

  it("passGates() lets nothing run that a human has to approve", () => {
    const error = thrownBy(() => passGates(registered({ requiresApproval: true }), plain, ALL));
    expect(error).to.be.instanceOf(ToolHumanApprovalRequiredError).with.property("code", "APPROVAL_REQUIRED");
  });

  it("passGates() asks in order: access, checkpoint, sandbox, approval", () => {
    const context = contextOf("plan", { readOnly: true, requireCheckpoints: true });
    const hostile: ToolCapability = {
      writes: true,
      checkpointable: false,
      isolation: "container",
      requiresApproval: true,
    };
    const thrown = (capability: ToolCapability, tiers = [tier("inline")]) =>
      (thrownBy(() => passGates(registered(capability), context, tiers)) as Error).name;
    expect(thrown(hostile)).to.equal("ToolAccessDeniedError");
    expect(thrown({ ...hostile, writes: false })).to.equal("ToolCheckpointRequiredError");
    expect(thrown({ ...hostile, writes: false, checkpointable: true })).to.equal("ToolSandboxRequiredError");
    expect(thrown({ ...hostile, writes: false, checkpointable: true }, ALL)).to.equal("ToolHumanApprovalRequiredError");
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
