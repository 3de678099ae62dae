import { runInNewContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import { decodeError, encodeError, type EncodedError } from "../../src/protocol/error-codec.js";
import {
  ERROR_CLASSES,
  ToolCancelledError,
  ToolExecutionError,
  ToolRuntimeError,
  ToolSchemaValidationError,
} from "../../src/protocol/errors.js";

/** There and back, over a clone as between threads. */
const roundTrip = (thrown: unknown): Error => decodeError(structuredClone(encodeError(thrown)));

const fail = (): never => {
  throw new Error("hostile");
};

const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};

const hostile = (target: object): object =>
  new Proxy(target, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail });

const getterError = (field: string): Error =>
  Object.defineProperty(new Error("m"), field, { get: fail, enumerable: true });

/** Makes whatever tool code can throw; made late, since a hostile value cannot be handled in between. */
const thrower = (): fc.Arbitrary<() => unknown> => {
  const plain = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
  });
  const special = fc.constantFrom<(() => unknown)[]>(
    () => fail,
    () => Symbol("s"),
    () => hostile({}),
    () => hostile(new Error("m")),
    () => revoked({}),
    () => revoked(() => undefined),
    () => getterError("message"),
    () => getterError("name"),
    () => getterError("stack"),
    () => getterError("cause"),
    () => getterError("code"),
    () => getterError("errors"),
    () => getterError("field"),
    () => Object.assign(new Error("m"), { errors: revoked([]) }),
    () => Object.assign(new Error("m"), { errors: hostile([]) }),
    () => Object.assign(new Error("m"), { cause: hostile({}) }),
    () => new DOMException("m", "AbortError"),
    () => new AggregateError([new Error("a"), 1, hostile({})], "m"),
    () => new SharedArrayBuffer(8),
    () => new WeakMap(),
    () => Promise.resolve(),
    () => Object.create(null) as object,
  );
  const fields = fc.record(
    { message: plain, name: plain, code: plain, errors: plain, extra: plain },
    { requiredKeys: [] },
  );
  const wrapped = fc.tuple(fields, special).map(
    ([given, makeCause]) =>
      () =>
        Object.assign(new Error("m"), given, { cause: makeCause() }),
  );
  return fc.oneof(
    plain.map((value) => () => value),
    special,
    wrapped,
  );
};

