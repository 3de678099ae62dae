import { expect } from "chai";
import { ToolRuntime, type CellEvent, type ToolResult, type ToolRuntimeOptions } from "../../../src/index.js";
import { Recorder } from "../../contract/recorder.js";
import { fixtureOptions, fixtureSpec, fixtureUrl } from "../../fixtures/tools.js";

const BEE = "fixture/worker-bee";
const DELEGATE = "fixture/delegate";
const SCRIPT = "fixture/script";
const moduleOf = (name: string): URL => new URL(`../../fixtures/tools/${name}.js`, import.meta.url);

describe("cells that are recycled", function () {
  this.timeout(60_000);
  let runtime: ToolRuntime;
  let recorder: Recorder;

  afterEach(() => runtime.close());

  const open = async (options: ToolRuntimeOptions): Promise<void> => {
    runtime = new ToolRuntime({ spareCells: 0, ...options });
    recorder = new Recorder(runtime);
    await runtime.registerModule(moduleOf("worker-bee"));
  };
  const script = (stateless: boolean): void => {
    runtime.register(fixtureSpec("script"), {
      ...fixtureOptions("script", { capability: { stateless } }),
      module: fixtureUrl("script"),
    });
  };
  const ended = (): CellEvent[] => recorder.cells.filter(({ type }) => type === "ended");
  const cellsOf = (results: readonly ToolResult[]): (string | undefined)[] =>
    results.map(({ trace }) => trace.cell?.id);
  const recycled = (): number =>
    runtime.metrics().counters["toolcell.cell.recycled"].points.reduce((sum, { value }) => sum + value, 0);

  it("recycleAfterCalls gives a stateless tool a new worker after so many calls", async () => {
    await open({ recycleAfterCalls: 3 });
    const plan = runtime.plan({ planId: "plan" });
    const results: ToolResult[] = [];
    for (let call = 0; call < 9; call++) results.push(await plan.execute(BEE, {}));
    const [first, , , second, , , third] = results.map(({ trace }) => trace.cell?.threadId);
    expect(new Set([first, second, third]).size).to.equal(3);
    expect(results.map(({ trace }) => trace.cell?.threadId)).to.deep.equal(
      [first, second, third].flatMap((thread) => [thread, thread, thread]),
    );
    await plan.deactivate();
    expect(
      ended()
        .map(({ end, recycled: why }) => [end?.kind, why])
        .slice(0, 3),
    ).to.deep.equal(Array(3).fill(["released", "calls"]));
    expect(recycled()).to.equal(3);
  });

  for (const maxLiveCells of [1, 2, 4]) {
    it(`recycleAfterCalls loses no call of a flood with ${maxLiveCells} cells`, async () => {
      await open({ recycleAfterCalls: 7, maxLiveCells, maxCellsPerTool: 3 });
      const plans = ["one", "other"].map((planId) => runtime.plan({ planId }));
      const results = await Promise.all(
        plans.flatMap((plan) => Array.from({ length: 60 }, (_none, at) => plan.execute(BEE, { work: at * 100 }))),
      );
      expect(results.map(({ trace }) => trace.outcome)).to.deep.equal(Array(120).fill("ok"));
      const perCell = new Map<string | undefined, number>();
      for (const id of cellsOf(results)) perCell.set(id, (perCell.get(id) ?? 0) + 1);
      expect(Math.max(...perCell.values())).to.be.at.most(7);
      expect(perCell.size).to.be.at.least(Math.ceil(120 / 7));
    });
  }

  it("recycleAfterCalls counts the calls of a worker over the plans that it serves", async () => {
    await open({ recycleAfterCalls: 4 });
    const threads: unknown[] = [];
    for (let round = 0; round < 6; round++) {
      const plan = runtime.plan({ planId: `plan-${round}` });
      for (let call = 0; call < 2; call++) threads.push((await plan.execute(BEE, {})).trace.cell?.threadId);
      await plan.deactivate();
    }
    const distinct = [...new Set(threads)];
    expect(distinct).to.have.length(3);
    expect(threads).to.deep.equal(distinct.flatMap((thread) => [thread, thread, thread, thread]));
  });

  it("recycleAfterCalls lets a call in that a call of the cell waits for", async () => {
    await open({ recycleAfterCalls: 1, maxLiveCells: 1 });
    await runtime.registerModule(moduleOf("delegate"), { capability: { writes: false, stateless: true } });
    const plan = runtime.plan({ planId: "plan" });
    const input = { tool: DELEGATE, input: { tool: "fixture/none", input: {} } };
    const results = await Promise.all([1, 2, 3].map(() => plan.execute(DELEGATE, input)));
    expect(results.map(({ output }) => output)).to.deep.equal(Array(3).fill([["NOT_REGISTERED"]]));
    expect(new Set(cellsOf(results)).size).to.equal(3);
  });

  it("recycleAfterCalls leaves a tool that keeps state alone", async () => {
    await open({ recycleAfterCalls: 1, recycleHeapMb: 1 });
    script(false);
    const plan = runtime.plan({ planId: "plan" });
    const code = "seen.set('n', (seen.get('n') ?? 0) + 1); return seen.get('n');";
    const outputs: unknown[] = [];
    for (let call = 0; call < 5; call++) outputs.push((await plan.execute(SCRIPT, { code })).output);
    expect(outputs).to.deep.equal([1, 2, 3, 4, 5]);
    expect(recycled()).to.equal(0);
  });

  it("recycleHeapMb replaces a cell whose heap stays above the mark, and no other", async () => {
    await open({ recycleHeapMb: 32 });
    script(true);
    const plan = runtime.plan({ planId: "plan" });
    const light = await plan.execute(SCRIPT, { code: "return 1;" });
    const hoard = "seen.set('hoard', Array.from({ length: 8_000_000 }, (_, n) => n + 0.5)); return 2;";
    const heavy = await plan.execute(SCRIPT, { code: hoard });
    expect(heavy.trace.cell?.id).to.equal(light.trace.cell?.id);
    const [event] = await recorder.cellsEnded(1);
    expect(event).to.deep.include({ recycled: "heap", cell: heavy.trace.cell });
    const next = await plan.execute(SCRIPT, { code: "return seen.size;" });
    expect(next.output).to.equal(0);
    expect(next.trace.cell?.threadId).not.to.equal(heavy.trace.cell?.threadId);
  });

  it("recycleHeapMb keeps a worker that is heavy when its plan ends from serving the next one", async () => {
    await open({ recycleHeapMb: 32 });
    script(true);
    const run = async (planId: string, code: string): Promise<ToolResult> => {
      const plan = runtime.plan({ planId });
      const result = await plan.execute(SCRIPT, { code });
      await plan.deactivate();
      return result;
    };
    const light = await run("one", "return 1;");
    const hoard = "seen.set('hoard', Array.from({ length: 8_000_000 }, (_, n) => n + 0.5)); return 2;";
    const heavy = await run("two", hoard);
    expect(heavy.trace.cell?.threadId).to.equal(light.trace.cell?.threadId);
    const next = await run("three", "return seen.size;");
    expect(next.output).to.equal(0);
  });
});
