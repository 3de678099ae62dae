import { expect } from "chai";
import sinon from "sinon";
import type { ToolRuntimeBounds } from "../../src/index.js";
import { Activation, type ActivationHost } from "../../src/runtime/activation.js";
import { CancellationToken } from "../../src/runtime/cancellation.js";
import { CellSupply } from "../../src/runtime/cell-supply.js";
import type { Cell, CellEnd, CellTier } from "../../src/runtime/cell.js";
import { emptyGrant } from "../../src/runtime/grant.js";
import { resolveOptions } from "../../src/runtime/options.js";
import { RuntimeEvents } from "../../src/runtime/runtime-events.js";
import { ToolCall } from "../../src/runtime/tool-call.js";
import { ToolRegistry, type Registration } from "../../src/runtime/tool-registry.js";
import { afterReadyWork, codeOf, deferred } from "../support/outcomes.js";
import { contextOf, specOf } from "../support/runtimes.js";

const TOOL = "acme/tool";
const CONTEXT = contextOf("plan");

let lastCell = 0;

/** A cell that does nothing by itself. */
class StillCell implements Cell<ToolCall> {
  readonly info = { id: `still-${++lastCell}`, tier: "thread" } as const;
  readonly canBeKilled = true;
  readonly cpuMs = 0;
  readonly origin = "cold";
  readonly served = 0;
  readonly hasRoom = true;
  readonly held: ToolCall[] = [];
  /** What it was told when it was given back. */
  worn: boolean | undefined;
  readonly deactivated = deferred();
  readonly #ended = deferred<CellEnd>();
  readonly ended = this.#ended.promise;

  get inFlight(): number {
    return this.held.length;
  }

  send(call: ToolCall): void {
    this.held.push(call);
  }

  /** Parts from a call. */
  drop(call: ToolCall): void {
    this.held.splice(this.held.indexOf(call), 1);
  }

