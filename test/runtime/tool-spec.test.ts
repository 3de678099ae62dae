import { expect } from "chai";
import fc from "fast-check";
import { ToolRuntimeError } from "../../src/protocol/errors.js";
import { ISOLATION_TIERS, TOOL_SOURCES, type ToolCapability, type ToolSpec } from "../../src/protocol/tool.js";
import { checkSpec, resolveCapability, trustedByDefault } from "../../src/runtime/tool-spec.js";
import { isToolcellError, thrownBy } from "../support/outcomes.js";
import { WRONG_VALUES } from "../support/wrong-values.js";

const good: ToolSpec = { name: "acme/tool", description: "A tool.", inputSchema: {} };

const refusal = (run: () => unknown, what: string): ToolRuntimeError => {
  const error = thrownBy(run);
  expect(error, what).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_SPEC");
  return error as ToolRuntimeError;
};

const WRONG_CAPABILITIES: readonly unknown[] = [
  null,
  5,
  "writes",
  [],
  { writes: "yes" },
  { writes: 1 },
  { writes: null },
  { checkpointable: "yes" },
  { stateless: 1 },
  { idempotent: 1 },
  { requiresApproval: "no" },
  { cost: -1 },
  { cost: NaN },
  { cost: Infinity },
  { cost: "1" },
  { isolation: "vm" },
  { isolation: "__proto__" },
  { fs: [] },
  { fs: { read: "repo" } },
  { fs: { read: [""] } },
  { fs: { write: [1] } },
  { fs: { delete: ["repo"] } },
  { fs: { read: Array.from({ length: 101 }, (_, index) => `slot${index}`) } },
  { net: "example.org" },
  { net: [""] },
  { net: [1] },
  { spawn: "yes" },
  { env: { PATH: 1 } },
  { env: [] },
  { memoryMb: 15 },
  { memoryMb: 16.5 },
  { memoryMb: Infinity },
  { timeoutMs: 0 },
  { timeoutMs: -1 },
  { timeoutMs: 1.5 },
  { timeoutMs: 2 ** 31 },
  { memory: 64 },
];

