import { expect } from "chai";
import fc from "fast-check";
import { ToolRuntime, type ToolRuntimeOptions } from "../../src/index.js";
import { ToolRuntimeError } from "../../src/protocol/errors.js";
import { resolveOptions } from "../../src/runtime/options.js";
import { isToolcellError, thrownBy } from "../support/outcomes.js";
import { wrongValues } from "../support/wrong-values.js";

/** The least value of each number that is an option. */
const LEAST = {
  graceMs: 0,
  timeoutMs: 1,
  activationTimeoutMs: 1,
  deactivateTimeoutMs: 1,
  killTimeoutMs: 1,
  approvalTimeoutMs: 1,
  maxActiveCalls: 1,
  maxQueuedCalls: 0,
  maxLiveCells: 1,
  maxCellsPerTool: 1,
  maxCallsPerCell: 1,
  maxCallDepth: 1,
  maxActivations: 1,
  maxActivationsPerPlan: 1,
  maxPlans: 1,
  planIdleMs: 0,
  maxResultBytes: 1,
  maxPayloadDepth: 1,
  maxPayloadValues: 1,
  maxLogBytes: 0,
  maxChangesPerCall: 0,
  spareCells: 0,
  memoryMb: 16,
  recycleAfterCalls: 1,
  recycleHeapMb: 1,
  maxRssMb: 1,
} as const;

/** Those that are none by default. */
const UNSET = ["timeoutMs", "recycleAfterCalls", "recycleHeapMb", "maxRssMb"];

const MOST = 2 ** 31 - 1;

const refuses = (options: unknown, what: string): void => {
  for (const run of [
    () => resolveOptions(options as ToolRuntimeOptions),
    () => new ToolRuntime(options as ToolRuntimeOptions),
  ]) {
    const error = thrownBy(run);
    expect(error, what).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_OPTIONS");
    expect((error as Error).message, what).to.match(/^ToolRuntime options: /);
  }
};

describe("runtime/options", () => {
  it("resolveOptions() fills in every default", () => {
    const resolved = resolveOptions();
    expect(Object.keys(resolved)).to.have.members([...Object.keys(LEAST), "outputValidation"]);
    expect(resolved).to.deep.include({
      ...Object.fromEntries(UNSET.map((name) => [name, undefined])),
      graceMs: 1_000,
      outputValidation: "error",
      spareCells: 1,
    });
    for (const [name, least] of Object.entries(LEAST)) {
      if (UNSET.includes(name)) continue;
      const value = resolved[name as keyof typeof LEAST];
      expect(value, name).to.satisfy(Number.isInteger).and.be.within(least, MOST);
    }
    expect(resolveOptions({})).to.deep.equal(resolved);
  });

  it("resolveOptions() takes the least and the most of each number", () => {
    for (const [name, least] of Object.entries(LEAST)) {
      for (const value of [least, MOST]) expect(resolveOptions({ [name]: value })).to.have.property(name, value);
    }
  });

  it("resolveOptions() takes undefined for the default", () => {
    const options = Object.fromEntries([...Object.keys(LEAST), "outputValidation"].map((name) => [name, undefined]));
    expect(resolveOptions(options)).to.deep.equal(resolveOptions());
  });

  it("resolveOptions() takes both ways to treat a wrong output", () => {
    for (const outputValidation of ["error", "warn"] as const) {
      expect(resolveOptions({ outputValidation }).outputValidation).to.equal(outputValidation);
    }
  });

  it("resolveOptions() refuses every wrong number, and ToolRuntime() with it", () => {
    for (const [name, least] of Object.entries(LEAST)) {
      for (const value of [least - 1, least + 0.5, MOST + 1, Infinity, -Infinity, NaN, String(least + 1)]) {
        refuses({ [name]: value }, `${name}: ${value}`);
      }
      for (const [label, value] of wrongValues((each) => each !== undefined && typeof each !== "number")) {
        refuses({ [name]: value }, `${name}: ${label}`);
      }
    }
  });

  it("resolveOptions() refuses every wrong way to treat a wrong output", () => {
    for (const [label, outputValidation] of wrongValues((each) => each !== undefined))
      refuses({ outputValidation }, label);
    for (const outputValidation of ["ERROR", "ignore", "constructor"]) refuses({ outputValidation }, outputValidation);
  });

  it("resolveOptions() refuses an option that it does not know", () => {
    for (const name of ["grace", "GraceMs", "timeout", "tiers", "constructor", "toString", ""]) {
      refuses({ [name]: 1 }, name);
    }
    refuses(JSON.parse('{"__proto__":1}'), "__proto__");
    const message = (thrownBy(() => resolveOptions({ grace: 1 } as ToolRuntimeOptions)) as Error).message;
    expect(message).to.include("`grace`").and.to.include("did you mean `graceMs`?");
  });

  it("resolveOptions() refuses what is no object", () => {
    for (const [label, value] of wrongValues(
      (each) => each !== undefined && (typeof each !== "object" || each === null),
    )) {
      refuses(value, label);
    }
    refuses([], "a list");
    refuses([1], "a list with something in it");
  });

  it("resolveOptions() takes no default from a prototype", () => {
    const inherited = Object.create({ graceMs: 5, nonsense: 1 }) as ToolRuntimeOptions;
    expect(resolveOptions(inherited)).to.deep.equal(resolveOptions());
  });

  it("resolveOptions() does not change what it is given", () => {
    const options = Object.freeze({ graceMs: 5 });
    expect(resolveOptions(options).graceMs).to.equal(5);
    expect(Object.keys(options)).to.deep.equal(["graceMs"]);
  });

  it("resolveOptions() answers anything with a typed error only", () => {
    const names = fc.constantFrom(...Object.keys(LEAST), "outputValidation", "other");
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(names, fc.anything())), (options) => {
        try {
          resolveOptions(options as ToolRuntimeOptions);
        } catch (error) {
          expect(isToolcellError(error), String(error)).to.equal(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
