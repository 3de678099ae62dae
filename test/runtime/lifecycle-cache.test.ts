import { expect } from "chai";
import fc from "fast-check";
import { ToolLifecycleCache } from "../../src/runtime/lifecycle-cache.js";

const TRICKY = ["__proto__", "constructor", "toString", "hasOwnProperty", ""];

describe("runtime/lifecycle-cache", () => {
  it("put() and get() hold one instance for each tool of each plan", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p1", "a/x", 1);
    cache.put("p1", "a/y", 2);
    cache.put("p2", "a/x", 3);
    expect([cache.get("p1", "a/x"), cache.get("p1", "a/y"), cache.get("p2", "a/x")]).to.deep.equal([1, 2, 3]);
    expect(cache.get("p2", "a/y")).to.equal(undefined);
    expect(cache.get("p3", "a/x")).to.equal(undefined);
    expect(cache).to.include({ planCount: 2, size: 3 });
  });

  it("put() replaces", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p", "a/x", 1);
    cache.put("p", "a/x", 2, 2);
    expect(cache.get("p", "a/x")).to.equal(2);
    expect(cache).to.include({ planCount: 1, size: 1 });
    expect(cache.stats("p").tools["a/x"]).to.include({ activationCount: 2 });
  });

  it("remove() gives back what it removed and forgets an empty plan", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p", "a/x", 1);
    cache.put("p", "a/y", 2);
    expect(cache.remove("p", "a/x")).to.equal(1);
    expect(cache.remove("p", "a/x")).to.equal(undefined);
    expect(cache.remove("q", "a/x")).to.equal(undefined);
    expect(cache).to.include({ planCount: 1, size: 1 });
    expect(cache.remove("p", "a/y")).to.equal(2);
    expect(cache).to.include({ planCount: 0, size: 0 });
  });

  it("removePlan() gives back what it removed", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p", "a/x", 1);
    cache.put("p", "a/y", 2);
    cache.put("q", "a/x", 3);
    expect([...cache.removePlan("p")]).to.deep.equal([
      ["a/x", 1],
      ["a/y", 2],
    ]);
    expect([...cache.removePlan("p")]).to.deep.equal([]);
    expect(cache).to.include({ planCount: 1, size: 1 });
    expect(cache.planTools("p")).to.deep.equal([]);
    expect(cache.planTools("q")).to.deep.equal(["a/x"]);
  });

  it("stats() counts executions and says since when", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p", "a/x", 1);
    cache.put("p", "a/y", 2);
    cache.incrementExecution("p", "a/x");
    cache.incrementExecution("p", "a/x");
    const { activeTools, tools } = cache.stats("p");
    expect(activeTools).to.equal(2);
    expect(Object.keys(tools)).to.deep.equal(["a/x", "a/y"]);
    expect(tools["a/x"]).to.include({ executionCount: 2, activationCount: 1 });
    expect(tools["a/y"]).to.include({ executionCount: 0 });
    const activatedAt = tools["a/x"]?.activatedAt ?? "";
    expect(new Date(activatedAt).toISOString()).to.equal(activatedAt);
  });

  it("stats() of a plan without tools is empty", () => {
    const cache = new ToolLifecycleCache<number>();
    const { activeTools, tools } = cache.stats("nobody");
    expect(activeTools).to.equal(0);
    expect(Object.keys(tools)).to.deep.equal([]);
  });

  it("stats() does not change with the cache, nor the cache with it", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.put("p", "a/x", 1);
    const before = cache.stats("p");
    cache.incrementExecution("p", "a/x");
    expect(before.tools["a/x"]?.executionCount).to.equal(0);
    (before.tools as Record<string, unknown>)["a/x"] = undefined;
    expect(cache.stats("p").tools["a/x"]?.executionCount).to.equal(1);
  });

  it("incrementExecution() counts nothing for what is not cached", () => {
    const cache = new ToolLifecycleCache<number>();
    cache.incrementExecution("p", "a/x");
    cache.put("p", "a/x", 1);
    cache.incrementExecution("p", "a/y");
    cache.incrementExecution("q", "a/x");
    expect(cache.stats("p").tools["a/x"]?.executionCount).to.equal(0);
    expect(cache.planCount).to.equal(1);
  });

  it("names of Object.prototype are names like others", () => {
    const cache = new ToolLifecycleCache<number>();
    for (const name of TRICKY) {
      expect(cache.get(name, name)).to.equal(undefined);
      expect(cache.stats(name).tools[name]).to.equal(undefined);
    }
    for (const [index, name] of TRICKY.entries()) cache.put(name, name, index);
    for (const [index, name] of TRICKY.entries()) {
      cache.incrementExecution(name, name);
      expect(cache.get(name, name)).to.equal(index);
      expect(Object.keys(cache.stats(name).tools)).to.deep.equal([name]);
      expect(cache.stats(name)).to.have.property("activeTools", 1);
      expect(cache.stats(name).tools[name]?.executionCount).to.equal(1);
    }
  });

  it("behaves as a map of maps", () => {
    const key = fc.constantFrom("a", "b", "c", ...TRICKY);
    const step = fc.record({ action: fc.constantFrom("put", "remove", "removePlan", "count"), plan: key, tool: key });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = new ToolLifecycleCache<number>();
        const model = new Map<string, Map<string, { value: number; executions: number }>>();
        for (const [value, { action, plan, tool }] of steps.entries()) {
          const tools = model.get(plan);
          if (action === "put") {
            cache.put(plan, tool, value);
            model.set(plan, (tools ?? new Map()).set(tool, { value, executions: 0 }));
          } else if (action === "remove") {
            expect(cache.remove(plan, tool)).to.equal(tools?.get(tool)?.value);
            tools?.delete(tool);
          } else if (action === "removePlan") {
            expect(cache.removePlan(plan).size).to.equal(tools?.size ?? 0);
            tools?.clear();
          } else {
            cache.incrementExecution(plan, tool);
            const entry = tools?.get(tool);
            if (entry) entry.executions++;
          }
          if (model.get(plan)?.size === 0) model.delete(plan);
          expect(cache.planCount).to.equal(model.size);
          expect(cache.size).to.equal([...model.values()].reduce((sum, { size }) => sum + size, 0));
          for (const [planId, entries] of model) {
            expect(cache.planTools(planId)).to.have.members([...entries.keys()]);
            const { activeTools, tools: stats } = cache.stats(planId);
            expect(activeTools).to.equal(entries.size);
            for (const [name, entry] of entries) {
              expect(cache.get(planId, name)).to.equal(entry.value);
              expect(stats[name]?.executionCount).to.equal(entry.executions);
            }
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