  heapUsed(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  cancel(): boolean {
    return true;
  }

  withdraw(): boolean {
    return false;
  }

  hasStarted(): boolean {
    return false;
  }

  calls(): ToolCall[] {
    return [...this.held];
  }

  deactivate(): Promise<void> {
    return this.deactivated.promise;
  }

  release(worn: boolean): Promise<void> {
    this.worn = worn;
    this.end("released");
    return Promise.resolve();
  }

  kill(): Promise<CellEnd> {
    return this.ended;
  }

  end(kind: CellEnd["kind"]): void {
    this.#ended.resolve({ kind });
  }
}

describe("runtime/activation", () => {
  let cells: StillCell[];
  let start: sinon.SinonStub<[], Promise<Cell<ToolCall>>>;
  let evicted: sinon.SinonSpy;

  beforeEach(() => {
    cells = [];
    start = sinon.stub<[], Promise<Cell<ToolCall>>>().callsFake(() => {
      const cell = new StillCell();
      cells.push(cell);
      return Promise.resolve(cell);
    });
    evicted = sinon.spy();
  });

  const activationOf = (maxCells = 1, bounded = false, bounds: ToolRuntimeBounds = {}): Activation => {
    const events = new RuntimeEvents();
    events.on("warning", () => undefined);
    const registry = new ToolRegistry();
    registry.register(specOf(TOOL, { capability: { writes: false, stateless: true } }), {
      execute: () => undefined,
      maxCells,
    });
    const host: ActivationHost = {
      options: resolveOptions(bounds),
      graceMs: 0,
      supply: new CellSupply(2),
      events,
      pauseTurn: () => undefined,
      resumeTurn: () => undefined,
      ask: () => Promise.resolve(undefined),
      lateResult: () => undefined,
      activated: () => undefined,
      evicted,
    };
    const tier = { bounded, start } as unknown as CellTier;
    const granted = { grant: emptyGrant(512), resources: [] };
    const message = { toolName: TOOL, planId: CONTEXT.planId, traceId: "", resources: [] };
    return new Activation(host, registry.registration(TOOL) as Registration, tier, granted, message);
  };
  const callOf = (input?: unknown, parent?: ToolCall): ToolCall =>
    new ToolCall({ context: CONTEXT, toolName: TOOL, input, parent, tokens: [] });
  const cellAt = (at: number): StillCell => cells[at] as StillCell;
  /** An activation with a cell that runs calls. */
  const running = async (calls: readonly ToolCall[], maxCells = 1): Promise<Activation> => {
    const activation = activationOf(maxCells);
    for (const call of calls) activation.run(call);
    await afterReadyWork();
    return activation;
  };
  /** Lets a late error spoil a cell. */
  const spoil = (activation: Activation, cell: StillCell): void => {
    activation.stray(cell, undefined, true, new Error("late"));
  };

  it("answered() sends a call again that its cell skipped though nobody told it to stop", async () => {
    const call = callOf();
    const activation = await running([call]);
    const cell = cellAt(0);
    cell.drop(call);
    activation.answered(cell, call, { slot: 1, generation: 1, kind: "skipped" });
    expect(cell.held).to.deep.equal([call]);
    expect(call.settled).to.equal(false);
  });

  it("answered() ends a call that its cell skipped since it was told to stop", async () => {
    const call = callOf();
    const activation = await running([call]);
    call.interrupt("cancelled", undefined);
    cellAt(0).drop(call);
    activation.answered(cellAt(0), call, { slot: 1, generation: 1, kind: "skipped" });
    expect(await call.ended).to.include({ kind: "answer" });
  });

  it("run() copies the input of a call that is sent behind others, whatever the caller does to it afterwards", async () => {
    const inputs = [{ value: 1 }, { value: 1, list: [1] }];
    const calls = inputs.map((input) => callOf(input));
    const activation = await running([callOf()]);
    for (const call of calls) activation.run(call);
    for (const input of inputs) input.value = 2;
    expect(calls.map(({ input }) => input)).to.deep.equal([{ value: 1 }, { value: 1, list: [1] }]);
  });

  it("startFailed() does not give an activation up while one of its cells still ends", async () => {
    const activation = activationOf();
    const ready = activation.activate(new CancellationToken());
    await ready;
    spoil(activation, cellAt(0));
    start.rejects(new Error("not now"));
    const call = callOf();
    activation.run(call);
    expect(await call.ended).to.include({ kind: "failed" });
    sinon.assert.notCalled(evicted);
    cellAt(0).end("killed");
    await afterReadyWork();
    sinon.assert.calledOnceWithExactly(evicted, activation);
  });

  it("cellEnded() gives an activation up when its last cell has ended, and sends what comes back from it", async () => {
    const calls = [callOf(), callOf()];
    const activation = await running(calls, 2);
    expect(cells).to.have.length(2);
    const [first, second] = [cellAt(0), cellAt(1)];
    second.send(calls[1] as ToolCall);
    first.held.length = 0;
    first.send(calls[0] as ToolCall);
    // Nobody's error: the cell is killed, and its call comes back when it has ended.
    activation.stray(first, undefined, false, new Error("whose?"));
    second.drop(calls[1] as ToolCall);
    second.end("crashed");
    await afterReadyWork();
    sinon.assert.notCalled(evicted);
    first.end("killed");
    await afterReadyWork();
    expect(cellAt(2).held).to.deep.equal([calls[0]]);
    sinon.assert.notCalled(evicted);
  });

  it("run() gives a cell that has served long enough up once its calls are over, and has another one by then", async () => {
    const activation = activationOf(1, true, { recycleAfterCalls: 2 });
    const [first, second, third] = [callOf(), callOf(), callOf()] as const;
    activation.run(first);
    await afterReadyWork();
    activation.run(second);
    await afterReadyWork();
    const worn = cellAt(0);
    expect(worn.held).to.deep.equal([first, second]);
    expect(cells).to.have.length(2);
    activation.run(third);
    expect(cellAt(1).held).to.deep.equal([third]);
    for (const call of [first, second]) {
      expect(worn.worn).to.equal(undefined);
      worn.deactivated.resolve();
      worn.drop(call);
      activation.answered(worn, call, { slot: 1, generation: 1, kind: "output", output: 1, size: 1 });
      await afterReadyWork();
    }
    expect(worn.worn).to.equal(true);
    expect(activation.cells).to.deep.equal([cellAt(1).info]);
  });

  it("run() has a call wait in line for a cell where the only one drains", async () => {
    const activation = activationOf(1, true, { recycleAfterCalls: 1 });
    const calls = [callOf(), callOf(), callOf()] as const;
    for (const call of calls) {
      activation.run(call);
      await afterReadyWork();
    }
    // Two cells are all that there may be, and both have a call.
    expect(cells.map(({ held }) => held)).to.deep.equal([[calls[0]], [calls[1]]]);
    const worn = cellAt(0);
    worn.deactivated.resolve();
    worn.drop(calls[0]);
    activation.answered(worn, calls[0], { slot: 1, generation: 1, kind: "output", output: 1, size: 1 });
    await afterReadyWork();
    expect(cellAt(2).held).to.deep.equal([calls[2]]);
  });

  it("run() recycles nothing on a tier whose cells share the host's thread", async () => {
    const activation = activationOf(1, false, { recycleAfterCalls: 1 });
    for (let call = 0; call < 3; call++) {
      activation.run(callOf());
      await afterReadyWork();
    }
    expect(cells).to.have.length(1);
  });

  describe("a nested call whose tool's only cell is about to leave", () => {
    const leaving = async (): Promise<{ activation: Activation; nested: ToolCall }> => {
      const outer = callOf();
      const activation = await running([outer]);
      spoil(activation, cellAt(0));
      return { activation, nested: callOf(undefined, outer) };
    };

    it("run() starts another cell for it", async () => {
      const { activation, nested } = await leaving();
      activation.run(nested);
      await afterReadyWork();
      expect(cellAt(1).held).to.deep.equal([nested]);
    });

    it("run() fails it where that cell does not start, since its caller would wait for ever", async () => {
      const { activation, nested } = await leaving();
      start.rejects(new Error("not now"));
      activation.run(nested);
      const end = await nested.ended;
      expect(end.kind === "failed" && codeOf(end.error)).to.equal("ACTIVATION_FAILED");
    });
  });
});
