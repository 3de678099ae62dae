/** What a caller without types can do to a runtime: it gets a typed error, and nothing is lost. */
import { inspect } from "node:util";
import { expect } from "chai";
import {
  defineTool,
  ToolLifecycleCache,
  validateToolInput,
  validateToolOutput,
  type ExecuteOptions,
  type ToolExecutionContext,
  type ToolRuntime,
} from "../../src/index.js";
import { isToolcellError } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite, specOf } from "../support/runtimes.js";
import { WRONG_VALUES, wrongValues } from "../support/wrong-values.js";

type Case = readonly [label: string, run: (runtime: ToolRuntime) => unknown];

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Each wrong value in the place that `run` gives it. */
const each = (run: (runtime: ToolRuntime, value: never) => unknown, values = WRONG_VALUES): Case[] =>
  values.map(([label, value]) => [label, (runtime) => run(runtime, value as never)]);

const notAText = wrongValues((value) => typeof value !== "string");
const notAnObject = wrongValues((value) => value !== undefined && !isObject(value));
const given = wrongValues((value) => value !== undefined);

/** Each value as the field of an object of its own. */
const fields = (name: string, values: readonly unknown[]): (readonly [string, unknown])[] =>
  values.map((value) => [`${name}: ${inspect(value).slice(0, 30)}`, { [name]: value }]);

const OPTIONS: readonly (readonly [string, unknown])[] = [
  ...notAnObject,
  ...fields("signal", [null, {}, new AbortController()]),
  ...fields("timeoutMs", [0, -1, NaN, Infinity, 2 ** 31, "5", null, {}]),
  ...fields("callId", ["", "x".repeat(257), 5, null, {}]),
  ...fields("transfer", [5, {}, [5], [null], [new Uint8Array(8)], new ArrayBuffer(8), [new SharedArrayBuffer(8)]]),
];

