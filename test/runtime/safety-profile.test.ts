import { expect } from "chai";
import {
  ToolRuntimeError,
  ToolSafetyViolationError,
  type SafetyProfile,
  type ToolCapability,
  type ToolSpec,
} from "../../src/index.js";
import { SafetyRules } from "../../src/runtime/safety-profile.js";
import { ToolRegistry, type Registration } from "../../src/runtime/tool-registry.js";
import { rejectionOf, thrownBy } from "../support/outcomes.js";
import { contextOf, mockInstance, registerMock, runtimesOfSuite, specOf } from "../support/runtimes.js";

const registered = (capability: ToolCapability = {}, given: Partial<ToolSpec> = {}): Registration => {
  const registry = new ToolRegistry();
  registry.register(specOf("acme/tool", given), { instance: mockInstance(), capability });
  return registry.registration("acme/tool")!;
};
const rulesOf = (profile: SafetyProfile): SafetyRules => new SafetyRules(profile, "INVALID_ARGUMENT");

describe("runtime/safety-profile", () => {
  const makeRuntime = runtimesOfSuite();

  it("SafetyRules refuses a profile that it does not understand, with a hint", () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [null, "must be object"],
      [[], "must be object"],
      [{ denny: [] }, "did you mean `deny`"],
      [{ deny: ["acme/* "] }, "pattern"],
      [{ deny: "acme/tool" }, "must be array"],
      [{ isolation: { custom: "vault" } }, "/isolation/custom"],
      [{ isolation: { costum: "thread" } }, "/isolation"],
      [{ grants: { memoryMb: 1 } }, "16"],
    ];
    for (const [profile, part] of wrong) {
      const error = thrownBy(() => rulesOf(profile as SafetyProfile)) as ToolRuntimeError;
      expect(error, JSON.stringify(profile))
        .to.be.instanceOf(ToolRuntimeError)
        .with.property("code", "INVALID_ARGUMENT");
      expect(error.message)
        .to.match(/^Safety profile: /)
        .and.include(part);
    }
  });

  it("of() names tools in full or by namespace", () => {
    const denied = (pattern: string, name: string): boolean => {
      const registry = new ToolRegistry();
      registry.register(specOf(name), { instance: mockInstance() });
      return rulesOf({ deny: [pattern] }).of(registry.registration(name)!).violation !== undefined;
    };
    expect(denied("acme/tool", "acme/tool")).to.equal(true);
    expect(denied("acme/*", "acme/tool")).to.equal(true);
    expect(denied("acme/*", "acme/deep/tool")).to.equal(true);
    expect(denied("acme/deep/*", "acme/deep/tool")).to.equal(true);
    expect(denied("acme/*", "acme2/tool")).to.equal(false);
    expect(denied("acme/tool", "acme/tools")).to.equal(false);
  });

  it("of() asks for the stricter of source and trust", () => {
    const rules = rulesOf({ isolation: { mcp: "process", untrusted: "quickjs", trusted: "thread" } });
    expect(rules.of(registered({}, { source: "mcp" })).leastTier).to.equal("process");
    expect(rules.of(registered({}, { source: "skill" })).leastTier).to.equal("quickjs");
    expect(rules.of(registered()).leastTier).to.equal("thread");
  });

  const EXCESSES: readonly (readonly [ToolCapability, SafetyProfile["grants"], string | undefined])[] = [
    [{ writes: true }, { writes: false }, "write"],
    [{ writes: false }, { writes: false }, undefined],
    [{ net: true }, { net: false }, "network"],
    [{ net: true }, { net: ["a.test"] }, "network"],
    [{ net: ["a.test", "b.test"] }, { net: ["a.test"] }, "network"],
    [{ net: ["a.test"] }, { net: ["a.test"] }, undefined],
    [{ net: ["a.test"] }, { net: true }, undefined],
    [{ net: true }, {}, undefined],
    [{ spawn: true }, { spawn: false }, "processes"],
    [{ env: { KEY: "1" } }, { env: false }, "KEY"],
    [{ env: { KEY: "1" } }, { env: ["OTHER"] }, "KEY"],
    [{ env: { KEY: "1" } }, { env: ["KEY"] }, undefined],
    [{ env: {} }, { env: false }, undefined],
    [{ memoryMb: 64 }, { memoryMb: 32 }, "64 MiB"],
    [{ memoryMb: 32 }, { memoryMb: 32 }, undefined],
  ];
  for (const [capability, grants = {}, part] of EXCESSES) {
    it(`excessOf() ${part === undefined ? "lets pass" : "refuses"} ${JSON.stringify(capability)} under ${JSON.stringify(grants)}`, () => {
      const rules = rulesOf({ grants });
      const excess = rules.excessOf(registered(capability));
      if (part === undefined) expect(excess).to.equal(undefined);
      else expect(excess).to.include(part);
      expect(rules.of(registered(capability)).violation).to.equal(excess);
    });
  }

  it("register() refuses a grant that the runtime's profile does not allow, and keeps nothing of the tool", () => {
    const runtime = makeRuntime({ safetyProfile: { name: "strict", grants: { net: false } } });
    const register = (capability: ToolCapability) =>
      runtime.register(specOf("acme/tool"), { instance: mockInstance(), capability });
    const error = thrownBy(() => register({ net: true })) as ToolSafetyViolationError;
    expect(error).to.be.instanceOf(ToolSafetyViolationError);
    expect(error.message).to.include("acme/tool").and.include("strict");
    expect(runtime.get("acme/tool")).to.equal(undefined);
    expect(register({}).name).to.equal("acme/tool");
  });

  it("execute() and activate() refuse by the profile, each with a trace", async () => {
    const runtime = makeRuntime({ safetyProfile: { deny: ["acme/shell"] } });
    const { execute, activate } = registerMock(runtime, "acme/shell");
    const context = contextOf("plan");
    const error = (await rejectionOf(runtime.execute("acme/shell", {}, context))) as ToolSafetyViolationError;
    expect(error).to.be.instanceOf(ToolSafetyViolationError);
    expect(await rejectionOf(runtime.activate("acme/shell", context))).to.be.instanceOf(ToolSafetyViolationError);
    expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["denied", "denied"]);
    expect(execute.called || activate.called).to.equal(false);
  });

  it("a profile is what it was when it was given", async () => {
    const profile = { deny: ["acme/other"] };
    const context = contextOf("plan", { safetyProfile: profile });
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool");
    profile.deny.push("acme/tool");
    expect((await runtime.execute("acme/tool", {}, context)).success).to.equal(true);
  });

  it("a plan id belongs to one safety profile at a time", async () => {
    const runtime = makeRuntime();
    registerMock(runtime, "acme/tool");
    await runtime.execute("acme/tool", {}, contextOf("plan", { safetyProfile: { deny: [] } }));
    const error = await rejectionOf(runtime.execute("acme/tool", {}, contextOf("plan")));
    expect(error).to.have.property("code", "PLAN_CONFLICT");
  });

  it("discover() tells claimed, trusted and enforced apart, by the profile of the plan", async () => {
    const runtime = makeRuntime();
    runtime.register(specOf("mcp/reader", { source: "mcp", readOnly: true }), { instance: mockInstance() });
    const readOnlyOf = async (safetyProfile: SafetyProfile) =>
      (await runtime.discover("mcp/reader", contextOf("plan", { safetyProfile }))).readOnly;
    expect(await readOnlyOf({})).to.deep.equal({ claimed: true, trusted: false, enforced: false });
    expect(await readOnlyOf({ trustReadOnly: ["mcp"] })).to.deep.equal({
      claimed: true,
      trusted: true,
      enforced: false,
    });
    const described = await runtime.discover(
      "mcp/reader",
      contextOf("plan", { safetyProfile: { isolation: { mcp: "process" } } }),
    );
    expect(described.isolation).to.deep.equal({ required: "process" });
  });
});
