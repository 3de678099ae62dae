import { expect } from "chai";
import { rejection } from "../../contract/recorder.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { runHost } from "../../fixtures/hosts/run-host.js";
import { attempt, ThreadBed } from "./thread-bed.js";

const TOOL = "fixture/misbehave";
const SCRIPT = "fixture/script";

/** JavaScript that collects the ports which messages leave by. */
const CATCH_PORTS = `
  const ports = new Set();
  const post = require("node:worker_threads").MessagePort.prototype.postMessage;
  try {
    require("node:worker_threads").MessagePort.prototype.postMessage = function (...args) { ports.add(this); return post.apply(this, args); };
  } catch {}`;

describe("thread tier against clumsy and hostile tools", () => {
  const bed = new ThreadBed();
  const folder = temporaryFolder();

  describe("messages of a tool's own", () => {
    it("do no harm to the host, whatever is sent to the parent", async () => {
      const send = (message: string): string =>
        `const { parentPort } = require("node:worker_threads"); parentPort.postMessage(${message}); return "sent"`;
      const { exit, report } = await runHost({
        scripts: [
          send(`"junk"`),
          send(`undefined`),
          send(`null`),
          send(`{ ready: true }`),
          send(`{ _WORKER_READY: true }`),
          send(`{ type: "answers", answers: [{ slot: 1, generation: 1, kind: "output", output: "forged" }] }`),
          send(`{ message: "forged", taskId: 1, result: 1 }`),
          `require("node:worker_threads").parentPort.close(); return "closed"`,
          `const { parentPort } = require("node:worker_threads"); parentPort.removeAllListeners(); parentPort.emit("message", {}); return "emitted"`,
          `require("node:worker_threads").parentPort.postMessage(new (require("node:worker_threads").MessageChannel)().port1); return "port"`,
          `for (let index = 0; index < 2000; index++) require("node:worker_threads").parentPort.postMessage({ index }); return "flooded"`,
          `return "still here"`,
        ],
      });
      expect(exit).to.equal(0);
      expect(report.results.at(-1)).to.deep.equal({ output: "still here" });
      for (const { output } of report.results) expect(output).not.to.equal("forged");
    });

    it("cannot be sent by the lease's ports, which a tool does not find", async () => {
      await bed.tools("script");
      const code = `
        const { MessagePort, parentPort } = require("node:worker_threads");
        const handles = [...(process._getActiveHandles?.() ?? []), ...(process._getActiveRequests?.() ?? [])];
        return handles.filter((handle) => handle instanceof MessagePort && handle !== parentPort).length;`;
      expect(await bed.script(bed.plan(), code)).to.equal(0);
    });

    it("cannot be sent by way of a patched MessagePort", async () => {
      await bed.tools("script");
      const code = `${CATCH_PORTS}; context.log.info("a message"); await new Promise(setImmediate); return ports.size;`;
      expect(await bed.script(bed.plan(), code)).to.equal(0);
    });

    const groups: Readonly<Record<string, readonly string[]>> = {
      "nothing and next to nothing": [
        `undefined`,
        `null`,
        `"junk"`,
        `...["answers", "event", "stray", "request", "__proto__", "constructor"].map((type) => ({ type }))`,
        `...["upAndRunning", "couldNotSerializeError", "errorMessage", "stdioPayload", "stdioWantsMoreData", "resourceLimits", 0, 1, 2, 3].map((type) => ({ type, error: null, chunks: 5, stream: "none" }))`,
      ],
      answers: [
        `...[5, null, {}, [null], [5], [{}]].map((answers) => ({ type: "answers", answers }))`,
        `...["output", "tool_error", "threw", "skipped", "other", undefined].map((kind) => ({ type: "answers", answers: [1, 2, 3].map((slot) => ({ slot, generation: 1, kind, size: {}, error: 5, changes: 5 })) }))`,
        `...[-1, 0, 0.5, 7, 1e9, NaN, "1", null].map((slot) => ({ type: "answers", answers: [{ slot, generation: 0, kind: "output", output: 1, size: 0 }] }))`,
        `{ type: "answers", answers: [{ slot: 1, generation: 1, kind: "output", output: 1, size: NaN, changes: [null, 5, { operation: "x" }] }] }`,
      ],
      "errors and events": [
        `...[undefined, null, 5, {}, { name: 1, message: 2 }, { name: "E", message: "m", fields: 5, cause: 5, errors: 5 }, { name: "E", message: "m", errors: [null], cause: null, stack: {} }].flatMap((error) => [{ type: "stray", late: false, error }, { type: "stray", late: true, error }, { type: "stray", key: { slot: 1, generation: 1 }, error }, { type: "answers", answers: [{ slot: 1, generation: 1, kind: "threw", error }] }])`,
        `...[undefined, null, 5, {}, { kind: "log" }, { kind: "log", level: 5, message: {} }, { kind: "progress", done: "x" }, { kind: "other" }].flatMap((event) => [{ type: "event", event }, { type: "event", key: { slot: 1, generation: 1 }, event }, { type: "event", key: 5, event }])`,
        `...[{ kind: "change" }, { kind: "change", change: null }, { kind: "change", change: { operation: 5 } }, { kind: "cost", amount: "x" }, { kind: "cost" }, { kind: "cost", amount: NaN }].map((event) => ({ type: "event", key: { slot: 1, generation: 1 }, event }))`,
      ],
      "requests and replies": [
        `...[undefined, null, 5, "call", "constructor", "__proto__"].flatMap((name) => [undefined, null, 5, { tool: 5 }, { tool: "fixture/script", input: { code: "return 1" } }].map((args) => ({ type: "request", key: { slot: 1, generation: 1 }, requestId: NaN, name, args })))`,
        `...[0, null, "x"].flatMap((id) => ["RAW", "HANDLER", "other", undefined].map((type) => ({ id, type, name: "throw", value: null })))`,
      ],
    };
    for (const [group, members] of Object.entries(groups)) {
      it(`do no harm to the host, by whatever port a tool gets hold of: ${group}`, async () => {
        const scripts = members.map(
          (messages) => `${CATCH_PORTS}
            const { MessagePort } = require("node:worker_threads");
            for (const handle of process._getActiveHandles?.() ?? []) if (handle instanceof MessagePort) ports.add(handle);
            context.log.info("a message");
            await new Promise(setImmediate);
            for (const port of ports) for (const message of [${messages}]) post.call(port, message);
            await new Promise((resolve) => setTimeout(resolve, 10));
            return "sent"`,
        );
        const { exit, stderr } = await runHost({ timeoutMs: 500, scripts: [...scripts, `return "still here"`] });
        expect(exit, stderr.slice(0, 2_000)).to.equal(0);
      });
    }

    it("that flood the host as log lines and progress do not keep others from being served", async () => {
      await bed.tools("misbehave");
      const flooding = bed.plan().execute(TOOL, { do: "flood", count: 30_000 });
      await bed.recorder.logged("line 0");
      expect((await bed.plan().execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
      expect((await flooding).success).to.equal(true);
    });
  });

  describe("changes to the language", () => {
    const patches = {
      "Array.prototype": `Array.prototype.push = Array.prototype.map = Array.prototype.shift = Array.prototype[Symbol.iterator] = () => { throw new Error("patched"); }`,
      "Promise.prototype.then": `Promise.prototype.then = () => { throw new Error("patched"); }`,
      "Object.prototype": `for (const name of ["slot", "kind", "type", "then", "key", "transfer"]) Object.defineProperty(Object.prototype, name, { get() { return "patched"; }, set() {}, configurable: true })`,
      JSON: `JSON.stringify = JSON.parse = () => { throw new Error("patched"); }`,
      "performance.now": `performance.now = () => -1e12; Date.now = () => NaN`,
      Map: `Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw new Error("patched"); }`,
      Atomics: `Atomics.load = Atomics.store = Atomics.waitAsync = () => 1`,
      "the timers": `globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = process.nextTick = () => undefined`,
      structuredClone: `globalThis.structuredClone = (value) => value; globalThis.Error = class {}`,
      "process.emit": `process.emit = () => true; process.removeAllListeners("uncaughtException"); process.removeAllListeners("unhandledRejection")`,
      "the MessagePort": `require("node:worker_threads").MessagePort.prototype.postMessage = () => undefined`,
    };
    for (const [what, code] of Object.entries(patches)) {
      it(`by a tool that replaces ${what} cost its own plan at most; each call ends, truly told`, async () => {
        bed.open({ timeoutMs: 1_000, deactivateTimeoutMs: 200, killTimeoutMs: 1_000 });
        await bed.tools("script", "misbehave");
        const other = bed.plan();
        await other.execute(TOOL, { do: "nothing" });
        const plan = bed.plan();
        const ends = [
          ...(await Promise.allSettled([plan.execute(SCRIPT, { code })])),
          ...(await Promise.allSettled([plan.execute(SCRIPT, { code: `return "next"` })])),
        ];
        expect(plan.context.traces).to.have.length(ends.length);
        for (const [index, end] of ends.entries()) {
          expect(plan.context.traces[index]?.success).to.equal(end.status === "fulfilled");
        }
        for (const { phases, durationMs } of plan.context.traces) {
          for (const phase of Object.values(phases)) expect(phase).to.be.within(0, durationMs);
        }
        await plan.deactivate();
        expect((await other.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
        expect(
          (await plan.execute(SCRIPT, { code: `return [].concat([1]).map((one) => one + 1)` })).output,
        ).to.deep.equal([2]);
        expect(await bed.runtime.close()).to.deep.equal({ quarantined: 0 });
      });
    }

    for (const [what, code] of Object.entries({
      "with changes that are no list": `{ success: true, output: 1, changes: 5, transfer: [] }`,
      "with a list of changes of its own making": `{ success: true, output: 1, changes: { length: 1, map: () => [{ operation: "delete", resourceId: 7 }] }, transfer: [] }`,
      "with a transfer that is no list": `{ success: true, output: 1, changes: [], transfer: "all" }`,
      "with a transfer of what is no buffer": `{ success: true, output: 1, changes: [], transfer: [{}] }`,
      "with no members": `{}`,
      "with an error that is none": `{ success: false, error: 5, changes: [], transfer: [] }`,
      "with an error of odd members": `{ success: false, error: { code: {}, message: [], details: 1 }, changes: [], transfer: [] }`,
      "with a success that is no flag": `{ success: "yes", output: 1, changes: [], transfer: [] }`,
    })) {
      it(`an answer that is marked as one by hand, ${what}, ends its call and no more`, async () => {
        await bed.tools("script");
        const plan = bed.plan();
        const marked = `return Object.assign(${code}, { [Symbol.for("toolcell.answer")]: true })`;
        const [end] = await Promise.allSettled([plan.execute(SCRIPT, { code: marked })]);
        if (end.status === "fulfilled") {
          expect(end.value.changes).to.deep.equal([]);
          if (!end.value.success) {
            expect(end.value.error.code).to.be.a("string");
            expect(end.value.error.message).to.be.a("string");
            expect(end.value.error.details).to.be.an("object");
          }
        } else expect(end.reason).to.include({ outcome: "threw" });
        expect(plan.context.changes).to.deep.equal([]);
        expect((await plan.execute(SCRIPT, { code: `return 1` })).output).to.equal(1);
        expect(bed.runtime.cacheStats(plan.planId).tools[SCRIPT]?.activationCount).to.equal(1);
      });
    }
  });

  describe("what is left behind", () => {
    const threadOf = `return require("node:worker_threads").threadId`;
    const stateless = { capability: { stateless: true } };

    it("nothing of a tool that keeps state: a plan never meets a module's state of another", async () => {
      await bed.tools("lifecycle");
      for (let round = 0; round < 3; round++) {
        await using plan = bed.plan();
        for (let call = 1; call <= 2; call++) {
          expect((await plan.execute("fixture/lifecycle", {})).output).to.deep.equal({ activations: 1, calls: call });
        }
      }
    });

    it("a stateless tool's worker serves again after a clean end", async () => {
      await bed.tool("script", stateless);
      const threads: number[] = [];
      for (let round = 0; round < 3; round++) {
        await using plan = bed.plan();
        threads.push(await bed.script(plan, threadOf));
      }
      expect(new Set(threads).size).to.equal(1);
    });

    for (const [what, code] of Object.entries({
      "a timer": `setInterval(() => {}, 1000)`,
      "a distant timer": `setTimeout(() => {}, 1e6)`,
      "a loop of file reads": `void (async () => { for (;;) await require("node:fs/promises").stat(require.resolve("./script.js")); })()`,
      "a loop of immediates": `const again = () => setImmediate(again); again()`,
      "a loop of its own": `void (async () => { for (;;) await new Promise((resolve) => setTimeout(resolve, 1)); })()`,
      "a loop of messages": `const { port1, port2 } = new (require("node:worker_threads").MessageChannel)(); port1.on("message", () => port2.postMessage(1)); port2.on("message", () => port1.postMessage(1)); port1.postMessage(1)`,
    })) {
      it(`a worker with ${what} left in it serves no other plan`, async () => {
        await bed.tool("script", stateless);
        const first = bed.plan();
        const thread = await bed.script(first, `${code}; ${threadOf}`);
        await first.deactivate();
        const second = bed.plan();
        expect(await bed.script(second, threadOf)).not.to.equal(thread);
      });
    }

    it("a worker that was cancelled, or whose call threw late, serves no other plan", async () => {
      await bed.tool("script", stateless);
      const threads: number[] = [];
      const cancelled = bed.plan();
      threads.push(await bed.script(cancelled, threadOf));
      await rejection(
        cancelled.execute(
          SCRIPT,
          {
            code: `await new Promise((resolve) => context.cancellationToken.signal.addEventListener("abort", resolve))`,
          },
          { timeoutMs: 20 },
        ),
      );
      await cancelled.deactivate();
      const throwing = bed.plan();
      threads.push(await bed.script(throwing, threadOf));
      await bed.script(throwing, `setImmediate(() => { throw new Error("late"); })`);
      await bed.recorder.warned("ESCAPED_ERROR");
      await throwing.deactivate();
      threads.push(await bed.script(bed.plan(), threadOf));
      expect(new Set(threads).size).to.equal(3);
    });

    it("a worker that served an untrusted tool serves no other plan", async () => {
      await bed.tool("script", { ...stateless, trusted: false });
      const first = bed.plan();
      const thread = await bed.script(first, threadOf);
      await first.deactivate();
      expect(await bed.script(bed.plan(), threadOf)).not.to.equal(thread);
    });

    for (const [what, leave, look] of [
      ["a global", `globalThis.left = "secret"`, `return globalThis.left ?? "nothing"`],
      ["an environment variable", `process.env.LEFT = "secret"`, `return process.env.LEFT ?? "nothing"`],
      ["a patched built-in", `Array.prototype.left = "secret"`, `return [].left ?? "nothing"`],
      [
        "a replaced function",
        `JSON.stringify = () => "secret"`,
        `return JSON.stringify("nothing") === "secret" ? "secret" : "nothing"`,
      ],
      [
        "a listener of the process",
        `process.on("left", (list) => list.push("secret"))`,
        `const list = []; process.emit("left", list); return list[0] ?? "nothing"`,
      ],
    ] as const) {
      it(`${what} never reaches another tool of another plan, though its worker may`, async () => {
        await bed.tool("script", { spec: { name: "fixture/leaving" }, ...stateless });
        const other = folder().write(
          "tool.mjs",
          `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
           export const execute = () => { ${look} };`,
        );
        bed.module(other);
        const first = bed.plan();
        await first.execute("fixture/leaving", { code: leave });
        await first.deactivate();
        expect((await bed.plan().execute("made/tool", {})).output).to.equal("nothing");
      });
    }

    it("work left behind by a call that is over is told of as nobody's", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      await bed.script(
        plan,
        `seen.set("go", new Promise((resolve) => setTimeout(resolve, 10)).then(() => { console.log("left behind"); context.recordChange({ operation: "create", resourceId: "late" }); context.progress(1); context.reportCost(5); }))`,
      );
      const { trace, changes } = await plan.execute(SCRIPT, { code: `await seen.get("go"); return "whole"` });
      const line = await bed.recorder.logged("left behind");
      expect(line).not.to.have.property("callId");
      expect(changes).to.deep.equal([]);
      expect(trace).not.to.have.property("cost");
      expect(bed.recorder.progress).to.deep.equal([]);
    });
  });

  it("a shared buffer that a tool scribbles over costs its own cell at most", async () => {
    bed.open({ timeoutMs: 1_000 });
    await bed.tools("script", "misbehave");
    const other = bed.plan();
    await other.execute(TOOL, { do: "nothing" });
    const plan = bed.plan();
    // The token reads the words by Atomics; whoever replaces that gets hold of them.
    const scribble = attempt(
      `const { load } = Atomics;
       let words;
       Atomics.load = (array, index) => { words ??= array; return load(array, index); };
       void context.cancellationToken.isCancelled;
       Atomics.load = load;
       if (words) for (let index = 0; index < words.length; index++) words[index] = 0x7fffffff;
       return Boolean(words)`,
    );
    await Promise.allSettled([plan.execute(SCRIPT, { code: scribble })]);
    await Promise.allSettled([1, 2].map(() => plan.execute(SCRIPT, { code: `return 1` })));
    expect(plan.context.traces).to.have.length(3);
    expect((await other.execute(TOOL, { do: "echo", value: 1 })).output).to.equal(1);
    await plan.deactivate();
    expect((await plan.execute(SCRIPT, { code: `return 1` })).output).to.equal(1);
  });
});