describe("runtime: bad input", () => {
  const newRuntime = runtimesOfSuite();

  /** A runtime with one tool that works. */
  const runtimeWithTool = (): ToolRuntime => {
    const runtime = newRuntime();
    registerMock(runtime, "acme/good");
    return runtime;
  };

  /** What is left behind would show as another grant, another tool or a lost one. */
  const expectIntact = async (runtime: ToolRuntime, label: string): Promise<void> => {
    expect(
      runtime.list().map(({ name }) => name),
      label,
    ).to.deep.equal(["acme/good"]);
    for (const readOnly of [true, false]) {
      const context = contextOf("p", { readOnly });
      const { success } = await runtime.execute("acme/good", {}, context, { callId: "mine" });
      expect(success, label).to.equal(true);
      await runtime.deactivatePlan("p");
    }
    expect(runtime.cache.planCount, label).to.equal(0);
  };

  const outcomeOf = async (run: () => unknown): Promise<string> => {
    try {
      return `answered with ${typeof (await run())}`;
    } catch (error) {
      return isToolcellError(error) ? "a toolcell error" : `threw ${String(error)}`;
    }
  };

  const expectRefused = async (cases: readonly Case[], alsoNothing = false): Promise<void> => {
    const runtime = runtimeWithTool();
    const wrong: string[] = [];
    for (const [label, run] of cases) {
      const outcome = await outcomeOf(() => run(runtime));
      const answered = outcome.startsWith("answered");
      if (outcome !== "a toolcell error" && !(alsoNothing && answered)) wrong.push(`${label}: ${outcome}`);
      try {
        await expectIntact(runtime, label);
      } catch (error) {
        wrong.push(`${label}: lost something: ${String(error)}`);
        for (const { name } of runtime.list()) if (name !== "acme/good") runtime.unregister(name);
        await runtime.deactivatePlan("p");
      }
    }
    expect(wrong).to.deep.equal([]);
  };

  const good = (): ToolExecutionContext => contextOf("p");
  const tool = defineTool({ name: "acme/other", description: "", inputSchema: {}, execute: () => 1 });

  it("register() refuses what is no specification", async () => {
    await expectRefused(each((runtime, value) => runtime.register(value, { execute: () => 1 })));
  });

  it("register() refuses what is no implementation", async () => {
    await expectRefused(each((runtime, value) => runtime.register(specOf("acme/new"), value)));
  });

  it("register() refuses what are no options of a tool", async () => {
    await expectRefused(
      each(
        (runtime, value) => runtime.register(tool, value),
        notAnObject.filter(([, value]) => value !== null),
      ),
    );
  });

  it("registerModule() refuses what is no module", async () => {
    await expectRefused(each((runtime, value) => runtime.registerModule(value), notAText));
  });

  it("registerModule() refuses a text that names no module", async () => {
    const modules = ["https://example.org/tool.js", "node:fs", "file://example.org/tool.js", "data:text/javascript,1"];
    await expectRefused(modules.map((module) => [module, (runtime) => runtime.registerModule(module)]));
  });

  it("registerModule() refuses what are no options", async () => {
    await expectRefused(each((runtime, value) => runtime.registerModule("./none.js", value), notAnObject));
  });

  it("use() refuses what is no provider", async () => {
    await expectRefused(each((runtime, value) => runtime.use(value)));
  });

  it("use() refuses what is no list of tools", async () => {
    await expectRefused([
      ...each((runtime, tools) => runtime.use({ name: "mine", tools })),
      ...each(
        (runtime, value) => runtime.use({ name: "mine", tools: () => value }),
        wrongValues((value) => !Array.isArray(value) && value !== ""),
      ),
      ...each((runtime, value) => runtime.use({ name: "mine", tools: () => [value] })),
      ...each((runtime, executor) =>
        runtime.use({ name: "mine", tools: () => [{ spec: specOf("acme/new"), executor }] }),
      ),
    ]);
  });

  it("discover() refuses what is no tool and what is no context", async () => {
    await expectRefused([
      ...each((runtime, value) => runtime.discover(value)),
      ...each((runtime, value) => runtime.discover("acme/good", value), given),
    ]);
  });

  it("activate() refuses what is no tool and what is no context", async () => {
    await expectRefused([
      ...each((runtime, value) => runtime.activate(value, good())),
      ...each((runtime, value) => runtime.activate("acme/good", value)),
    ]);
  });

  it("execute() refuses what is no tool", async () => {
    await expectRefused(each((runtime, value) => runtime.execute(value, {} as never, good())));
  });

  it("execute() refuses what is no context", async () => {
    await expectRefused(each((runtime, value) => runtime.execute("acme/good", {}, value)));
  });

  it("execute() refuses wrong options", async () => {
    await expectRefused(
      each((runtime, value: ExecuteOptions) => runtime.execute("acme/good", {}, good(), value), OPTIONS),
    );
  });

  it("plan() refuses what is no context", async () => {
    await expectRefused(each((runtime, value) => runtime.plan(value)));
  });

  it("deactivate() refuses what is no tool, no plan and no options", async () => {
    await expectRefused(each((runtime, value) => runtime.deactivate(value, "p"), notAText));
    await expectRefused(
      each((runtime, value) => runtime.deactivate("acme/good", value)),
      true,
    );
    await expectRefused(
      each((runtime, value) => runtime.deactivate("acme/good", "p", value), given),
      true,
    );
  });

  it("deactivatePlan() takes what is no plan for none, and refuses what are no options", async () => {
    await expectRefused(
      each((runtime, value) => runtime.deactivatePlan(value)),
      true,
    );
    await expectRefused(
      each((runtime, value) => runtime.deactivatePlan("p", value), given),
      true,
    );
  });

  it("get(), unregister(), cacheStats() and list() find nothing under what is no name", async () => {
    await expectRefused(
      [
        ...each((runtime, value) => expect(runtime.get(value)).to.equal(undefined)),
        ...each((runtime, value) => expect(runtime.unregister(value)).to.equal(false)),
        ...each((runtime, value) => expect(runtime.cacheStats(value).activeTools).to.equal(0)),
        ...each((runtime, value) => runtime.list(value)),
      ],
      true,
    );
  });

  it("on() and off() refuse what is no listener", async () => {
    await expectRefused(
      each(
        (runtime, value) => runtime.on("log", value),
        wrongValues((value) => typeof value !== "function"),
      ),
    );
    await expectRefused(
      each(
        (runtime, value) => runtime.off("log", value),
        wrongValues((value) => typeof value !== "function"),
      ),
      true,
    );
  });

  it("close() refuses wrong options and can still be closed", async () => {
    const wrong: string[] = [];
    const cases: readonly (readonly [string, unknown])[] = [
      ...notAnObject,
      ...fields("graceMs", [-1, NaN, Infinity, "5", null, {}, 2 ** 31]),
    ];
    for (const [label, options] of cases) {
      const runtime = runtimeWithTool();
      let closing: unknown;
      try {
        closing = runtime.close(options as never);
      } catch (error) {
        wrong.push(`${label}: threw at once: ${String(error)}`);
      }
      const outcome = await outcomeOf(() => closing);
      if (outcome !== "a toolcell error") wrong.push(`${label}: ${outcome}`);
      else await expectIntact(runtime, label);
      expect(await runtime.close()).to.deep.equal({ quarantined: 0 });
    }
    expect(wrong).to.deep.equal([]);
  });

  it("plan.execute(), plan.activate() and plan.deactivate() refuse what the runtime refuses", async () => {
    const planOf = (runtime: ToolRuntime) => runtime.plan({ planId: "p" });
    await expectRefused([
      ...each((runtime, value) => planOf(runtime).execute(value, {} as never)),
      ...each((runtime, value) => planOf(runtime).execute("acme/good", {}, value), OPTIONS),
      ...each((runtime, value) => planOf(runtime).activate(value)),
    ]);
    await expectRefused(
      each((runtime, value) => planOf(runtime).deactivate(value), given),
      true,
    );
  });

  it("validateToolInput() and validateToolOutput() refuse what is no specification", async () => {
    await expectRefused([
      ...each((_runtime, value) => validateToolInput(value, {})),
      ...each((_runtime, value) => validateToolOutput(value, {}), notAnObject),
      ...each((_runtime, value) => validateToolOutput(value, {}), [["undefined", undefined]]),
      ...each(
        (_runtime, inputSchema) => validateToolInput({ name: "acme/new", inputSchema }, {}),
        notAnObject.filter(([, value]) => value !== true),
      ),
    ]);
  });

  it("ToolLifecycleCache finds nothing under what is no name", async () => {
    const cache = new ToolLifecycleCache<number>();
    for (const [label, value] of WRONG_VALUES) {
      const name = value as string;
      expect(cache.get(name, name), label).to.equal(undefined);
      expect(cache.remove(name, name), label).to.equal(undefined);
      expect(cache.removePlan(name).size, label).to.equal(0);
      expect(cache.planTools(name), label).to.deep.equal([]);
      expect(cache.stats(name).activeTools, label).to.equal(0);
      cache.incrementExecution(name, name);
    }
    expect(cache).to.include({ planCount: 0, size: 0 });
  });

  it("an asynchronous function never throws at once", async () => {
    const runtime = runtimeWithTool();
    const wrong: string[] = [];
    const calls: Record<string, () => unknown> = {
      registerModule: () => runtime.registerModule(null as never, null as never),
      use: () => runtime.use(null as never),
      discover: () => runtime.discover(null as never),
      activate: () => runtime.activate(null as never, null as never),
      execute: () => runtime.execute(null as never, null, null as never, null as never),
      deactivate: () => runtime.deactivate(null as never, null as never, null as never),
      deactivatePlan: () => runtime.deactivatePlan(null as never, null as never),
      close: () => runtime.close(null as never),
    };
    for (const [name, call] of Object.entries(calls)) {
      try {
        await Promise.resolve(call()).catch(() => undefined);
      } catch (error) {
        wrong.push(`${name}: ${String(error)}`);
      }
    }
    expect(wrong).to.deep.equal([]);
  });
});
