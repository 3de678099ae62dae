/** One call under test, with whatever it needs around it. Timers run on a clock that the scenario holds. */
import { expect } from "chai";
import sinon from "sinon";
import {
  ToolRuntime,
  type ExecuteOptions,
  type ToolCapability,
  type ToolContext,
  type ToolExecutionContext,
  type ToolExecutionContextOptions,
  type ToolResult,
  type ToolRuntimeOptions,
  type ToolSpec,
} from "../../../src/index.js";
import { Recorder, type Loose } from "../../contract/recorder.js";
import { registerModule } from "../../contract/tier-bed.js";
import { Folder } from "../../fixtures/folder.js";
import { contextOf, registerMock, type MockBehaviour } from "../../support/runtimes.js";
import { endOf, type End } from "./end.js";

/** The tool whose call is looked at. */
export const SUBJECT = "acme/subject";
const PARENT = "acme/parent";
const GRACE_MS = 50;
const KILL_TIMEOUT_MS = 2_000;
const DEADLINE_MS = 5_000;
/** What a subject answers whatever else it does. */
const NEXT = { code: "return 1" };

/** Ways to be told to stop, by the code of the error. */
export const STOPS = ["CANCELLED", "TIMED_OUT", "COST_LIMIT_EXCEEDED"] as const;
/** One of {@link STOPS}. */
export type Stop = (typeof STOPS)[number];

/** A call beside the one that is looked at. */
export interface Neighbour {
  abort(): void;
  readonly ended: Promise<End>;
}

const open: Stage[] = [];

/** A runtime for one scenario. */
export class Stage {
  readonly clock: sinon.SinonFakeTimers;
  readonly runtime: ToolRuntime;
  readonly recorder: Recorder;
  /** Of the call that is looked at. */
  context: ToolExecutionContext;
  end!: Promise<End>;
  /** Tells the call to stop, once it was begun so that it can be told. */
  stop!: () => void;
  /** Takes away what stood in the call's way. */
  readonly clear: (() => unknown)[] = [];
  #folder: Folder | undefined;
  /** The call that shows that the runtime serves. */
  next = (): Promise<ToolResult> => this.runtime.execute(SUBJECT, NEXT, this.context);

  /** @param wholeClock whether also `performance.now()` is the scenario's */
  constructor(options: ToolRuntimeOptions = {}, wholeClock = false) {
    const performance = wholeClock ? (["performance"] as const) : [];
    this.clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", ...performance] });
    this.runtime = new ToolRuntime({ spareCells: 0, graceMs: GRACE_MS, killTimeoutMs: KILL_TIMEOUT_MS, ...options });
    this.recorder = new Recorder(this.runtime);
    this.context = this.contextOf("plan");
    open.push(this);
  }

  /** Ends what scenarios have left, those that failed included. */
  static async closeAll(): Promise<void> {
    for (const stage of open.splice(0)) await stage.close();
  }

  /** A context in whose plan a caller has one unit to spend. */
  contextOf(planId: string, rest: Partial<ToolExecutionContextOptions> = {}): ToolExecutionContext {
    return contextOf(planId, { budget: { tools: { [PARENT]: { cost: 1 } } }, ...rest });
  }

  /** Registers the tool inline. */
  inline(behaviour: MockBehaviour = {}, capability: ToolCapability = {}, spec: Partial<ToolSpec> = {}): void {
    const execute = (input: unknown, context: ToolContext): unknown => {
      context.log.info("started");
      return (input as Loose)?.code === NEXT.code ? 1 : behaviour.execute?.(input, context);
    };
    registerMock(this.runtime, SUBJECT, { ...behaviour, execute }, { writes: false, ...capability }, spec);
  }

