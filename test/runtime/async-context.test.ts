/** In whose async context tool code runs. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect } from "chai";
import { afterReadyWork, deferred } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

describe("runtime: async context", () => {
  const newRuntime = runtimesOfSuite();
  const storage = new AsyncLocalStorage<string>();

  it("execute() runs an inline tool in its caller's context", async () => {
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool", { execute: () => storage.getStore() });
    const context = contextOf("p");
    await runtime.activate("acme/tool", context);
    const { output } = await storage.run("mine", () => runtime.execute("acme/tool", {}, context));
    expect(output).to.equal("mine");
    expect((await runtime.execute("acme/tool", {}, context)).output).to.equal(undefined);
  });

  it("execute() keeps the context in what the tool does later", async () => {
    const runtime = newRuntime();
    const execute = async () => {
      const seen = [storage.getStore()];
      await Promise.resolve();
      seen.push(storage.getStore());
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(storage.getStore());
      return seen;
    };
    registerMock(runtime, "acme/tool", { execute });
    const { output } = await storage.run("mine", () => runtime.execute("acme/tool", {}, contextOf("p")));
    expect(output).to.deep.equal(["mine", "mine", "mine"]);
  });

  it("execute() gives each of the calls that travel together its own caller's context", async () => {
    const runtime = newRuntime();
    registerMock(runtime, "acme/tool", { execute: () => storage.getStore() });
    const context = contextOf("p");
    await runtime.activate("acme/tool", context);
    const names = ["a", "b", "c", "d"];
    const calls = names.map((name) => storage.run(name, () => runtime.execute("acme/tool", {}, context)));
    expect((await Promise.all(calls)).map(({ output }) => output)).to.deep.equal(names);
  });

  it("execute() runs a call that waited for its activation in its own caller's context", async () => {
    const runtime = newRuntime();
    const gate = deferred();
    registerMock(runtime, "acme/tool", { activate: () => gate.promise, execute: () => storage.getStore() });
    const context = contextOf("p");
    const names = ["a", "b"];
    const calls = names.map((name) => storage.run(name, () => runtime.execute("acme/tool", {}, context)));
    await afterReadyWork();
    storage.run("somebody else", () => gate.resolve());
    expect((await Promise.all(calls)).map(({ output }) => output)).to.deep.equal(names);
  });

  it("execute() runs a call that waited for its turn in its own caller's context", async () => {
    const runtime = newRuntime({ maxActiveCalls: 1 });
    const gate = deferred();
    const execute = async (input: unknown) => {
      if (input === "first") await gate.promise;
      return storage.getStore();
    };
    registerMock(runtime, "acme/tool", { execute });
    const context = contextOf("p");
    const names = ["first", "second", "third"];
    const calls = names.map((name) => storage.run(name, () => runtime.execute("acme/tool", name, context)));
    await afterReadyWork();
    gate.resolve();
    expect((await Promise.all(calls)).map(({ output }) => output)).to.deep.equal(names);
  });

  it("execute() gives its caller its own context back", async () => {
    const runtime = newRuntime({ maxActiveCalls: 1 });
    registerMock(runtime, "acme/tool", { execute: () => storage.run("inside", () => Promise.resolve("done")) });
    const context = contextOf("p");
    const after = (name: string) =>
      storage.run(name, async () => {
        await runtime.execute("acme/tool", {}, context);
        return storage.getStore();
      });
    expect(await Promise.all(["a", "b", "c"].map(after))).to.deep.equal(["a", "b", "c"]);
  });

  it("a nested call runs in the context of the tool that made it", async () => {
    const runtime = newRuntime();
    registerMock(runtime, "acme/inner", { execute: () => storage.getStore() });
    registerMock(runtime, "acme/outer", { execute: async (_input, { call }) => (await call("acme/inner", {})).output });
    const { output } = await storage.run("mine", () => runtime.execute("acme/outer", {}, contextOf("p")));
    expect(output).to.equal("mine");
  });

  it("listeners do not make the tool's context theirs", async () => {
    const runtime = newRuntime();
    const seen: (string | undefined)[] = [];
    runtime.on("log", () => storage.run("listener", () => seen.push(storage.getStore())));
    const execute = (_input: unknown, { log }: { log: { info(message: string): void } }) => {
      log.info("hello");
      return storage.getStore();
    };
    registerMock(runtime, "acme/tool", { execute });
    const { output } = await storage.run("mine", () => runtime.execute("acme/tool", {}, contextOf("p")));
    expect(seen).to.deep.equal(["listener"]);
    expect(output).to.equal("mine");
  });
});
