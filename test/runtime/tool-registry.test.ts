import { expect } from "chai";
import { ToolRuntimeError, ToolSchemaValidationError } from "../../src/protocol/errors.js";
import type { ToolSpec } from "../../src/protocol/tool.js";
import { ToolRegistry } from "../../src/runtime/tool-registry.js";
import { isToolcellError, thrownBy } from "../support/outcomes.js";
import { mockInstance, specOf } from "../support/runtimes.js";

const TRICKY = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

const filled = (...names: string[]): ToolRegistry => {
  const registry = new ToolRegistry();
  for (const name of names) registry.register(specOf(name), { instance: mockInstance() });
  return registry;
};

describe("runtime/tool-registry", () => {
  it("register() keeps a tool and get() gives its specification", () => {
    const registry = new ToolRegistry();
    const spec = registry.register(specOf("acme/tool", { version: "1" }), { execute: () => 1 });
    expect(registry.get("acme/tool")).to.equal(spec);
    expect(spec).to.include({
      name: "acme/tool",
      version: "1",
      source: "custom",
      readOnly: false,
      checkpointable: true,
    });
    expect(spec.capability).to.include({ writes: true });
  });

  it("register() keeps a copy that cannot be changed", () => {
    const inputSchema = { type: "object", properties: { a: { type: "string" } } };
    const registry = new ToolRegistry();
    const spec = registry.register(specOf("acme/tool", { inputSchema }), { execute: () => 1 });
    inputSchema.properties.a.type = "number";
    expect(spec.inputSchema).to.deep.equal({ type: "object", properties: { a: { type: "string" } } });
    expect(registry.registration("acme/tool")?.input.check({ a: "text" })).to.equal(undefined);
    expect(Object.isFrozen(spec)).to.equal(true);
    expect(Object.isFrozen((spec.inputSchema as typeof inputSchema).properties.a)).to.equal(true);
  });

  it("register() refuses a name that is taken, and names the holder", () => {
    const registry = new ToolRegistry();
    registry.register(specOf("acme/tool", { source: "builtin" }), { execute: () => 1 });
    const kept = registry.registration("acme/tool");
    const error = thrownBy(() => registry.register(specOf("acme/tool", { source: "mcp" }), { execute: () => 2 }));
    expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "ALREADY_REGISTERED");
    expect((error as ToolRuntimeError).details).to.deep.equal({ tool: "acme/tool", source: "builtin" });
    expect((error as Error).message)
      .to.include("acme/tool")
      .and.include("builtin");
    expect(registry.registration("acme/tool")).to.equal(kept);
  });

  it("register() takes a name again once it is free", () => {
    const registry = filled("acme/tool");
    expect(registry.unregister("acme/tool")).to.equal(true);
    expect(registry.unregister("acme/tool")).to.equal(false);
    registry.register(specOf("acme/tool"), { execute: () => 1 });
    expect(registry.list()).to.have.length(1);
  });

  it("lookups never reach Object.prototype", () => {
    const registry = filled("acme/tool");
    for (const name of TRICKY) {
      expect(registry.get(name), name).to.equal(undefined);
      expect(registry.registration(name), name).to.equal(undefined);
      expect(registry.unregister(name), name).to.equal(false);
      expect(registry.list({ namespace: name }), name).to.deep.equal([]);
    }
    expect(registry.list({ namespace: "acme" })).to.have.length(1);
  });

  it("names of Object.prototype are names like others, with a namespace", () => {
    const registry = new ToolRegistry();
    for (const name of TRICKY) {
      expect(thrownBy(() => registry.register(specOf(name), { execute: () => 1 }))).to.have.property(
        "code",
        "INVALID_SPEC",
      );
      registry.register(specOf(`${name}/${name}`), { execute: () => 1 });
      expect(registry.get(`${name}/${name}`)?.name).to.equal(`${name}/${name}`);
      expect(registry.list({ namespace: name })).to.have.length(1);
    }
  });

  it("list() narrows by source and by namespace", () => {
    const registry = filled("acme/a", "acme/b", "acme/sub/c", "other/a");
    registry.register(specOf("other/b", { source: "mcp" }), { execute: () => 1 });
    const names = (...filter: Parameters<ToolRegistry["list"]>) => registry.list(...filter).map(({ name }) => name);
    expect(names()).to.deep.equal(["acme/a", "acme/b", "acme/sub/c", "other/a", "other/b"]);
    expect(names({ namespace: "acme" })).to.deep.equal(["acme/a", "acme/b", "acme/sub/c"]);
    expect(names({ source: "mcp" })).to.deep.equal(["other/b"]);
    expect(names({ source: "custom", namespace: "other" })).to.deep.equal(["other/a"]);
    expect(names({ namespace: "acm" })).to.deep.equal([]);
    expect(names({ namespace: "" })).to.deep.equal([]);
  });

  it("list() answers what is no filter with a typed error", () => {
    const registry = filled("acme/tool");
    for (const filter of [null, 5, "acme", true, () => undefined]) {
      let listed: unknown;
      try {
        listed = registry.list(filter as never);
      } catch (error) {
        expect(isToolcellError(error), `${typeof filter}: ${String(error)}`).to.equal(true);
        continue;
      }
      expect(listed, typeof filter).to.be.an("array");
    }
  });

  it("register() refuses a schema that cannot be used, and keeps nothing", () => {
    const registry = new ToolRegistry();
    for (const field of ["inputSchema", "outputSchema"]) {
      for (const schema of [
        { type: "nonsense" },
        null,
        5,
        "text",
        [],
        { $ref: "#/nowhere" },
        { $schema: "https://example.org/own" },
      ]) {
        const spec = { ...specOf("acme/tool"), [field]: schema };
        const error = thrownBy(() => registry.register(spec, { execute: () => 1 }));
        expect(error, JSON.stringify(schema)).to.be.instanceOf(ToolSchemaValidationError);
        expect((error as ToolSchemaValidationError).message)
          .to.include("acme/tool")
          .and.include(field);
        expect((error as ToolSchemaValidationError).details).to.deep.equal({ tool: "acme/tool", field });
      }
    }
    expect(registry.list()).to.deep.equal([]);
  });

  it("register() answers a circle in a schema with a typed error", () => {
    const circle: Record<string, unknown> = { type: "object" };
    circle["properties"] = { self: circle };
    const error = thrownBy(() =>
      new ToolRegistry().register(specOf("acme/tool", { inputSchema: circle }), { execute: () => 1 }),
    );
    expect(error).to.be.instanceOf(ToolSchemaValidationError);
  });

  it("register() answers a specification whose getter throws with a typed error", () => {
    const spec = Object.defineProperty({ ...specOf("acme/tool") }, "description", {
      get() {
        throw new Error("hostile");
      },
      enumerable: true,
    });
    const error = thrownBy(() => new ToolRegistry().register(spec, { execute: () => 1 }));
    expect(isToolcellError(error), String(error)).to.equal(true);
  });

  it("registration() keeps what the tool claims apart from what the host says", () => {
    const registry = new ToolRegistry();
    const claim = (name: string, spec: Partial<ToolSpec>, writes?: boolean) => {
      const capability = writes === undefined ? {} : { writes };
      registry.register(specOf(name, spec), { execute: () => 1, capability });
      const registration = registry.registration(name);
      return [registration?.claimedReadOnly, registration?.capability.writes];
    };
    expect(claim("acme/a", {})).to.deep.equal([undefined, true]);
    expect(claim("acme/b", { readOnly: true })).to.deep.equal([true, false]);
    expect(claim("acme/c", { capability: { writes: true } }, false)).to.deep.equal([false, false]);
    expect(claim("acme/d", { readOnly: true }, true)).to.deep.equal([true, true]);
  });

  it("registration() trusts by source, under the host's word", () => {
    const registry = new ToolRegistry();
    const trust = (name: string, source: NonNullable<ToolSpec["source"]>, trusted?: boolean) => {
      registry.register(specOf(name, { source }), { execute: () => 1, ...(trusted !== undefined && { trusted }) });
      return registry.registration(name)?.trusted;
    };
    expect(trust("acme/a", "builtin")).to.equal(true);
    expect(trust("acme/b", "mcp")).to.equal(false);
    expect(trust("acme/c", "mcp", true)).to.equal(true);
    expect(trust("acme/d", "builtin", false)).to.equal(false);
  });
});
