import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { OUTCOMES, ToolActivationError, ToolExecutionError, type Plan, type ToolResult } from "../../../src/index.js";
import { rejection } from "../../contract/recorder.js";
import { onlyTrace } from "../../contract/tier-bed.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { ThreadBed } from "./thread-bed.js";

const TOOL = "fixture/misbehave";
const LIFE = "fixture/lifecycle";
const SCRIPT = "fixture/script";

/** What the tool's cell was when the call ran. */
const cellOf = ({ trace }: ToolResult): string | undefined => trace.cell?.id;

describe("thread tier deaths", () => {
  const bed = new ThreadBed();
  const folder = temporaryFolder();

  /** Another plan, which must not notice anything. */
  const bystander = async (): Promise<() => Promise<void>> => {
    const plan = bed.plan({ planId: "bystander" });
    await bed.tools("script");
    const first = await plan.execute(SCRIPT, { code: `seen.set("mark", 1)` });
    return async () => {
      const next = await plan.execute(SCRIPT, { code: `return seen.get("mark")` });
      expect(next.output).to.equal(1);
      expect(cellOf(next)).to.equal(cellOf(first));
    };
  };
  const serves = async (plan: Plan, tool = TOOL): Promise<ToolResult> => {
    const result = await plan.execute(tool, tool === TOOL ? { do: "echo", value: "served" } : {});
    expect(result.success).to.equal(true);
    return result;
  };

  describe("before the cell is ready", () => {
    const tops = {
      hangs: "await new Promise(() => {});",
      spins: "for (;;);",
      throws: `throw new TypeError("at the top");`,
      "ends its thread": "process.exit(0);",
      "ends its thread with an error": "process.exit(9);",
      "throws beside": `setImmediate(() => { throw new TypeError("beside"); }); await new Promise(() => {});`,
      "rejects beside": `void Promise.reject(new TypeError("beside")); await new Promise(() => {});`,
      "runs out of memory": "let hoard; for (let index = 0; ; index++) hoard = { index, hoard };",
    };
    for (const [what, code] of Object.entries(tops)) {
      it(`a module that ${what} fails all who wait; once it is mended the next call is served`, async () => {
        bed.open({ activationTimeoutMs: 1_000 });
        const unharmed = await bystander();
        const path = folder().write("tool.mjs", code);
        bed.module(path, { capability: { memoryMb: 16 } });
        const plan = bed.plan();
        const errors = await Promise.all([
          rejection(plan.activate("made/tool")),
          rejection(plan.execute("made/tool", {})),
        ]);
        for (const error of errors) expect(error).to.be.instanceOf(ToolActivationError);
        expect(onlyTrace(plan)).to.include({ outcome: "activation_failed" });
        folder().write("tool.mjs", "export const execute = () => 'mended';");
        expect((await plan.execute("made/tool", {})).output).to.equal("mended");
        await unharmed();
      });
    }

    it("close() ends a cell at every moment of its start, and every call once", async () => {
      await bed.tools("misbehave");
      await bed.runtime.close();
      for (let turns = 0; turns < 12; turns++) {
        const runtime = bed.tier.makeRuntime({ graceMs: 50, spareCells: turns % 2 });
        await bed.tier.register(runtime, "misbehave");
        const plan = runtime.plan({ planId: "p" });
        const calls = [1, 2].map((value) => plan.execute(TOOL, { do: "echo", value }));
        const activated = plan.activate(TOOL);
        const settled = Promise.allSettled([...calls, activated]);
        for (let turn = 0; turn < turns * 6; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
        await runtime.close();
        const ends = await settled;
        expect(plan.context.traces).to.have.length(2);
        for (const trace of plan.context.traces) expect(["ok", "cancelled"]).to.include(trace.outcome);
        expect(ends.map(({ status }) => status)).to.have.length(3);
      }
    });
  });

  describe("while activating", () => {
    for (const how of ["exit", "throwBeside"]) {
      it(`a tool that dies by "${how}" fails the call; nothing else is touched`, async () => {
        bed.open({ activationTimeoutMs: 3_000 });
        const unharmed = await bystander();
        await bed.tools("lifecycle");
        const plan = bed.plan({ planId: `x=1&activate=${how}` });
        const error = await rejection(plan.execute(LIFE, {}));
        expect(error).to.be.instanceOf(ToolActivationError).with.property("code", "ACTIVATION_FAILED");
        expect(onlyTrace(plan)).to.include({ outcome: "activation_failed" });
        await serves(bed.plan(), LIFE);
        await unharmed();
      });
    }

    it("a tool that spins is given up after its time, and by close() at once", async () => {
      bed.open({ activationTimeoutMs: 1_000 });
      await bed.tools("lifecycle");
      const error = await rejection(bed.plan({ planId: "x=2&activate=spin" }).execute(LIFE, {}));
      expect(error).to.include({ code: "ACTIVATION_TIMED_OUT" });
      const closed = rejection(bed.plan({ planId: "x=3&activate=spin" }).execute(LIFE, {}));
      await bed.recorder.logged("activate", 2);
      expect(await bed.runtime.close()).to.deep.equal({ quarantined: 0 });
      expect(await closed)
        .to.have.property("outcome")
        .that.is.oneOf(["cancelled"]);
    });
  });

  describe("while idle", () => {
    it("a cell that ends between calls is told of, and the next call gets a new one", async () => {
      const unharmed = await bystander();
      const plan = bed.plan();
      const first = await plan.execute(SCRIPT, { code: `setImmediate(() => process.exit(3)); return "done"` });
      expect(first.output).to.equal("done");
      const [ended] = await bed.recorder.cellsEnded(1);
      expect(ended).to.include({ planId: plan.planId, toolName: SCRIPT });
      expect(ended?.end).to.include({ kind: "crashed", exitCode: 3 });
      expect(bed.runtime.cacheStats(plan.planId).activeTools).to.equal(0);
      const next = await plan.execute(SCRIPT, { code: `return "again"` });
      expect(cellOf(next)).not.to.equal(cellOf(first));
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["ok", "ok"]);
      await unharmed();
    });

    it("a call that crosses with the end of its cell is served by a new one, or told of truly", async () => {
      await bed.tools("script");
      for (let round = 0; round < 5; round++) {
        const plan = bed.plan();
        const first = plan.execute(SCRIPT, { code: `setImmediate(() => process.exit(0)); return "done"` });
        const followers = first.then(() =>
          Promise.allSettled([1, 2, 3].map(() => plan.execute(SCRIPT, { code: `return "follower"` }))),
        );
        expect((await first).output).to.equal("done");
        for (const follower of await followers) {
          if (follower.status === "fulfilled") expect(follower.value.output).to.equal("follower");
          else expect(follower.reason).to.include({ outcome: "crashed" });
        }
        expect(plan.context.traces).to.have.length(4);
      }
    });
  });

  describe("while calls run", () => {
    it("a call that has not started is served elsewhere when its cell is killed for a neighbour", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const spinning = rejection(plan.execute(TOOL, { do: "spin" }, { signal: controller.signal, callId: "culprit" }));
      await bed.recorder.logged("started");
      const waiting = [1, 2, 3].map((value) => plan.execute(TOOL, { do: "echo", value }));
      controller.abort();
      expect(await spinning).to.include({ code: "CANCELLED", outcome: "killed" });
      const results = await Promise.all(waiting);
      expect(results.map(({ output }) => output)).to.deep.equal([1, 2, 3]);
      expect(new Set(results.map(cellOf)).size).to.equal(1);
      expect(cellOf(results[0]!)).not.to.equal(plan.context.traces[0]?.cell?.id);
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["killed", "ok", "ok", "ok"]);
    });

    it("a call that has started ends as killed, with the neighbour it was killed by", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const neighbours = [1, 2].map(() => rejection(plan.execute(TOOL, { do: "hang" })));
      const culprit = plan.execute(TOOL, { do: "spin" }, { signal: controller.signal, callId: "culprit" });
      const spinning = rejection(culprit);
      await bed.recorder.logged("started", 3);
      controller.abort();
      expect(await spinning).to.include({ code: "CANCELLED", outcome: "killed" });
      for (const error of await Promise.all(neighbours)) {
        expect(error).to.be.instanceOf(ToolExecutionError).and.to.include({ code: "CELL_KILLED", outcome: "killed" });
        expect(error.details).to.include({ killedBy: "culprit" });
      }
      await serves(plan);
    });

    it("a call that handed its buffers over is not sent twice", async () => {
      await bed.tools("misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const spinning = rejection(plan.execute(TOOL, { do: "spin" }, { signal: controller.signal }));
      await bed.recorder.logged("started");
      const buffer = new ArrayBuffer(8);
      const handed = plan.execute(TOOL, { do: "echo", value: buffer }, { transfer: [buffer] });
      const ended = rejection(handed);
      await new Promise(setImmediate);
      controller.abort();
      await spinning;
      expect(await ended)
        .to.be.instanceOf(ToolExecutionError)
        .with.property("outcome", "killed");
    });

    it("a crash ends the calls that started and moves those that have not", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      await plan.activate(SCRIPT);
      const running = rejection(plan.execute(SCRIPT, { code: `await new Promise(() => {})` }));
      const exiting = rejection(
        plan.execute(SCRIPT, { code: `const end = Date.now() + 100; while (Date.now() < end); process.exit(0)` }),
      );
      await bed.recorder.logged("started", 2);
      const waiting = [1, 2].map((input) => plan.execute(SCRIPT, { code: `return input`, input }));
      expect(await exiting).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
      expect(await running).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
      expect((await Promise.all(waiting)).map(({ output }) => output)).to.deep.equal([1, 2]);
    });

    it("a call whose cells die again and again is given up, not sent for ever", async () => {
      // A tool that ends its thread before it publishes that the call has started looks like one that never started.
      const path = folder().write(
        "tool.mjs",
        `export const activate = () => { setImmediate(() => setImmediate(() => process.exit(1))); };
         export const execute = () => new Promise(() => {});`,
      );
      bed.module(path);
      const plan = bed.plan();
      const error = await rejection(plan.execute("made/tool", {}));
      expect(["crashed", "activation_failed"]).to.include(onlyTrace(plan).outcome);
      expect(error).to.be.instanceOf(Error);
    });

    it("memory that runs out ends the call as such, whatever else runs", async () => {
      for (const memoryMb of [16, 32]) {
        const name = `fixture/small-${memoryMb}`;
        await bed.tool("misbehave", { spec: { name }, capability: { memoryMb } });
        const plan = bed.plan();
        const neighbour = rejection(plan.execute(name, { do: "hang" }));
        const error = await rejection(plan.execute(name, { do: "exhaustMemory" }));
        expect(error).to.include({ code: "OUT_OF_MEMORY", outcome: "out_of_memory" });
        expect(await neighbour).to.include({ outcome: "out_of_memory" });
        expect((await plan.execute(name, { do: "echo", value: 1 })).output).to.equal(1);
      }
    });

    it("an error that escapes after its call leaves the calls beside it alone", async () => {
      const unharmed = await bystander();
      const plan = bed.plan();
      const neighbour = plan.execute(SCRIPT, {
        code: `await new Promise((resolve) => seen.set("go", resolve)); return "whole"`,
      });
      await bed.recorder.logged("started", 2);
      const late = await plan.execute(SCRIPT, {
        code: `setImmediate(() => { queueMicrotask(() => seen.get("go")()); throw new TypeError("late"); }); return "fine"`,
      });
      expect(late.output).to.equal("fine");
      expect((await neighbour).output).to.equal("whole");
      expect((await bed.recorder.warned("ESCAPED_ERROR")).message).to.contain("late");
      const next = await plan.execute(SCRIPT, { code: `return "next"` });
      expect(cellOf(next)).not.to.equal(cellOf(late));
      await unharmed();
    });

    it("an error that escapes from one call ends that call, and its neighbours finish", async () => {
      await bed.tools("script");
      const plan = bed.plan();
      const neighbour = plan.execute(SCRIPT, {
        code: `await new Promise((resolve) => seen.set("go", resolve)); return "whole"`,
      });
      await bed.recorder.logged("started");
      const escaping = rejection(
        plan.execute(SCRIPT, {
          code: `setImmediate(() => { setImmediate(seen.get("go")); throw new TypeError("mine"); }); await new Promise(() => {});`,
        }),
      );
      expect(await escaping).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
      expect((await neighbour).output).to.equal("whole");
    });

    it("an error that can be traced to no call ends them all as crashed", async () => {
      const path = folder().write(
        "tool.mjs",
        `let fail = false;
         const timer = setInterval(() => { if (fail) throw new TypeError("whose?"); }, 1);
         export const execute = (input, context) => { fail = input.fail; context.log.info("started"); return new Promise(() => {}); };`,
      );
      bed.module(path);
      const plan = bed.plan();
      const calls = [1, 2].map(() => rejection(plan.execute("made/tool", { fail: false })));
      await bed.recorder.logged("started", 2);
      calls.push(rejection(plan.execute("made/tool", { fail: true })));
      for (const error of await Promise.all(calls)) {
        expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
        expect(error.cause).to.be.instanceOf(TypeError).with.property("message", "whose?");
      }
      expect((await bed.recorder.warned("ESCAPED_ERROR")).message).to.contain("whose?");
    });
  });

  describe("while it answers", () => {
    for (const [what, code] of [
      ["a getter of the output", `return { get value() { process.exit(4); } }`],
      ["the thenable it returns", `return { then() { process.exit(4); } }`],
      ["a getter of the error", `throw Object.defineProperty(new Error("x"), "stack", { get() { process.exit(4); } })`],
    ] as const) {
      it(`a tool that dies in ${what} ends its call as crashed`, async () => {
        const unharmed = await bystander();
        const plan = bed.plan();
        const error = await rejection(plan.execute(SCRIPT, { code }));
        expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
        expect(error.details).to.include({ exitCode: 4 });
        expect((await plan.execute(SCRIPT, { code: `return 1` })).output).to.equal(1);
        await unharmed();
      });
    }

    it("an answer that was sent before the end counts", async () => {
      await bed.tools("script");
      for (let round = 0; round < 5; round++) {
        const plan = bed.plan();
        const calls = [1, 2, 3].map((input) => plan.execute(SCRIPT, { code: `return input`, input }));
        const ends = await Promise.all([
          Promise.all(calls),
          plan.execute(SCRIPT, { code: `setImmediate(() => process.exit(1)); return 4` }),
        ]);
        expect(ends[0].map(({ output }) => output)).to.deep.equal([1, 2, 3]);
        expect(ends[1].output).to.equal(4);
      }
    });
  });

  describe("while it deactivates", () => {
    for (const how of ["exit", "throwBeside", "spin"]) {
      it(`a tool that dies by "${how}" is a warning; the plan ends and its name is free`, async () => {
        bed.open({ deactivateTimeoutMs: 100 });
        const unharmed = await bystander();
        await bed.tools("lifecycle");
        const plan = bed.plan({ planId: `y=1&deactivate=${how}` });
        await plan.execute(LIFE, {});
        await plan.deactivate();
        expect(bed.recorder.warnings.map(({ code }) => code)).to.include("DEACTIVATION_FAILED");
        await bed.recorder.cellsEnded(1);
        await serves(plan, LIFE);
        await unharmed();
      });
    }
  });

  describe("during a nested call", () => {
    it("an inner tool that dies is an error of the inner call; its caller goes on", async () => {
      const unharmed = await bystander();
      await bed.tools("caller", "misbehave");
      const plan = bed.plan();
      const { output } = await plan.execute("fixture/caller", { tool: TOOL, input: { do: "exit" }, report: true });
      expect(output).to.include({ name: "ToolExecutionError", code: "CELL_CRASHED", outcome: "crashed" });
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["crashed", "ok"]);
      await unharmed();
    });

    it("an inner call whose caller dies is stopped, and both leave one trace", async () => {
      await bed.tools("script", "misbehave");
      const plan = bed.plan();
      await plan.activate(TOOL);
      const error = await rejection(
        plan.execute(SCRIPT, {
          code: `context.call("${TOOL}", { do: "poll" }).catch(() => {});
            await new Promise((resolve) => setTimeout(resolve, 20)); process.exit(3)`,
        }),
      );
      expect(error).to.include({ code: "CELL_CRASHED", outcome: "crashed" });
      await plan.deactivate();
      expect(plan.context.traces.map(({ toolName, outcome }) => [toolName, outcome])).to.have.deep.members([
        [SCRIPT, "crashed"],
        [TOOL, "cancelled"],
      ]);
    });

    it("a cell that is killed while its inner call runs takes that with it", async () => {
      await bed.tools("script", "misbehave");
      const plan = bed.plan();
      const controller = new AbortController();
      const call = rejection(
        plan.execute(
          SCRIPT,
          { code: `context.call("${TOOL}", { do: "spin" }).catch(() => {}); await new Promise(() => {})` },
          { signal: controller.signal },
        ),
      );
      await bed.recorder.logged("started", 2);
      controller.abort();
      expect(await call).to.have.property("outcome", "killed");
      await plan.deactivate();
      expect(plan.context.traces.map(({ outcome }) => outcome)).to.deep.equal(["killed", "killed"]);
    });
  });

  describe("with several cells", () => {
    /** A plan whose stateless tool has two cells that are up and idle. */
    const twoCells = async (): Promise<Plan> => {
      await bed.tool("misbehave", { maxCells: 2, capability: { stateless: true } });
      const plan = bed.plan();
      const busy = [1, 2, 3, 4].map(() => plan.execute(TOOL, { do: "sleep", ms: 50 }));
      await bed.recorder.until(() => bed.recorder.cells.length === 2);
      await Promise.all(busy);
      return plan;
    };
    /** One call to each cell and one more to each; a call that is lost shows as timed out. */
    const followers = (plan: Plan): Promise<ToolResult>[] =>
      [1, 2, 3].map((value) => plan.execute(TOOL, { do: "echo", value }, { timeoutMs: 3_000 }));
    const outputs = (results: readonly ToolResult[]): unknown[] => results.map(({ output }) => output);

    for (const [what, input, options, outcome] of [
      ["dies", { do: "exit", count: 1 }, {}, "crashed"],
      ["is killed", { do: "spin" }, { timeoutMs: 20 }, "killed"],
    ] as const) {
      it(`a call that has not started in a cell that ${what} is served by its sibling`, async () => {
        const plan = await twoCells();
        const dying = rejection(plan.execute(TOOL, input, options));
        expect(outputs(await Promise.all(followers(plan)))).to.deep.equal([1, 2, 3]);
        expect(await dying).to.have.property("outcome", outcome);
        expect(bed.recorder.cells.filter(({ type }) => type === "ended")).to.have.length(1);
      });

      it(`a call that has not started in a cell that ${what} is served by its sibling, also where that is at work`, async () => {
        const plan = await twoCells();
        const dying = rejection(plan.execute(TOOL, input, options));
        const controller = new AbortController();
        const working = rejection(plan.execute(TOOL, { do: "signal" }, { signal: controller.signal }));
        const waiting = plan.execute(TOOL, { do: "echo", value: "served" }, { timeoutMs: 3_000 });
        expect((await waiting).output).to.equal("served");
        expect(await dying).to.have.property("outcome", outcome);
        controller.abort();
        expect(await working).to.have.property("outcome", "cancelled");
      });
    }

    it("a call that has not started in a cell that an error escapes from is served by its sibling", async () => {
      const plan = await twoCells();
      const late = plan.execute(TOOL, { do: "throwLate", value: "fine" });
      expect(outputs(await Promise.all(followers(plan)))).to.deep.equal([1, 2, 3]);
      expect((await late).output).to.equal("fine");
    });

    it("a further cell that does not start is a warning; the calls are served by the first", async () => {
      const path = folder().write(
        "tool.mjs",
        `import { once } from "node:events";
         export const execute = async ({ value }, { cancellationToken: { signal }, log }) => {
           log.info("started");
           if (value === undefined) await once(signal, "abort");
           return value;
         };`,
      );
      bed.module(path, { maxCells: 2, capability: { stateless: true } });
      const plan = bed.plan();
      const controller = new AbortController();
      const holding = rejection(plan.execute("made/tool", {}, { signal: controller.signal }));
      await bed.recorder.logged("started");
      folder().write("tool.mjs", `throw new TypeError("at the top");`);
      const values = [1, 2, 3].map((value) => plan.execute("made/tool", { value }));
      expect(outputs(await Promise.all(values))).to.deep.equal([1, 2, 3]);
      const warning = await bed.recorder.warned("CELL_START_FAILED");
      expect(warning).to.include({ planId: plan.planId, toolName: "made/tool" });
      expect(warning.message).to.contain("at the top");
      controller.abort();
      await holding;
      expect(bed.recorder.cells.map(({ type }) => type)).to.deep.equal(["started"]);
    });

    it("a call behind one that holds its cell is taken over by the idle sibling", async () => {
      const plan = await twoCells();
      const controller = new AbortController();
      const spinning = rejection(plan.execute(TOOL, { do: "spinPolling" }, { signal: controller.signal }));
      expect(outputs(await Promise.all(followers(plan)))).to.deep.equal([1, 2, 3]);
      controller.abort();
      expect(await spinning).to.have.property("outcome", "cancelled");
    });
  });

  describe("of a cell that does not go", () => {
    it("one that spins once it is deactivated is ended, and no plan waits for it", async () => {
      bed.open({ killTimeoutMs: 1_000 });
      const path = folder().write(
        "tool.mjs",
        `export const execute = () => "served";
         export const deactivate = () => { setImmediate(() => { for (;;); }); };`,
      );
      bed.module(path);
      const plan = bed.plan();
      await plan.execute("made/tool", {});
      await plan.deactivate();
      const [ended] = await bed.recorder.cellsEnded(1);
      expect(ended?.end).to.deep.equal({ kind: "released" });
      expect(bed.recorder.warnings).to.deep.equal([]);
      expect(await bed.runtime.close()).to.deep.equal({ quarantined: 0 });
    });

    describe("held by native code", () => {
      /** The cell's thread waits for a process, and that for the end of its connection to here. */
      let server: Server;
      let socket: Socket | undefined;

      beforeEach(async () => {
        server = createServer().listen(0, "127.0.0.1");
        await once(server, "listening");
      });
      // Here, so that a test that fails leaves no thread that cannot be ended.
      afterEach(() => {
        socket?.destroy();
        server.close();
      });

      it("is quarantined: its call ends, a warning tells, close() counts it", async () => {
        bed.open({ killTimeoutMs: 1_000 });
        await bed.tool("script", { capability: { spawn: true, net: true } });
        await bed.tools("misbehave");
        const { port } = server.address() as AddressInfo;
        const args = JSON.stringify(["-e", `require("node:net").connect(${port}, "127.0.0.1")`]);
        const code = `require("node:child_process").execFileSync(${JSON.stringify(process.execPath)}, ${args})`;
        const controller = new AbortController();
        const plan = bed.plan();
        const call = rejection(plan.execute(SCRIPT, { code }, { signal: controller.signal }));
        const endedEarly = call.then((error) => Promise.reject(error as Error));
        [socket] = (await Promise.race([once(server, "connection"), endedEarly])) as [Socket];
        controller.abort();
        expect(await call).to.include({ code: "CANCELLED", outcome: "unsettled" });
        const warning = await bed.recorder.warned("CELL_QUARANTINED");
        expect(warning).to.include({ planId: plan.planId, toolName: SCRIPT });
        await serves(bed.plan());
        expect(await bed.runtime.close()).to.deep.equal({ quarantined: 1 });
      });
    });
  });

  it("a storm of every kind of death leaves one trace for each call and a runtime that serves", async () => {
    const unharmed = await bystander();
    await bed.tools("misbehave");
    const plan = bed.plan();
    const actions = ["echo", "exit", "echo", "throwLate", "sleep", "throwBeside", "spin", "echo", "poll", "hang"];
    const calls = Array.from({ length: 40 }, (_none, index) =>
      plan.execute(TOOL, { do: actions[index % actions.length], ms: 5, value: index, count: 1 }, { timeoutMs: 1_500 }),
    );
    await Promise.allSettled(calls);
    expect(plan.context.traces).to.have.length(40);
    for (const { outcome } of plan.context.traces) expect(OUTCOMES).to.include(outcome);
    await serves(plan);
    await unharmed();
  });
});
