/** What may cross into and out of a cell, and what may not. */
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { ToolExecutionError } from "../../src/index.js";
import type { Bed } from "./tier-bed.js";
import { rejection, type Loose } from "./recorder.js";

class Secretive {
  readonly #content = "lost";
  get content(): string {
    return this.#content;
  }
}

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const trap = (name: string): object =>
  new Proxy(
    {},
    {
      [name]: () => {
        throw new RangeError("the trap throws");
      },
    },
  );

/** Inputs that may not enter a cell. */
const REFUSED_INPUTS: Readonly<Record<string, () => unknown>> = {
  "a function": () => () => undefined,
  "a symbol": () => Symbol("s"),
  "a WeakMap": () => new WeakMap(),
  "a WeakRef": () => new WeakRef({}),
  "a promise": () => Promise.resolve(1),
  "an instance with private state": () => new Secretive(),
  "shared memory": () => new SharedArrayBuffer(8),
  "a view of shared memory": () => new Int32Array(new SharedArrayBuffer(8)),
  "a getter that throws": () => ({
    get broken(): never {
      throw new RangeError("the getter throws");
    },
  }),
  "a proxy": () => new Proxy({ a: 1 }, {}),
  "a proxy whose keys throw": () => trap("ownKeys"),
  "a proxy whose prototype throws": () => trap("getPrototypeOf"),
  "200,000 levels": () => nested(200_000),
  "a function in a map": () => new Map([["key", () => undefined]]),
  "a detached buffer": () => {
    const view = new Uint8Array(8);
    structuredClone(view.buffer, { transfer: [view.buffer] });
    return view;
  },
};

const TRAVELS: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["false", false],
  ["zero", 0],
  ["minusZero", -0],
  ["nan", NaN],
  ["text", "text"],
  ["empty", ""],
  ["bigint", 2n ** 80n],
  ["date", new Date(1_234_567_890_123)],
  ["regexp", /a+b/giu],
  [
    "map",
    new Map<unknown, unknown>([
      ["one", 1],
      [{ key: true }, new Map([[2, "two"]])],
    ]),
  ],
  ["set", new Set([1, "two", null])],
  ["bytes", new Uint8Array([1, 2, 255])],
  ["view", new Uint8Array([1, 2])],
  ["nullPrototype", { own: 1 }],
  ["instance", { x: 1, y: 2 }],
  ["otherRealm", { list: [1, 2], map: new Map([[1, 2]]), date: new Date(0) }],
];