describe("runtime/tool-spec", () => {
  it("checkSpec() fills in the source and leaves out what it does not know", () => {
    const spec = { ...good, version: "1.2.3", outputSchema: true, extra: 1, execute: () => 1 };
    expect(checkSpec(spec)).to.deep.equal({
      name: "acme/tool",
      description: "A tool.",
      version: "1.2.3",
      inputSchema: {},
      outputSchema: true,
      source: "custom",
    });
    for (const source of TOOL_SOURCES) expect(checkSpec({ ...good, source }).source).to.equal(source);
  });

  it("checkSpec() takes fields that are there but undefined", () => {
    const spec = { ...good, version: undefined, source: undefined, capability: undefined, readOnly: undefined };
    expect(checkSpec(spec as unknown as ToolSpec)).to.deep.equal({ ...good, source: "custom" });
  });

  it("checkSpec() takes names with a namespace", () => {
    const names = [
      "a/b",
      "acme/word-count",
      "a/b/c",
      "工具/名前",
      `${"n".repeat(100)}/${"m".repeat(100)}`,
      "constructor/toString",
    ];
    for (const name of names) expect(checkSpec({ ...good, name }).name).to.equal(name);
  });

  it("checkSpec() refuses names without a namespace, with blanks or control characters, or too long", () => {
    const names = [
      "",
      "tool",
      "/tool",
      "acme/",
      "acme//tool",
      "ac me/tool",
      "acme/to\nol",
      "acme/to\0ol",
      "acme/tool\t",
    ];
    names.push("__proto__", "constructor", "toString", `acme/${"x".repeat(129)}`, `${"a/".repeat(200)}b`);
    for (const name of names) {
      const { message } = refusal(() => checkSpec({ ...good, name }), JSON.stringify(name));
      expect(message, name).to.include("namespace/name");
      expect(message.length, "the length of the message").to.be.below(1_000);
    }
  });

  it("checkSpec() refuses what is no specification and says whose it is", () => {
    for (const [label, value] of WRONG_VALUES) refusal(() => checkSpec(value as ToolSpec), label);
    const wrong: readonly Record<string, unknown>[] = [
      { name: 5 },
      { name: undefined },
      { description: 5 },
      { description: undefined },
      { description: "x".repeat(65_537) },
      { version: 1 },
      { version: "v".repeat(257) },
      { source: "internet" },
      { source: null },
      { readOnly: "yes" },
      { checkpointable: 1 },
      { inputSchema: undefined },
    ];
    for (const fields of wrong) {
      const error = refusal(() => checkSpec({ ...good, ...fields }), JSON.stringify(fields));
      if (!("name" in fields)) expect(error.message).to.include('"acme/tool"');
    }
    expect(refusal(() => checkSpec({ ...good, inputSchema: undefined } as never), "schema").message).to.include(
      "inputSchema",
    );
  });

  it("checkSpec() refuses a wrong capability", () => {
    for (const capability of WRONG_CAPABILITIES) {
      refusal(() => checkSpec({ ...good, capability } as ToolSpec), JSON.stringify(capability));
    }
  });

  it("checkSpec() answers anything with a typed error only", () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.dictionary(fc.constantFrom(...Object.keys(good), "capability", "source"), fc.anything()),
        (value, fields) => {
          for (const spec of [value, fields, { ...good, ...fields }]) {
            try {
              checkSpec(spec as ToolSpec);
            } catch (error) {
              expect(isToolcellError(error), String(error)).to.equal(true);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("resolveCapability() takes a tool that says nothing to write, and to ask for nothing", () => {
    expect(resolveCapability(good)).to.deep.equal({
      writes: true,
      checkpointable: true,
      stateless: false,
      idempotent: false,
      requiresApproval: false,
      fs: { read: [], write: [] },
      net: false,
      spawn: false,
      env: {},
    });
  });

  it("resolveCapability() takes the shorthands, under the capability's own word", () => {
    expect(resolveCapability({ ...good, readOnly: true }).writes).to.equal(false);
    expect(resolveCapability({ ...good, readOnly: false }).writes).to.equal(true);
    expect(resolveCapability({ ...good, readOnly: true, capability: { writes: true } }).writes).to.equal(true);
    expect(resolveCapability({ ...good, checkpointable: false }).checkpointable).to.equal(false);
    expect(
      resolveCapability({ ...good, checkpointable: false, capability: { checkpointable: true } }).checkpointable,
    ).to.equal(true);
  });

  it("resolveCapability() lets the host's word stand over the tool's", () => {
    const claimed: ToolCapability = {
      writes: false,
      checkpointable: true,
      stateless: true,
      idempotent: true,
      requiresApproval: false,
      cost: 1,
      isolation: "inline",
      fs: { read: ["a"], write: ["b"] },
      memoryMb: 64,
      timeoutMs: 1_000,
    };
    const host: ToolCapability = {
      writes: true,
      checkpointable: false,
      stateless: false,
      idempotent: false,
      requiresApproval: true,
      cost: 2,
      isolation: "thread",
      fs: { read: ["c"] },
      memoryMb: 128,
      timeoutMs: 2_000,
    };
    expect(resolveCapability({ ...good, capability: claimed })).to.include({
      writes: false,
      stateless: true,
      cost: 1,
      memoryMb: 64,
    });
    expect(resolveCapability({ ...good, capability: claimed }, host)).to.deep.include({
      writes: true,
      checkpointable: false,
      stateless: false,
      idempotent: false,
      requiresApproval: true,
      cost: 2,
      isolation: "thread",
      fs: { read: ["c"], write: [] },
      memoryMb: 128,
      timeoutMs: 2_000,
    });
  });

  it("resolveCapability() does not take undefined for the host's word", () => {
    const host = {
      writes: undefined,
      cost: undefined,
      fs: undefined,
      stateless: undefined,
    } as unknown as ToolCapability;
    const claimed: ToolCapability = { writes: false, cost: 3, fs: { read: ["a"] }, stateless: true };
    expect(resolveCapability({ ...good, capability: claimed }, host)).to.deep.include({
      writes: false,
      cost: 3,
      fs: { read: ["a"], write: [] },
      stateless: true,
    });
  });

  it("resolveCapability() gives network, processes and environment by the host's word only", () => {
    const capability: ToolCapability = { net: true, spawn: true, env: { SECRET: "1" } };
    expect(resolveCapability({ ...good, capability })).to.deep.include({ net: false, spawn: false, env: {} });
    expect(resolveCapability(good, { net: ["example.org"], spawn: true, env: { A: "1" } })).to.deep.include({
      net: ["example.org"],
      spawn: true,
      env: { A: "1" },
    });
  });

  it("resolveCapability() cannot be changed afterwards", () => {
    const read = ["a"];
    const env = { A: "1" };
    const resolved = resolveCapability(good, { fs: { read }, env });
    read.push("b");
    env.A = "2";
    expect(resolved.fs.read).to.deep.equal(["a"]);
    expect(resolved.env).to.deep.equal({ A: "1" });
    expect(Object.isFrozen(resolved)).to.equal(true);
    expect(Object.isFrozen(resolved.fs)).to.equal(true);
    expect(Object.isFrozen(resolved.fs.read)).to.equal(true);
    expect(Object.isFrozen(resolved.env)).to.equal(true);
  });

  it("resolveCapability() gives a list of hosts that cannot be changed afterwards", () => {
    const net = ["example.org"];
    const resolved = resolveCapability(good, { net });
    net.push("example.com");
    expect(resolved.net).to.deep.equal(["example.org"]);
  });

  it("resolveCapability() refuses a wrong capability of the host", () => {
    for (const capability of WRONG_CAPABILITIES) {
      refusal(() => resolveCapability(good, capability as ToolCapability), JSON.stringify(capability));
    }
  });

  it("resolveCapability() takes every isolation tier", () => {
    for (const isolation of ISOLATION_TIERS)
      expect(resolveCapability(good, { isolation }).isolation).to.equal(isolation);
  });

  it("trustedByDefault() trusts what the host brings itself", () => {
    const trusted = [undefined, ...TOOL_SOURCES].filter((source) => trustedByDefault(source));
    expect(trusted).to.deep.equal([undefined, "builtin", "custom", "wrapped"]);
  });
});
