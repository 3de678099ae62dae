import { inspect } from "node:util";
import { expect } from "chai";
import fc from "fast-check";
import { ToolRuntimeError } from "../../src/protocol/errors.js";
import { CancellationToken } from "../../src/runtime/cancellation.js";
import {
  createBoundResource,
  createChange,
  ToolExecutionContext,
  type ToolExecutionContextOptions,
} from "../../src/runtime/execution-context.js";
import { isToolcellError, thrownBy } from "../support/outcomes.js";
import { traceOfTool } from "../support/runtimes.js";
import { WRONG_VALUES, wrongValues } from "../support/wrong-values.js";

const refuses = (run: () => unknown, what: string): void => {
  const error = thrownBy(run);
  expect(isToolcellError(error), `${what}: ${String(error)}`).to.equal(true);
  expect(error, what).to.have.property("code", "INVALID_ARGUMENT");
};

describe("runtime/execution-context", () => {
  it("ToolExecutionContext() fills in the defaults", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    expect(context).to.include({ planId: "plan", readOnly: false, requireCheckpoints: false });
    expect(context.sessionId).to.equal(undefined);
    expect(context.actorName).to.equal(undefined);
    expect(context.boundResources).to.deep.equal([]);
    expect(context.cancellationToken).to.be.instanceOf(CancellationToken);
    expect(context.summary()).to.deep.equal({
      planId: "plan",
      readOnly: false,
      requireCheckpoints: false,
      resourceCount: 0,
      changeCount: 0,
      traceCount: 0,
    });
  });

  it("ToolExecutionContext() takes everything that it is given", () => {
    const cancellationToken = new CancellationToken();
    const context = new ToolExecutionContext({
      planId: "plan",
      sessionId: "session",
      actorName: "actor",
      cancellationToken,
      readOnly: true,
      requireCheckpoints: true,
      boundResources: [{ slotName: "repo", resourceId: "r", resourceType: "folder", path: "/srv/repo" }],
    });
    expect(context).to.include({ sessionId: "session", actorName: "actor", cancellationToken });
    expect(context).to.include({ readOnly: true, requireCheckpoints: true });
    expect(context.getResource("repo")).to.deep.equal({
      slotName: "repo",
      resourceId: "r",
      resourceType: "folder",
      access: "read_only",
      path: "/srv/repo",
    });
  });

  it("ToolExecutionContext() gives each context a token of its own", () => {
    const one = new ToolExecutionContext({ planId: "plan" });
    const other = new ToolExecutionContext({ planId: "plan" });
    one.cancellationToken.cancel();
    expect(other.cancellationToken.isCancelled).to.equal(false);
  });

  it("ToolExecutionContext() refuses wrong options with a typed error", () => {
    const fields = {
      planId: wrongValues((value) => value !== "text"),
      sessionId: wrongValues((value) => typeof value !== "string" && value !== undefined),
      actorName: wrongValues((value) => typeof value !== "string" && value !== undefined),
      cancellationToken: wrongValues((value) => value !== undefined && value !== null),
      readOnly: wrongValues((value) => typeof value !== "boolean" && value !== undefined),
      requireCheckpoints: wrongValues((value) => typeof value !== "boolean" && value !== undefined),
      historyLimit: [
        ...wrongValues((value) => value !== 1 && value !== undefined && value !== null),
        ["-1", -1],
        ["1.5", 1.5],
        ["Infinity", Infinity],
      ] as const,
    };
    for (const [name, values] of Object.entries(fields)) {
      for (const [label, value] of values) {
        const options = { planId: "plan", [name]: value } as unknown as ToolExecutionContextOptions;
        refuses(() => new ToolExecutionContext(options), `${name}: ${label}`);
      }
    }
    for (const [label, value] of WRONG_VALUES) {
      refuses(() => new ToolExecutionContext(value as ToolExecutionContextOptions), label);
    }
  });

  for (const [what, boundResources] of [
    ["a number", 5],
    ["an object", {}],
    ["a list with undefined in it", [undefined]],
    ["a list with null in it", [null]],
    ["a list with a number in it", [5]],
    ["a list with an empty object in it", [{}]],
  ] as const) {
    it(`ToolExecutionContext() refuses ${what} as boundResources with a typed error`, () => {
      const options = { planId: "plan", boundResources } as unknown as ToolExecutionContextOptions;
      refuses(() => new ToolExecutionContext(options), what);
    });
  }

  it("bindResource() replaces what was in the slot and keeps the order", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    const resource = { resourceId: "1", resourceType: "folder" };
    context.bindResource({ slotName: "a", ...resource });
    context.bindResource({ slotName: "b", ...resource });
    context.bindResource({ slotName: "a", ...resource, resourceId: "2" });
    expect(context.boundResources.map(({ slotName, resourceId }) => [slotName, resourceId])).to.deep.equal([
      ["a", "2"],
      ["b", "1"],
    ]);
    expect(context.summary().resourceCount).to.equal(2);
  });

  it("bindResource() that fails binds nothing", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    const wrong = { slotName: "a", resourceId: "", resourceType: "folder" };
    refuses(() => context.bindResource(wrong), "resourceId");
    expect(context.boundResources).to.deep.equal([]);
  });

  it("boundResources, changes and traces cannot be used to change the context", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    context.bindResource({ slotName: "a", resourceId: "1", resourceType: "folder" });
    context.recordChange({ operation: "create", resourceId: "1" });
    context.addTrace(traceOfTool("acme/tool"));
    (context.boundResources as unknown[]).length = 0;
    (context.changes as unknown[]).length = 0;
    (context.traces as unknown[]).length = 0;
    expect(context.boundResources).to.have.length(1);
    expect(context.changes).to.have.length(1);
    expect(context.traces).to.have.length(1);
    expect(Object.isFrozen(context.boundResources[0])).to.equal(true);
    expect(Object.isFrozen(context.changes[0])).to.equal(true);
  });

  it("getResource() names the slot and the slots that are bound", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    const empty = thrownBy(() => context.getResource("missing"));
    expect(empty).to.be.instanceOf(ToolRuntimeError).with.property("code", "RESOURCE_NOT_BOUND");
    expect((empty as Error).message)
      .to.include('"missing"')
      .and.include("none");
    context.bindResource({ slotName: "repo", resourceId: "1", resourceType: "folder" });
    expect((thrownBy(() => context.getResource("missing")) as Error).message).to.include('"repo"');
  });

  it("getResource() never reaches a prototype", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(thrownBy(() => context.getResource(name))).to.have.property("code", "RESOURCE_NOT_BOUND");
    }
  });

  it("getResource() answers what is no name with a typed error", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    for (const [label, value] of WRONG_VALUES) {
      const error = thrownBy(() => context.getResource(value as string));
      expect(isToolcellError(error), `${label}: ${String(error)}`).to.equal(true);
    }
  });

  it("bindResource() refuses what is no resource with a typed error", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    for (const [label, value] of WRONG_VALUES) refuses(() => context.bindResource(value as never), label);
    expect(context.summary().resourceCount).to.equal(0);
  });

  it("recordChange() refuses what is no change with a typed error", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    for (const [label, value] of WRONG_VALUES) refuses(() => context.recordChange(value as never), label);
    expect(context.summary().changeCount).to.equal(0);
  });

  it("addTrace() refuses what is no trace with a typed error", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    for (const [label, value] of wrongValues((each) => typeof each !== "object" || each === null)) {
      refuses(() => context.addTrace(value as never), label);
    }
    refuses(() => context.addTrace({} as never), "an object without phases");
    expect(context.summary().traceCount).to.equal(0);
  });

  it("recordChange() sets the time where it is absent and keeps it where it is given", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    const { timestamp } = context.recordChange({ operation: "create", resourceId: "r" });
    expect(new Date(timestamp).toISOString()).to.equal(timestamp);
    const given = "2020-01-02T03:04:05.678Z";
    expect(context.recordChange({ operation: "delete", resourceId: "r", timestamp: given }).timestamp).to.equal(given);
  });

  it("changes and traces keep the newest, the counts are of all", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat({ max: 100 }), (historyLimit, count) => {
        const context = new ToolExecutionContext({ planId: "plan", historyLimit });
        for (let index = 0; index < count; index++) {
          context.recordChange({ operation: "create", resourceId: `r${index}` });
          context.addTrace(traceOfTool(`acme/t${index}`));
        }
        const kept = Array.from(
          { length: Math.min(count, historyLimit) },
          (_, index) => count - Math.min(count, historyLimit) + index,
        );
        expect(context.changes.map(({ resourceId }) => resourceId)).to.deep.equal(kept.map((index) => `r${index}`));
        expect(context.traces.map(({ toolName }) => toolName)).to.deep.equal(kept.map((index) => `acme/t${index}`));
        expect(context.summary()).to.include({ changeCount: count, traceCount: count });
      }),
      { numRuns: 100 },
    );
  });

  it("changes and traces keep 10,000 by default", () => {
    const context = new ToolExecutionContext({ planId: "plan" });
    const trace = traceOfTool("acme/tool");
    for (let index = 0; index < 25_000; index++) {
      context.recordChange({ operation: "create", resourceId: String(index), timestamp: "now" });
      context.addTrace(trace);
    }
    expect(context.changes).to.have.length(10_000);
    expect(context.changes[0]?.resourceId).to.equal("15000");
    expect(context.changes.at(-1)?.resourceId).to.equal("24999");
    expect(context.traces).to.have.length(10_000);
    expect(context.summary()).to.include({ changeCount: 25_000, traceCount: 25_000 });
  });

  it("createBoundResource() refuses wrong and unknown fields", () => {
    const good = { slotName: "s", resourceId: "r", resourceType: "t" };
    for (const field of ["slotName", "resourceId", "resourceType"]) {
      for (const [label, value] of wrongValues((each) => each !== "text")) {
        refuses(() => createBoundResource({ ...good, [field]: value }), `${field}: ${label}`);
      }
    }
    for (const access of ["write", "READ_ONLY", "", 1, {}, true]) {
      refuses(() => createBoundResource({ ...good, access } as never), `access: ${inspect(access)}`);
    }
    for (const path of ["relative/path", "./here", "", 5, null, {}]) {
      refuses(() => createBoundResource({ ...good, path } as never), `path: ${inspect(path)}`);
    }
    refuses(() => createBoundResource({ ...good, acces: "read_only" } as never), "a field that is misspelt");
    expect(Object.keys(createBoundResource(good))).to.deep.equal(["slotName", "resourceId", "resourceType", "access"]);
  });

  it("ToolExecutionContext() refuses a misspelt option, so that no plan writes for a slip", () => {
    for (const [given, meant] of [
      ["readonly", "readOnly"],
      ["readOnli", "readOnly"],
      ["requireCheckpoint", "requireCheckpoints"],
    ] as const) {
      expect(() => new ToolExecutionContext({ planId: "p", [given]: true }))
        .to.throw(ToolRuntimeError, `did you mean \`${meant}\`?`)
        .with.property("code", "INVALID_ARGUMENT");
    }
  });

  it("createBoundResource() has a typed error also where the slot's name has no text", () => {
    const wrong = { slotName: Object.create(null) as string, resourceId: "r", resourceType: "t", path: "relative" };
    refuses(() => createBoundResource(wrong), "slotName");
  });

  it("createBoundResource(), createChange() refuse anything with a typed error only", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const create of [createBoundResource, createChange]) {
          try {
            (create as (given: unknown) => unknown)(value);
          } catch (error) {
            expect(isToolcellError(error), String(error)).to.equal(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