export function describePayload(bed: Bed): void {
  const echo = async (value: unknown, transfer?: ArrayBuffer[]): Promise<Loose> => {
    await bed.tools("misbehave");
    const options = transfer && { transfer };
    return (await bed.plan().execute("fixture/misbehave", { do: "echo", value }, options)).output;
  };

  describe("payloads", () => {
    it("outputs of every kind that can be copied arrive as they are", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      for (const [kind, expected] of TRAVELS) {
        const { success, output } = await plan.execute("fixture/answers", { kind });
        expect(success, kind).to.equal(true);
        expect(output, kind).to.deep.equal(expected);
      }
      const { output: minusZero } = await plan.execute("fixture/answers", { kind: "minusZero" });
      expect(Object.is(minusZero, -0)).to.equal(true);
      const { output: sparse } = await plan.execute("fixture/answers", { kind: "sparse" });
      expect(Object.keys(sparse as object)).to.deep.equal(["1"]);
      const { output: error } = await plan.execute("fixture/answers", { kind: "error" });
      expect((error as { inside: Error }).inside)
        .to.be.instanceOf(RangeError)
        .with.property("message", "inside");
    });

    it("inputs of every kind that can be copied arrive as they are", async () => {
      const value = Object.fromEntries(TRAVELS);
      const returned = await echo(value);
      expect(returned).to.deep.equal(value);
      expect(returned).not.to.equal(value);
    });

    it("cycles and objects met twice keep their form, both ways", async () => {
      const value: { self?: unknown; twice: object[] } = { twice: [] };
      const shared = { here: true };
      value.self = value;
      value.twice.push(shared, shared);
      const returned = await echo(value);
      expect(returned.self).to.equal(returned);
      expect(returned.twice[0]).to.equal(returned.twice[1]).and.to.deep.equal(shared);
    });

    it("inputs of another realm enter a cell", async () => {
      expect(await echo(runInNewContext("({ list: [1, { two: 2 }], map: new Map([[1, 2]]) })"))).to.deep.equal({
        list: [1, { two: 2 }],
        map: new Map([[1, 2]]),
      });
    });

    it("inputs are copies: what the tool does to its input stays in the cell", async () => {
      await bed.tools("misbehave");
      const value = { list: ["from the caller"] };
      const { output } = await bed.plan().execute("fixture/misbehave", { do: "mutate", value });
      expect(output).to.deep.equal({ list: ["from the caller", "from the tool"], extra: "from the tool" });
      expect(value).to.deep.equal({ list: ["from the caller"] });
    });

    it("inputs are copies: what the caller does to its input after the call never reaches the tool", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const call = (input: { value: unknown }, change: () => void, transfer: ArrayBuffer[] = []): Promise<unknown> => {
        const result = plan.execute("fixture/misbehave", { do: "echo", ...input }, { transfer });
        change();
        return result.then(({ output }) => output);
      };
      const flat = (): Promise<unknown> => {
        const input = { do: "echo", value: "given" };
        const result = plan.execute("fixture/misbehave", input);
        input.do = "nothing that it knows";
        return result.then(({ output }) => output);
      };
      const deep = (transfer?: ArrayBuffer[]): Promise<unknown> => {
        const value = { list: ["given"] };
        return call({ value }, () => value.list.push("changed"), transfer);
      };
      const all = (): Promise<unknown>[] => [flat(), deep(), deep(), flat()];
      const expected = ["given", { list: ["given"] }, { list: ["given"] }, "given"];
      expect(await Promise.all(all()), "while the tool is being activated").to.deep.equal(expected);
      expect(await Promise.all(all()), "behind one another").to.deep.equal(expected);
      expect([await flat(), await deep(), await deep([new ArrayBuffer(8)])], "alone").to.deep.equal([
        "given",
        { list: ["given"] },
        { list: ["given"] },
      ]);
    });

    it("large payloads pass both ways, their size in the trace", async () => {
      await bed.tools("misbehave", "answers");
      const plan = bed.plan();
      const value = { text: "x".repeat(4_000_000), numbers: Array.from({ length: 200_000 }, (_none, index) => index) };
      const echoed = await plan.execute("fixture/misbehave", { do: "echo", value });
      expect(echoed.output).to.deep.equal(value);
      expect(echoed.trace.resultSizeBytes).to.be.at.least(5_600_000);
      const { output } = await plan.execute("fixture/answers", { kind: "records", size: 50_000 });
      expect(output).to.have.length(50_000);
    });

    it("an input's buffers are copied unless they are listed in `transfer`", async () => {
      const buffer = new Uint8Array([1, 2, 3]).buffer;
      expect(await echo(buffer)).to.deep.equal(new Uint8Array([1, 2, 3]).buffer);
      expect(buffer.byteLength).to.equal(3);
    });

    it("`transfer` hands an input's buffer over: it is detached here and whole there", async () => {
      const buffer = new Uint8Array([1, 2, 3]).buffer;
      const returned = await echo({ view: new Uint8Array(buffer, 1) }, [buffer]);
      expect([...returned.view]).to.deep.equal([2, 3]);
      expect(buffer.byteLength).to.equal(0);
    });

    it("`transfer` of a buffer twice, or of one that is detached, is refused without reaching the tool", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const twice = new ArrayBuffer(8);
      const detached = new ArrayBuffer(8);
      structuredClone(detached, { transfer: [detached] });
      for (const transfer of [[twice, twice], [detached]]) {
        const input = { do: "echo", value: transfer };
        const { error, trace } = await plan.execute("fixture/misbehave", input, { transfer });
        expect(error).to.include({ code: "INPUT_NOT_CLONEABLE" });
        expect(trace.outcome).to.equal("invalid_input");
      }
      expect(bed.recorder.count("started")).to.equal(0);
      expect((await plan.execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
    });

    it("toolResult() hands an output's buffer over: it is detached in the cell and whole here", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      const { output } = await plan.execute("fixture/answers", { kind: "transfer", size: 1_000_000 });
      const { buffer } = output as { buffer: ArrayBuffer };
      expect(buffer.byteLength).to.equal(1_000_000);
      expect(new Uint8Array(buffer)[999_999]).to.equal(7);
      expect((await plan.execute("fixture/answers", { kind: "handedOver" })).output).to.equal(0);
      const twice = await rejection(plan.execute("fixture/answers", { kind: "transferTwice", size: 8 }));
      expect(twice).to.include({ code: "RESULT_NOT_CLONEABLE", outcome: "threw" });
    });

    for (const [what, make] of Object.entries(REFUSED_INPUTS)) {
      it(`${what} in an input is an invalid input that never reaches the tool`, async () => {
        await bed.tools("misbehave");
        const plan = bed.plan();
        const result = await plan.execute("fixture/misbehave", { do: "echo", value: { deep: [make()] } });
        expect(result.success).to.equal(false);
        expect(result.error?.message).to.match(/^Input validation failed for tool "fixture\/misbehave"/);
        expect(result.error?.code).to.equal(what === "200,000 levels" ? "INPUT_TOO_LARGE" : "INPUT_NOT_CLONEABLE");
        expect(result.trace.outcome).to.equal("invalid_input");
        expect(bed.recorder.count("started")).to.equal(0);
        expect((await plan.execute("fixture/misbehave", { do: "echo", value: 1 })).output).to.equal(1);
      });
    }

    it("an input over the bound on values is an invalid input", async () => {
      bed.open({ maxPayloadValues: 1_000_000 });
      await bed.tools("misbehave");
      const plan = bed.plan();
      const value: Record<string, number> = {};
      for (let index = 0; index <= 1_000_000; index++) value[`k${index}`] = index;
      const { error, trace } = await plan.execute("fixture/misbehave", { do: "echo", value });
      expect(error).to.include({ code: "INPUT_TOO_LARGE" });
      expect(error?.message).to.match(/^Input validation failed/);
      expect(trace.outcome).to.equal("invalid_input");
    });

    it("one input that cannot be copied costs its own call only", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      await plan.activate("fixture/misbehave");
      const values = [1, new Proxy({}, {}), 2, new Proxy([], {}), 3];
      const settled = await Promise.allSettled(
        values.map((value) => plan.execute("fixture/misbehave", { do: "echo", value })),
      );
      expect(
        settled.map((one) => (one.status === "fulfilled" ? (one.value.error?.code ?? one.value.output) : one.reason)),
      ).to.deep.equal([1, "INPUT_NOT_CLONEABLE", 2, "INPUT_NOT_CLONEABLE", 3]);
    });

    it("an output that cannot be copied is refused by name, and the cell goes on", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      const kinds = [
        ...["function", "functionItself", "symbol", "symbolItself", "weakMap", "weakSet", "weakRef", "secretive"],
        ...["shared", "sharedView", "nestedPromise", "generator", "proxy", "mapWithFunction"],
      ];
      for (const kind of kinds) {
        const error = await rejection(plan.execute("fixture/answers", { kind }));
        expect(error, kind).to.be.instanceOf(ToolExecutionError);
        expect(error, kind).to.include({ code: "RESULT_NOT_CLONEABLE", outcome: "threw" });
        expect(error.message, kind).to.contain("fixture/answers");
      }
      const results = await plan.execute("fixture/answers", { kind: "text" });
      expect(results.output).to.equal("text");
      expect(bed.runtime.cacheStats(plan.planId).tools["fixture/answers"]?.activationCount).to.equal(1);
    });

    it("an output whose getter or trap throws ends its call only, with that error as the cause", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      for (const [kind, message] of [
        ["getter", "the getter throws"],
        ["trap", "the trap throws"],
      ]) {
        const error = await rejection(plan.execute("fixture/answers", { kind }));
        expect(error).to.be.instanceOf(ToolExecutionError).with.property("outcome", "threw");
        expect(error.message).to.contain(message);
      }
      expect((await plan.execute("fixture/answers", { kind: "text" })).output).to.equal("text");
      expect(bed.runtime.cacheStats(plan.planId).tools["fixture/answers"]?.activationCount).to.equal(1);
    });

    it("an output over the bounds on depth, values and bytes is refused, and the cell goes on", async () => {
      bed.open({ maxPayloadValues: 100_000, maxResultBytes: 10_000_000 });
      await bed.tools("answers");
      const plan = bed.plan();
      for (const [kind, size] of [
        ["deep", 0],
        ["wide", 100_001],
        ["numbers", 100_001],
        ["longText", 10_000_001],
      ] as const) {
        const error = await rejection(plan.execute("fixture/answers", { kind, size }));
        expect(error, kind).to.be.instanceOf(ToolExecutionError);
        expect(error, kind).to.include({ code: "RESULT_TOO_LARGE", outcome: "threw" });
      }
      expect((await plan.execute("fixture/answers", { kind: "numbers", size: 99_999 })).success).to.equal(true);
      expect(bed.runtime.cacheStats(plan.planId).tools["fixture/answers"]?.activationCount).to.equal(1);
    });

    it("one output that cannot be copied costs its own call only", async () => {
      await bed.tools("answers");
      const plan = bed.plan();
      await plan.activate("fixture/answers");
      const kinds = ["text", "proxy", "zero", "function", "empty"];
      const settled = await Promise.allSettled(kinds.map((kind) => plan.execute("fixture/answers", { kind })));
      const outputs = settled.map((one) => (one.status === "fulfilled" ? one.value.output : one.reason.code));
      expect(outputs).to.deep.equal(["text", "RESULT_NOT_CLONEABLE", 0, "RESULT_NOT_CLONEABLE", ""]);
    });
  });
}
