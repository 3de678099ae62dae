import { expect } from "chai";
import * as errors from "../../src/protocol/errors.js";
import { OUTCOMES } from "../../src/protocol/trace.js";

type Errors = typeof errors;

const { ERROR_CLASSES, ERROR_CODES, ToolCancelledError, ToolExecutionError, ToolRuntimeError } = errors;

/** Each class with its own code and whether it is a ToolRuntimeError. */
const CLASSES = [
  ["ToolRuntimeError", "RUNTIME_ERROR", true],
  ["ToolAccessDeniedError", "ACCESS_DENIED", true],
  ["ToolCheckpointRequiredError", "CHECKPOINT_REQUIRED", true],
  ["ToolNotActivatedError", "NOT_ACTIVATED", true],
  ["ToolActivationError", "ACTIVATION_FAILED", true],
  ["ToolExecutionError", "EXECUTION_FAILED", true],
  ["ToolDeactivationError", "DEACTIVATION_FAILED", true],
  ["ToolSafetyViolationError", "SAFETY_VIOLATION", true],
  ["ToolSandboxRequiredError", "SANDBOX_REQUIRED", true],
  ["ToolHumanApprovalRequiredError", "APPROVAL_REQUIRED", true],
  ["ToolCostLimitExceededError", "COST_LIMIT_EXCEEDED", true],
  ["ToolRetryLimitExceededError", "RETRY_LIMIT_EXCEEDED", true],
  ["ToolCancelledError", "CANCELLED", false],
  ["ToolSchemaValidationError", "SCHEMA_VALIDATION_FAILED", false],
] as const;

const importCopy = async (): Promise<Errors> =>
  (await import(`${new URL("../../src/protocol/errors.js", import.meta.url).href}?copy`)) as Errors;

describe("protocol/errors", () => {
  it("ERROR_CLASSES holds every class under its name", () => {
    const exported = Object.entries(errors).filter(([name]) => /^[A-Z]\w+Error$/.test(name));
    expect(new Set(Object.keys(ERROR_CLASSES))).to.deep.equal(new Set(exported.map(([name]) => name)));
    expect(CLASSES.map(([name]) => name)).to.have.members(Object.keys(ERROR_CLASSES));
    for (const [name, constructor] of Object.entries(ERROR_CLASSES)) expect(constructor.name).to.equal(name);
  });

  it("ERROR_CODES explains each code in words", () => {
    for (const [code, text] of Object.entries(ERROR_CODES)) {
      expect(code).to.match(/^[A-Z]+(_[A-Z]+)*$/);
      expect(text).to.be.a("string").that.is.not.empty;
    }
  });

  for (const [name, code, isRuntimeError] of CLASSES) {
    const Constructor = ERROR_CLASSES[name];

    it(`${name}() has its own code, name, details and cause`, () => {
      const bare = new Constructor("what went wrong");
      expect(bare).to.be.instanceOf(Error).and.instanceOf(Constructor);
      expect(bare).to.include({ name, code, message: "what went wrong" });
      expect(bare.details).to.deep.equal({});
      expect(Object.hasOwn(bare, "cause")).to.equal(false);
      expect(Object.hasOwn(ERROR_CODES, bare.code)).to.equal(true);
      expect(bare.stack).to.include(`${name}: what went wrong`);

      const cause = new TypeError("because");
      const full = new Constructor("m", { code: "PLAN_CONFLICT", details: { tool: "acme/tool" }, cause });
      expect(full).to.include({ code: "PLAN_CONFLICT", cause });
      expect(full.details).to.deep.equal({ tool: "acme/tool" });
    });

    it(`${name}() keeps a cause that is undefined apart from none`, () => {
      const error = new Constructor("m", { cause: undefined });
      expect(Object.hasOwn(error, "cause")).to.equal(true);
    });

    it(`${name}() is ${isRuntimeError ? "a" : "no"} ToolRuntimeError`, () => {
      expect(new Constructor("m") instanceof ToolRuntimeError).to.equal(isRuntimeError);
    });

    it(`${name}() is known by the class of another copy of the package`, async () => {
      const copy = await importCopy();
      const Other = copy.ERROR_CLASSES[name];
      expect(Other).not.to.equal(Constructor);
      expect(new Other("m") instanceof Constructor).to.equal(true);
      expect(new Constructor("m") instanceof Other).to.equal(true);
      expect(new Other("m") instanceof ToolRuntimeError).to.equal(isRuntimeError);
      for (const [otherName] of CLASSES) {
        if (otherName === name || otherName === "ToolRuntimeError") continue;
        expect(new Other("m") instanceof ERROR_CLASSES[otherName], otherName).to.equal(false);
      }
    });
  }

  it("instanceof answers for every kind of value", () => {
    const values = [
      undefined,
      null,
      0,
      "",
      Symbol("s"),
      1n,
      () => undefined,
      {},
      [],
      new Error("m"),
      Object.create(null),
    ];
    for (const value of values) {
      for (const Constructor of Object.values(ERROR_CLASSES)) expect(value instanceof Constructor).to.equal(false);
    }
  });

  it("instanceof keeps its ordinary meaning for a class that a user derives", async () => {
    class QuotaError extends ToolExecutionError {}
    const own = new QuotaError("m");
    expect(own instanceof QuotaError).to.equal(true);
    expect(own instanceof ToolExecutionError).to.equal(true);
    expect(own instanceof ToolRuntimeError).to.equal(true);
    expect(new ToolExecutionError("m") instanceof QuotaError).to.equal(false);
    const copy = await importCopy();
    expect(own instanceof copy.ToolExecutionError).to.equal(true);
    expect(new copy.ToolExecutionError("m") instanceof QuotaError).to.equal(false);
  });

  it("the brand is on no other error and cannot be seen as a field", () => {
    const error = new ToolRuntimeError("m");
    expect(Object.keys(error)).to.have.members(["code", "details"]);
    expect(Object.getOwnPropertySymbols(Error.prototype)).to.have.length(0);
  });

  it("ToolExecutionError() says what happened to the call", () => {
    expect(new ToolExecutionError("m").outcome).to.equal("threw");
    for (const outcome of OUTCOMES) expect(new ToolExecutionError("m", { outcome }).outcome).to.equal(outcome);
  });

  it("ToolCancelledError() says what happened to the call", () => {
    expect(new ToolCancelledError("m").outcome).to.equal("cancelled");
    for (const outcome of OUTCOMES) expect(new ToolCancelledError("m", { outcome }).outcome).to.equal(outcome);
  });

  it("ToolSchemaValidationError() has the violations and the schema", () => {
    const violations = [{ instancePath: "/a", schemaPath: "/type", keyword: "type", message: "must be string" }];
    const schema = { type: "string" };
    const error = new errors.ToolSchemaValidationError("m", { errors: violations, schema });
    expect(error.errors).to.equal(violations);
    expect(error.schema).to.equal(schema);
    const bare = new errors.ToolSchemaValidationError("m");
    expect(bare.errors).to.deep.equal([]);
    expect(bare.schema).to.equal(undefined);
  });
});