  /** Registers the tool in a cell; its input is a script. */
  async cell(capability: ToolCapability = {}, spec: Partial<ToolSpec> = {}, name = SUBJECT): Promise<void> {
    this.#folder = new Folder();
    this.mode("ready");
    const resource = { slotName: "state", resourceId: "r", resourceType: "folder", path: this.#folder.path } as const;
    this.context = this.contextOf(this.context.planId, { boundResources: [resource] });
    await registerModule(this.runtime, "staged", { capability, spec: { name, ...spec } });
  }

  /** How the tool's further cells are made ready: at once, never (`hang`), or not at all (`throw`). */
  mode(mode: "ready" | "hang" | "throw"): void {
    this.#folder?.write("mode", mode);
  }

  /** Begins the call. */
  call(input: unknown = {}, options: ExecuteOptions = {}): void {
    this.end = endOf(this.runtime.execute(SUBJECT, input, this.context, options));
  }

  /** Begins the call so that `stop` ends it with a code. */
  begin(stop: Stop, input: unknown = {}): void {
    const controller = new AbortController();
    switch (stop) {
      case "CANCELLED":
        this.stop = () => controller.abort();
        this.call(input, { signal: controller.signal });
        break;
      case "TIMED_OUT":
        this.stop = () => this.clock.tick(DEADLINE_MS);
        this.call(input, { timeoutMs: DEADLINE_MS });
        break;
      case "COST_LIMIT_EXCEEDED":
        this.nest(({ call, reportCost }) => {
          this.stop = () => reportCost(2);
          return call(SUBJECT, input);
        });
    }
  }

  /** Lets another tool make the call. */
  nest(make: (context: ToolContext) => Promise<ToolResult>, options: ExecuteOptions = {}): void {
    this.end = new Promise((resolve) => {
      const execute = (_input: unknown, context: ToolContext): Promise<void> =>
        endOf(make(context)).then((end) => resolve(end));
      registerMock(this.runtime, PARENT, { execute });
      void endOf(this.runtime.execute(PARENT, {}, this.context, options));
    });
  }

  /** Begins another call of the tool in the same plan, and waits until it has started. */
  async neighbour(input: unknown): Promise<Neighbour> {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = endOf(this.runtime.execute(SUBJECT, input, this.context, { signal, callId: "neighbour" }));
    await this.started("neighbour");
    return { abort: () => controller.abort(), ended };
  }

  /** Begins a call of another tool that runs until it is let go. @returns lets it go */
  async holder(planId = "other", callId = "holder"): Promise<() => Promise<unknown>> {
    let go!: () => void;
    const held = new Promise<void>((resolve) => (go = resolve));
    const started = new Promise<void>((resolve) => {
      registerMock(this.runtime, "acme/holder", { execute: () => (resolve(), held) });
    });
    const ended = this.runtime.execute("acme/holder", {}, contextOf(planId), { callId });
    await started;
    return () => (go(), ended);
  }

  /** Says that the call is in a state, in the words of `calls()`. */
  shows(phase: string): void {
    expect(this.runtime.calls().find(isSubject)?.phase).to.equal(phase);
  }

  /** Resolves when a call has logged that it started; by default the one that is looked at. */
  async started(callId?: string): Promise<void> {
    const found = (): boolean =>
      this.recorder.logs.some((log) => log.message === "started" && (callId ? log.callId === callId : isSubject(log)));
    await this.recorder.until(found);
  }

  /** Lets the grace of a call that was told to stop pass. */
  graceEnds(): void {
    this.clock.tick(GRACE_MS);
  }

  /** Lets the time pass that a killed cell has to end. */
  killTimesOut(): void {
    this.clock.tick(KILL_TIMEOUT_MS);
  }

  /** Ends what stood in the way, and gives back the clock. */
  async cleared(): Promise<void> {
    this.clock.restore();
    for (const clear of this.clear.splice(0)) await clear();
  }

  async close(): Promise<void> {
    this.clock.restore();
    for (const clear of this.clear.splice(0)) void clear();
    await this.runtime.close({ graceMs: 0 });
    this.#folder?.remove();
  }
}

/** Whether something is about the call that is looked at, or a neighbour of it. */
export function isSubject({ toolName, callId }: { readonly toolName?: string; readonly callId?: string }): boolean {
  return toolName === SUBJECT && callId !== "neighbour";
}
