import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  ToolCancelledError,
  ToolCheckpointRequiredError,
  ToolCostLimitExceededError,
  ToolExecutionError,
  ToolRuntimeError,
  type BindResourceInput,
  type Checkpoint,
  type CheckpointProvider,
  type CheckpointRequest,
  type ToolContext,
  type ToolExecutionContext,
  type ToolExecutionContextOptions,
  type ToolRuntime,
  type WarningEvent,
} from "../../src/index.js";
import { afterReadyWork, deferred, rejectionOf, thrownBy, type Deferred } from "../support/outcomes.js";
import { contextOf, registerMock, runtimesOfSuite } from "../support/runtimes.js";

const WRITES = { writes: true, fs: { write: ["repo"] } } as const;

/** Remembers what it is asked for. */
class RecordingCheckpoints implements CheckpointProvider {
  readonly log: string[] = [];
  readonly requests: CheckpointRequest[] = [];
  readonly taken: Checkpoint[] = [];
  onTake: (request: CheckpointRequest, signal: AbortSignal) => Promise<void> | void = () => undefined;
  onRestore: () => Promise<void> = () => Promise.resolve();

  async take(request: CheckpointRequest, signal: AbortSignal): Promise<Checkpoint> {
    this.requests.push(request);
    this.log.push(`take ${request.callId}`);
    await this.onTake(request, signal);
    const checkpoint = { ...request, checkpointId: `of-${request.callId}`, createdAt: new Date(0).toISOString() };
    this.taken.push(checkpoint);
    return checkpoint;
  }

  async restore(checkpointId: string): Promise<void> {
    this.log.push(`restore ${checkpointId}`);
    await this.onRestore();
  }

  list(planId?: string): Promise<Checkpoint[]> {
    return Promise.resolve(this.taken.filter((each) => planId === undefined || each.planId === planId));
  }
}