describe("protocol/error-codec", () => {
  it("encodeError() never throws and decodeError() makes an Error of it", () => {
    fc.assert(
      fc.property(thrower(), (make) => {
        const encoded = encodeError(make());
        expect(encoded.name).to.be.a("string");
        expect(encoded.message).to.be.a("string");
        const decoded = decodeError(structuredClone(encoded));
        expect(decoded).to.be.instanceOf(Error);
        expect(decoded.name).to.be.a("string");
        expect(decoded.message).to.be.a("string");
      }),
      { numRuns: 500 },
    );
  });

  it("encodeError() keeps name, code, message, stack and fields", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.oneof(fc.string(), fc.integer()),
        fc.dictionary(
          fc
            .string()
            .filter((key) => !["name", "message", "stack", "cause", "errors", "code", "__proto__"].includes(key)),
          fc.jsonValue(),
          { maxKeys: 20 },
        ),
        (name, message, code, fields) => {
          const error = Object.assign(new Error(message), fields, { code, stack: "the stack" });
          Object.defineProperty(error, "name", { value: name });
          const decoded = roundTrip(error) as unknown as Record<string, unknown>;
          expect(decoded).to.include({ name, message, code, stack: "the stack" });
          for (const [key, value] of Object.entries(fields)) expect(decoded[key]).to.deep.equal(value);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("decodeError() makes the built-in classes again", () => {
    for (const Constructor of [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
      const decoded = roundTrip(new Constructor("m"));
      expect(decoded).to.be.instanceOf(Constructor).with.property("message", "m");
    }
  });

  it("decodeError() keeps the name of a class that it does not know", () => {
    class QuotaError extends Error {
      override readonly name = "QuotaError";
      readonly left = 3;
    }
    const decoded = roundTrip(new QuotaError("m"));
    expect(decoded).to.include({ name: "QuotaError", left: 3 });
    expect(String(decoded)).to.equal("QuotaError: m");
  });

  for (const [name, Constructor] of Object.entries(ERROR_CLASSES)) {
    it(`decodeError() makes a ${name} again`, () => {
      const cause = new TypeError("because");
      const error = new Constructor("m", { code: "TIMED_OUT", details: { tool: "acme/tool", list: [1] }, cause });
      const decoded = roundTrip(error) as InstanceType<typeof Constructor>;
      expect(decoded).to.be.instanceOf(Constructor);
      expect(decoded).to.include({ name, message: "m", code: "TIMED_OUT", stack: error.stack });
      expect(decoded.details).to.deep.equal({ tool: "acme/tool", list: [1] });
      expect(decoded.cause).to.be.instanceOf(TypeError).with.property("message", "because");
    });
  }

  it("decodeError() keeps the outcome of a call's error", () => {
    expect(roundTrip(new ToolExecutionError("m", { outcome: "killed" }))).to.have.property("outcome", "killed");
    expect(roundTrip(new ToolCancelledError("m", { outcome: "unsettled" }))).to.have.property("outcome", "unsettled");
  });

  it("decodeError() keeps the violations and the schema of a ToolSchemaValidationError", () => {
    const errors = [{ instancePath: "/a", schemaPath: "/type", keyword: "type", message: "must be string" }];
    const decoded = roundTrip(new ToolSchemaValidationError("m", { errors, schema: { type: "string" } }));
    expect(decoded).to.be.instanceOf(ToolSchemaValidationError);
    expect(decoded).to.deep.include({ errors, schema: { type: "string" } });
  });

  it("decodeError() keeps an own field `errors` that holds no errors", () => {
    const issues = [{ path: ["a"], text: "is missing" }];
    const decoded = roundTrip(Object.assign(new Error("m"), { errors: issues }));
    expect((decoded as AggregateError).errors).to.deep.equal(issues);
  });

  it("encodeError() takes a DOMException, which a clone would empty", () => {
    const decoded = roundTrip(new DOMException("too slow", "TimeoutError"));
    expect(decoded).to.include({ name: "TimeoutError", message: "too slow", code: 23 });
  });

  it("encodeError() takes an error of another realm for one", () => {
    const foreign: unknown = runInNewContext(`Object.assign(new RangeError("far away"), { code: "E_FAR" })`);
    expect(foreign).not.to.be.instanceOf(Error);
    expect(roundTrip(foreign)).to.be.instanceOf(RangeError).and.include({ message: "far away", code: "E_FAR" });
  });

  it("encodeError() keeps name and message where the fields cannot be listed", () => {
    const secretive = new Proxy(new TypeError("m"), { ownKeys: fail });
    expect(encodeError(secretive)).to.include({ name: "TypeError", message: "m" }).and.not.have.property("fields");
  });

  it("encodeError() takes the members of an AggregateError", () => {
    const decoded = roundTrip(new AggregateError([new TypeError("a"), "b"], "both failed")) as AggregateError;
    expect(decoded).to.be.instanceOf(AggregateError).with.property("message", "both failed");
    expect(decoded.errors).to.have.length(2);
    expect(decoded.errors[0]).to.be.instanceOf(TypeError).with.property("message", "a");
    expect(decoded.errors[1]).to.include({ message: "b", thrown: "b" });
  });

  it("encodeError() follows causes, and a circle of them only so far", () => {
    const chain = new Error("outer", { cause: new RangeError("middle", { cause: new TypeError("inner") }) });
    const decoded = roundTrip(chain);
    expect(decoded.cause).to.be.instanceOf(RangeError).with.property("message", "middle");
    expect((decoded.cause as Error).cause)
      .to.be.instanceOf(TypeError)
      .with.property("message", "inner");

    const first = new Error("first");
    first.cause = new Error("second", { cause: first });
    let links = 0;
    for (let link: unknown = roundTrip(first); link instanceof Error; link = link.cause) links++;
    expect(links).to.be.within(2, 20);
  });

  it("encodeError() looks at a bounded number of members, however they branch", () => {
    let looks = 0;
    const error = new Error("m");
    const members = new Array<Error>(100).fill(error);
    Object.defineProperty(error, "errors", {
      get: () => {
        looks++;
        return looks > 20_000 ? undefined : members;
      },
    });
    encodeError(error);
    expect(looks).to.be.at.most(10_000);
  });

  it("encodeError() keeps what is thrown that is no Error", () => {
    for (const thrown of ["text", 7, 7n, null, true, { code: "E" }, [1, 2]]) {
      const decoded = roundTrip(thrown);
      expect(decoded).to.be.instanceOf(Error);
      expect((decoded as { thrown?: unknown }).thrown).to.deep.equal(thrown);
    }
    expect(roundTrip("text").message).to.equal("text");
    expect(roundTrip(undefined).message).to.include("undefined");
    expect(roundTrip(Symbol("s")).message).to.include("a symbol");
  });

  it("encodeError() lets a field that cannot travel cost that field only", () => {
    const error = Object.assign(new Error("m"), {
      callback: () => undefined,
      symbol: Symbol("s"),
      weak: new WeakMap(),
      shared: new SharedArrayBuffer(8),
      nested: { callback: () => undefined },
      proxy: new Proxy({}, {}),
      kept: { list: [1, new Date(0)] },
      nothing: null,
    });
    Object.defineProperty(error, "getter", { get: fail, enumerable: true });
    const decoded = roundTrip(error);
    expect(decoded.message).to.equal("m");
    expect(Object.keys(decoded)).to.have.members(["kept", "nothing"]);
    expect((decoded as unknown as { kept: unknown }).kept).to.deep.equal({ list: [1, new Date(0)] });
  });

  it("encodeError() lets no shared memory out, however deep it is hidden", () => {
    const shared = new SharedArrayBuffer(8);
    const error = Object.assign(new Error("m"), {
      inObject: { shared },
      inMap: new Map([["shared", shared]]),
      view: new Uint8Array(shared),
    });
    const holdsShared = (value: unknown): boolean =>
      value instanceof SharedArrayBuffer ||
      (ArrayBuffer.isView(value) && value.buffer instanceof SharedArrayBuffer) ||
      (value instanceof Map && [...value.values()].some(holdsShared)) ||
      (typeof value === "object" && value !== null && Object.values(value).some(holdsShared));
    expect(holdsShared(encodeError(error).fields)).to.equal(false);
    expect(holdsShared(encodeError({ shared }).thrown)).to.equal(false);
  });

  it("encodeError() keeps name and message where `errors` or `cause` cannot be read", () => {
    for (const broken of [revoked([]), hostile([])]) {
      expect(encodeError(Object.assign(new TypeError("m"), { errors: broken }))).to.include({
        name: "TypeError",
        message: "m",
      });
      expect(encodeError(Object.assign(new TypeError("m"), { cause: broken }))).to.include({
        name: "TypeError",
        message: "m",
      });
    }
  });

  it("encodeError() bounds texts and the number of fields", () => {
    const long = "x".repeat(1_000_000);
    const error = Object.assign(
      new Error(long),
      Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1])),
    );
    error.stack = long;
    const encoded = encodeError(error);
    expect(encoded.message.length).to.be.below(70_000);
    expect(encoded.message).to.include("(1000000 characters)");
    expect(encoded.stack?.length).to.be.below(70_000);
    expect(Object.keys(encoded.fields ?? {}).length).to.be.at.most(64);
  });

  it("decodeError() reaches no prototype by a field's name", () => {
    const error = new Error("m");
    Object.defineProperty(error, "__proto__", { value: { polluted: true }, enumerable: true });
    const decoded = roundTrip(error);
    expect(decoded).not.to.have.property("polluted");
    expect(Object.getPrototypeOf(decoded)).to.equal(Error.prototype);

    const made = JSON.parse(
      '{"name":"Error","message":"m","fields":{"__proto__":{"polluted":true},"constructor":1}}',
    ) as EncodedError;
    expect(Object.getPrototypeOf(decodeError(made))).to.equal(Error.prototype);
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(decodeError({ name, message: "m" }))
        .to.be.instanceOf(Error)
        .with.property("name", name);
    }
  });

  it("decodeError() survives whatever a cell made up", () => {
    const circle: { name: string; message: string; cause?: unknown } = { name: "Error", message: "m" };
    circle.cause = circle;
    const madeUp: unknown[] = [
      circle,
      { name: "Error", message: "m", fields: 5 },
      { name: "Error", message: "m", fields: null },
      { name: "Error", message: "m", errors: 5 },
      { name: "Error", message: "m", errors: [null] },
      { name: "Error", message: "m", cause: 5 },
      { name: 5, message: {} },
      {},
      null,
      undefined,
      5,
    ];
    for (const encoded of madeUp) expect(decodeError(encoded as EncodedError)).to.be.instanceOf(Error);
  });

  it("encodeError() knows a toolcell error by its name only after it was restored", () => {
    const decoded = roundTrip(Object.assign(new Error("m"), { name: "ToolRuntimeError" }));
    expect(decoded).to.be.instanceOf(ToolRuntimeError);
    expect(decoded).to.have.property("code", "RUNTIME_ERROR");
  });
});