describe("runtime/plan-checkpoints", () => {
  const makeRuntime = runtimesOfSuite();
  let folder: string;
  let repo: BindResourceInput;
  let checkpoints: RecordingCheckpoints;
  let runtime: ToolRuntime;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolcell-plan-checkpoints-"));
    repo = { slotName: "repo", resourceId: "r1", resourceType: "folder", path: folder, access: "read_write" };
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => {
    checkpoints = new RecordingCheckpoints();
    runtime = makeRuntime({ checkpoints });
  });

  const planOf = (rest: Partial<ToolExecutionContextOptions> = {}): ToolExecutionContext =>
    contextOf("plan", { requireCheckpoints: true, boundResources: [repo], ...rest });

  /** A tool whose calls go on until they are told to end, by their ids. */
  const registerHeld = (name: string, capability: object = WRITES): Map<string, Deferred<void>> => {
    const held = new Map<string, Deferred<void>>();
    registerMock(
      runtime,
      name,
      {
        execute: async (_input, { callId, cancellationToken: { signal } }) => {
          checkpoints.log.push(`run ${callId}`);
          const end = deferred();
          held.set(callId, end);
          signal.addEventListener("abort", () => {
            end.reject(signal.reason as Error);
          });
          await end.promise;
        },
      },
      capability,
    );
    return held;
  };

  describe("execute()", () => {
    it("saves what the call may write before the tool runs; trace and changes name the checkpoint", async () => {
      registerMock(
        runtime,
        "acme/write",
        {
          execute: (_input, { recordChange }) => {
            checkpoints.log.push("run");
            recordChange({ operation: "create", resourceId: "r1", path: "a.txt" });
          },
        },
        { writes: true, fs: { read: ["source", "notes"], write: ["repo", "source", "none"] } },
      );
      const context = planOf({
        boundResources: [
          repo,
          { slotName: "source", resourceId: "s", resourceType: "folder", path: folder },
          { slotName: "notes", resourceId: "n", resourceType: "folder", path: folder, access: "read_write" },
          { slotName: "other", resourceId: "o", resourceType: "folder", path: folder, access: "read_write" },
        ],
      });
      const { trace, changes } = await runtime.execute("acme/write", {}, context, { callId: "c1" });
      expect(checkpoints.log).to.deep.equal(["take c1", "run"]);
      expect(checkpoints.requests).to.deep.equal([
        {
          planId: "plan",
          callId: "c1",
          toolName: "acme/write",
          resources: [{ slotName: "repo", resourceId: "r1", path: folder }],
        },
      ]);
      expect(trace.checkpointId).to.equal("of-c1");
      expect(context.traces[0]).to.deep.equal(trace);
      expect(changes.map(({ checkpointId }) => checkpointId)).to.deep.equal(["of-c1"]);
      expect(context.changes).to.deep.equal(changes);
    });

    it("saves nothing for a call that writes nothing, in another plan, or that is refused before", async () => {
      registerMock(runtime, "acme/read", {}, { writes: false, fs: { read: ["repo"] } });
      registerMock(runtime, "acme/write", {}, WRITES, { inputSchema: { type: "object" } });
      const context = planOf({ budget: { calls: 2 } });
      const { trace } = await runtime.execute("acme/read", {}, context);
      expect(trace).not.to.have.property("checkpointId");
      expect((await runtime.execute("acme/write", 1, context)).error?.code).to.equal("SCHEMA_VALIDATION_FAILED");
      await runtime.execute("acme/read", {}, context);
      expect(await rejectionOf(runtime.execute("acme/write", {}, context))).to.be.instanceOf(
        ToolCostLimitExceededError,
      );
      const free = contextOf("free", { boundResources: [repo] });
      expect((await runtime.execute("acme/write", {}, free)).trace).not.to.have.property("checkpointId");
      expect(checkpoints.log).to.deep.equal([]);
    });

    it("takes a tool that may write for one that does, whatever it says of itself", async () => {
      registerMock(runtime, "acme/claims", {}, { writes: false, fs: { write: ["repo"] } });
      const { trace } = await runtime.execute("acme/claims", {}, planOf(), { callId: "c1" });
      expect(trace.checkpointId).to.equal("of-c1");
    });

    it("saves for a tool that writes without a slot: the provider may know more", async () => {
      registerMock(runtime, "acme/remote", {}, { writes: true });
      const { trace } = await runtime.execute("acme/remote", {}, planOf(), { callId: "c1" });
      expect(trace.checkpointId).to.equal("of-c1");
      expect(checkpoints.requests[0]?.resources).to.deep.equal([]);
    });

    const failures: readonly (readonly [string, Partial<CheckpointProvider>, string])[] = [
      ["rejects", { take: () => Promise.reject(new Error("disk full")) }, "disk full"],
      [
        "throws",
        {
          take: () => {
            throw new Error("not today");
          },
        },
        "not today",
      ],
      ["gives nothing", { take: () => Promise.resolve(undefined as never) }, "no `checkpointId`"],
      ["gives one without an id", { take: () => Promise.resolve({ checkpointId: "" } as never) }, "no `checkpointId`"],
    ];
    for (const [what, provider, part] of failures) {
      it(`denies the call where the provider ${what}; the tool never runs`, async () => {
        const failing = makeRuntime({
          checkpoints: { restore: () => Promise.resolve(), list: () => Promise.resolve([]), ...provider } as never,
        });
        const { activate, execute } = registerMock(failing, "acme/write", {}, WRITES);
        const context = planOf();
        for (let times = 0; times < 2; times++) {
          const error = (await rejectionOf(failing.execute("acme/write", {}, context))) as ToolCheckpointRequiredError;
          expect(error).to.be.instanceOf(ToolCheckpointRequiredError);
          expect(error.message).to.include(part);
          if (part.includes("checkpointId")) expect(error).not.to.have.property("cause");
          else expect(error.cause).to.be.instanceOf(Error).with.property("message", part);
        }
        expect([activate.called, execute.called]).to.deep.equal([false, false]);
        expect(context.traces.map(({ outcome }) => outcome)).to.deep.equal(["denied", "denied"]);
        expect(context.traces[0]).not.to.have.property("checkpointId");
      });
    }

    it("lets writing calls run one at a time, in order, and holds no other call up", async () => {
      const held = registerHeld("acme/write");
      registerMock(runtime, "acme/read", {}, { writes: false });
      const context = planOf();
      const other = contextOf("other", { requireCheckpoints: true, boundResources: [repo] });
      const calls = ["a", "b", "c"].map((callId) => runtime.execute("acme/write", {}, context, { callId }));
      await afterReadyWork();
      expect(checkpoints.log).to.deep.equal(["take a", "run a"]);
      expect(runtime.calls("plan").map(({ phase }) => phase)).to.deep.equal(["run", "admission", "admission"]);
      expect((await runtime.execute("acme/read", {}, context)).success).to.equal(true);
      const elsewhere = runtime.execute("acme/write", {}, other, { callId: "z" });
      await afterReadyWork();
      expect(checkpoints.log).to.deep.equal(["take a", "run a", "take z", "run z"]);
      for (const callId of ["z", "a", "b", "c"]) {
        held.get(callId)!.resolve();
        await afterReadyWork();
      }
      await Promise.all([...calls, elsewhere]);
      expect(checkpoints.log.slice(4)).to.deep.equal(["take b", "run b", "take c", "run c"]);
    });

    it("gives the tool the input that was checked, whatever its caller does while it waits", async () => {
      const { execute } = registerMock(runtime, "acme/write", {}, WRITES);
      const input = { text: "before" };
      const call = runtime.execute("acme/write", input, planOf());
      input.text = "after";
      await call;
      expect(execute.firstCall.args[0]).to.deep.equal({ text: "before" });
    });

    it("cancels a call that waits for its turn; the others go on", async () => {
      const held = registerHeld("acme/write");
      const context = planOf();
      const controller = new AbortController();
      const first = runtime.execute("acme/write", {}, context, { callId: "a" });
      const second = rejectionOf(
        runtime.execute("acme/write", {}, context, { callId: "b", signal: controller.signal }),
      );
      const third = runtime.execute("acme/write", {}, context, { callId: "c" });
      await afterReadyWork();
      controller.abort();
      expect(await second).to.be.instanceOf(ToolCancelledError);
      expect(context.traces.map(({ callId, outcome }) => `${callId} ${outcome}`)).to.deep.equal(["b cancelled"]);
      held.get("a")!.resolve();
      await first;
      await afterReadyWork();
      held.get("c")!.resolve();
      await third;
      expect(checkpoints.log).to.deep.equal(["take a", "run a", "take c", "run c"]);
    });

    it("cancels a call whose checkpoint is being taken at once; the next waits until nobody reads any more", async () => {
      const reading = deferred();
      let seen: AbortSignal | undefined;
      checkpoints.onTake = ({ callId }, signal) => {
        if (callId !== "a") return;
        seen = signal;
        return reading.promise;
      };
      const { execute } = registerMock(runtime, "acme/write", {}, WRITES);
      const context = planOf();
      const first = rejectionOf(runtime.execute("acme/write", {}, context, { callId: "a", timeoutMs: 5 }));
      const second = runtime.execute("acme/write", {}, context, { callId: "b" });
      expect(await first)
        .to.be.instanceOf(ToolExecutionError)
        .with.property("code", "TIMED_OUT");
      await afterReadyWork();
      expect(seen?.aborted).to.equal(true);
      expect([checkpoints.log, execute.callCount]).to.deep.equal([["take a"], 0]);
      reading.resolve();
      expect((await second).trace.checkpointId).to.equal("of-b");
      expect(execute.callCount).to.equal(1);
    });

    it("ends with its plan what waits", async () => {
      const held = registerHeld("acme/write");
      const context = planOf();
      const calls = ["a", "b"].map((callId) => rejectionOf(runtime.execute("acme/write", {}, context, { callId })));
      await afterReadyWork();
      await runtime.deactivatePlan("plan");
      for (const call of calls) expect(await call).to.be.instanceOf(ToolCancelledError);
      expect(held.has("b")).to.equal(false);
      expect(checkpoints.log).to.deep.equal(["take a", "run a"]);
    });

    it("lets nested calls of the holder pass, one at a time, each with a checkpoint of its own", async () => {
      const held = registerHeld("acme/inner");
      const parents: (string | undefined)[] = [];
      checkpoints.onTake = ({ parentCallId }) => {
        parents.push(parentCallId);
      };
      registerMock(
        runtime,
        "acme/outer",
        {
          execute: async (_input: unknown, context: ToolContext) => {
            const made = [context.call("acme/between", {}), context.call("acme/inner", {})];
            for (const { changes } of await Promise.all(made)) expect(changes).to.deep.equal([]);
          },
        },
        WRITES,
      );
      // One that does not write passes the holder's turn on to what it calls.
      registerMock(
        runtime,
        "acme/between",
        { execute: async (_input: unknown, context: ToolContext) => (await context.call("acme/inner", {})).success },
        { writes: false },
      );
      const context = planOf();
      const call = runtime.execute("acme/outer", {}, context, { callId: "outer" });
      const next = runtime.execute("acme/inner", {}, context, { callId: "next" });
      await afterReadyWork();
      expect(held.size).to.equal(1);
      const [[first, end] = []] = held;
      end!.resolve();
      await afterReadyWork();
      expect(held.size).to.equal(2);
      expect(held.has("next")).to.equal(false);
      for (const [id, each] of held) if (id !== first) each.resolve();
      expect((await call).trace.checkpointId).to.equal("of-outer");
      await afterReadyWork();
      held.get("next")!.resolve();
      await next;
      expect(checkpoints.log.filter((line) => line.startsWith("take"))).to.have.lengthOf(4);
      expect(parents.filter((parent) => parent === undefined)).to.have.lengthOf(2);
      const nested = context.traces.filter(({ toolName, parentCallId }) => toolName === "acme/inner" && parentCallId);
      for (const { callId, checkpointId } of nested) expect(checkpointId).to.equal(`of-${callId}`);
    });

    it("keeps the turn of a tool that does not wait for its nested call until that has ended", async () => {
      const held = registerHeld("acme/inner");
      registerMock(
        runtime,
        "acme/outer",
        {
          execute: (_input: unknown, context: ToolContext) => {
            void context.call("acme/inner", {}).catch(() => undefined);
            return new Promise((resolve) => setImmediate(resolve));
          },
        },
        WRITES,
      );
      const context = planOf();
      await runtime.execute("acme/outer", {}, context, { callId: "outer" });
      const next = runtime.execute("acme/inner", {}, context, { callId: "next" });
      await afterReadyWork();
      expect(held.size).to.equal(1);
      expect(held.has("next")).to.equal(false);
      for (const each of held.values()) each.resolve();
      await afterReadyWork();
      held.get("next")!.resolve();
      expect((await next).success).to.equal(true);
    });

    it("does not run what could write to a resource that was bound after the checkpoint", async () => {
      const { execute } = registerMock(runtime, "acme/write", {}, WRITES);
      const context = planOf();
      checkpoints.onTake = () => {
        context.bindResource({ ...repo, path: tmpdir() });
      };
      const error = await rejectionOf(runtime.execute("acme/write", {}, context, { callId: "a" }));
      expect(error).to.be.instanceOf(ToolCheckpointRequiredError).with.property("message").that.includes("bound anew");
      expect(execute.called).to.equal(false);
      // Once it is activated its grant stays, and so does what is saved.
      checkpoints.onTake = () => undefined;
      await runtime.deactivatePlan("plan");
      const fresh = planOf();
      await runtime.execute("acme/write", {}, fresh, { callId: "b" });
      fresh.bindResource({ ...repo, path: tmpdir() });
      const second = planOf({ boundResources: fresh.boundResources });
      await runtime.execute("acme/write", {}, second, { callId: "c" });
      expect(checkpoints.requests.at(-1)?.resources[0]?.path).to.equal(folder);
    });

    it("without a provider runs as it is, and warns once for each plan", async () => {
      const plain = makeRuntime();
      const warnings: WarningEvent[] = [];
      plain.on("warning", (warning) => warnings.push(warning));
      registerMock(plain, "acme/read");
      registerMock(plain, "acme/write", {}, WRITES);
      registerMock(plain, "acme/final", {}, { ...WRITES, checkpointable: false });
      const context = planOf();
      await plain.execute("acme/read", {}, context);
      expect(warnings).to.deep.equal([]);
      for (let times = 0; times < 3; times++) {
        expect((await plain.execute("acme/write", {}, context)).trace).not.to.have.property("checkpointId");
      }
      expect(await rejectionOf(plain.execute("acme/final", {}, context))).to.be.instanceOf(ToolCheckpointRequiredError);
      await plain.execute("acme/write", {}, contextOf("other", { requireCheckpoints: true }));
      await plain.execute("acme/write", {}, contextOf("free"));
      expect(warnings.map(({ code, planId }) => [code, planId])).to.deep.equal([
        ["NO_CHECKPOINTS", "plan"],
        ["NO_CHECKPOINTS", "other"],
      ]);
    });
  });

  describe("restore()", () => {
    it("asks the provider, by an id that checkpoints() lists", async () => {
      registerMock(runtime, "acme/write", {}, WRITES);
      await runtime.execute("acme/write", {}, planOf(), { callId: "a" });
      await runtime.execute("acme/write", {}, contextOf("other", { requireCheckpoints: true }), { callId: "b" });
      expect((await runtime.checkpoints()).map(({ checkpointId }) => checkpointId)).to.deep.equal(["of-a", "of-b"]);
      const [checkpoint] = await runtime.checkpoints("plan");
      expect(await runtime.restore("of-a")).to.deep.equal(checkpoint);
      expect(checkpoints.log.at(-1)).to.equal("restore of-a");
      const error = await rejectionOf(runtime.restore("of-z"));
      expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "INVALID_ARGUMENT");
    });

    it("is refused while calls of the plan run, and while a checkpoint of it is taken or restored", async () => {
      const held = registerHeld("acme/write");
      registerHeld("acme/read", { writes: false });
      const context = planOf();
      const first = runtime.execute("acme/write", {}, context, { callId: "a" });
      await afterReadyWork();
      const running = (await rejectionOf(runtime.restore("of-a"))) as ToolRuntimeError;
      expect([running.code, running.details["callIds"]]).to.deep.equal(["PLAN_IN_USE", ["a"]]);
      expect(running.message).to.include("acme/write a");
      held.get("a")!.resolve();
      await first;

      const reading = deferred();
      checkpoints.onTake = () => reading.promise;
      const second = rejectionOf(runtime.execute("acme/write", {}, context, { callId: "b", timeoutMs: 5 }));
      await second;
      const taking = (await rejectionOf(runtime.restore("of-a"))) as ToolRuntimeError;
      expect([taking.code, taking.message.includes("being taken")]).to.deep.equal(["PLAN_IN_USE", true]);
      reading.resolve();
      await afterReadyWork();

      const restoring = deferred();
      checkpoints.onRestore = () => restoring.promise;
      const restored = runtime.restore("of-a");
      await afterReadyWork();
      const twice = (await rejectionOf(runtime.restore("of-a"))) as ToolRuntimeError;
      expect([twice.code, twice.message.includes("being restored")]).to.deep.equal(["PLAN_IN_USE", true]);
      restoring.resolve();
      await restored;
    });

    it("lets the calls wait that come meanwhile, those too that only read; they can be cancelled", async () => {
      const { execute: write } = registerMock(runtime, "acme/write", {}, WRITES);
      const { execute: read } = registerMock(runtime, "acme/read");
      const context = planOf();
      await runtime.execute("acme/write", {}, context, { callId: "a" });
      const restoring = deferred();
      checkpoints.onRestore = () => restoring.promise;
      const restored = rejectionOf(runtime.restore("of-a"));
      await afterReadyWork();
      const controller = new AbortController();
      const cancelled = rejectionOf(runtime.execute("acme/read", {}, context, { signal: controller.signal }));
      const calls = [runtime.execute("acme/read", {}, context), runtime.execute("acme/write", {}, context)];
      await afterReadyWork();
      expect([write.callCount, read.callCount]).to.deep.equal([1, 0]);
      controller.abort();
      expect(await cancelled).to.be.instanceOf(ToolCancelledError);
      restoring.reject(new Error("cut short"));
      expect(await restored).to.have.property("message", "cut short");
      await Promise.all(calls);
      expect([write.callCount, read.callCount]).to.deep.equal([2, 1]);
    });

    it("without a provider, and in a runtime that is closed, says so", async () => {
      const plain = makeRuntime();
      for (const work of [plain.restore("x"), plain.checkpoints()]) {
        expect(await rejectionOf(work))
          .to.be.instanceOf(ToolRuntimeError)
          .with.property("code", "CHECKPOINT_FAILED");
      }
      await runtime.close();
      expect(await rejectionOf(runtime.restore("x"))).to.have.property("code", "RUNTIME_CLOSED");
    });
  });

  it("a provider without its functions is refused when the runtime is made", () => {
    for (const wrong of [null, {}, { take: () => undefined }, { take: 1, restore: 1, list: 1 }, () => undefined]) {
      expect(thrownBy(() => makeRuntime({ checkpoints: wrong as never }))).to.have.property("code", "INVALID_OPTIONS");
    }
  });
});
