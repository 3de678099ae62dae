/** The inline tier: tool code on the host's own thread. For what is trusted and tiny; it holds nothing and cannot be killed. */
import { CancelWords, LIFECYCLE_SLOT, type CancelReason } from "../protocol/cancel-words.js";
import { ToolActivationError, ToolDeactivationError } from "../protocol/errors.js";
import type { FromCell } from "../protocol/messages.js";
import type { ToolImplementation } from "../protocol/tool.js";
import type { CellInfo } from "../protocol/trace.js";
import type { Cell, CellCall, CellEnd, CellRequest, CellTier, Enforcement } from "../runtime/cell.js";
import { cellLimits, type ResolvedOptions } from "../runtime/options.js";
import { CancelToken } from "../../workers/cancel-token.js";
import { CellEngine } from "../../workers/cell-engine.js";
import { ActivationContext } from "../../workers/tool-context.js";
import { CallPort } from "./call-port.js";
import { withDeadline } from "./deadline.js";

const NOTHING_HELD: readonly Enforcement[] = (
  ["fs.read", "fs.write", "net", "spawn", "env", "memory", "cpu"] as const
).map((subject) => ({ subject, granted: "everything the host may do", enforcedBy: "nothing", holds: false }));

/** Makes the inline tier. */
export function inlineTier(options: ResolvedOptions): CellTier {
  return {
    tier: "inline",
    bounded: false,
    quarantined: 0,
    ready: { spare: 0, warm: 0 },
    hostHeapFlag: undefined,
    accepts: (source) => source.kind === "object",
    expect: () => undefined,
    forget: () => undefined,
    start: (request) => startInline(request, options),
    describe: () => Promise.reject(new ToolActivationError("the inline tier runs no modules")),
    enforcement: () => NOTHING_HELD,
    close: () => Promise.resolve(),
  };
}

async function startInline<Call extends CellCall>(
  request: CellRequest<Call>,
  options: ResolvedOptions,
): Promise<Cell<Call>> {
  if (request.source.kind !== "object") throw new ToolActivationError("the inline tier runs no modules");
  const cell = new InlineCell(request, request.source.implementation, options);
  await cell.activate(request.timeoutMs, request.signal);
  return cell;
}

let lastId = 0;

class InlineCell<Call extends CellCall> implements Cell<Call> {
  readonly info: CellInfo = Object.freeze({ id: `inline-${++lastId}`, tier: "inline" });
  readonly ended: Promise<CellEnd>;
  readonly canBeKilled = false;
  readonly #request: CellRequest<Call>;
  readonly #implementation: ToolImplementation;
  readonly #words: CancelWords;
  readonly #port: CallPort<Call>;
  readonly #engine: CellEngine;
  #generation = 0;
  #open = true;
  #end: ((end: CellEnd) => void) | undefined;

  constructor(request: CellRequest<Call>, implementation: ToolImplementation, options: ResolvedOptions) {
    this.#request = request;
    this.#implementation = implementation;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#words = CancelWords.allocate(options.maxCallsPerCell + 1);
    this.#port = new CallPort({
      cell: this,
      words: this.#words,
      observer: request.observer,
      // Copies, as on every tier: a tool never holds its caller's objects.
      post: (message, transfer) => {
        const copy = structuredClone(message, { transfer: [...transfer] });
        // No tool runs inside of its caller's `execute`.
        queueMicrotask(() => {
          if (this.#open) this.#engine.receive(copy);
        });
      },
    });
    this.#engine = new CellEngine({
      words: this.#words,
      limits: cellLimits(options),
      activation: request.activation,
      execute: (input, context) => implementation.execute(input as never, context),
      post: (message, transfer) => {
        this.#port.receive(structuredClone<FromCell>(message, { transfer: [...transfer] }));
      },
      within: (key, run) => {
        const call = this.#port.at(key);
        return call?.inCallerContext ? call.inCallerContext(run) : run();
      },
    });
  }

  async activate(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const activated = async (): Promise<void> => this.#implementation.activate?.(this.#lifecycle());
    const late = (): Error =>
      new ToolActivationError(`activate did not end within ${timeoutMs} ms`, { code: "ACTIVATION_TIMED_OUT" });
    await withDeadline(activated(), timeoutMs, late, signal);
  }

  /** The host's thread has others to serve. */
  readonly cpuMs = 0;
  readonly origin = "cold";

  get served(): number {
    return this.#port.sent;
  }

  /** Nor has it a heap of its own. */
  heapUsed(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  get inFlight(): number {
    return this.#port.inFlight;
  }

  get hasRoom(): boolean {
    return this.#port.hasRoom;
  }

  send(call: Call): void {
    this.#port.send(call);
  }

  cancel(call: Call, reason: CancelReason): boolean {
    const started = this.#port.cancel(call, reason);
    this.#engine.ring();
    return started;
  }

  withdraw(call: Call): boolean {
    return this.#port.withdraw(call);
  }

  hasStarted(call: Call): boolean {
    return this.#port.hasStarted(call);
  }

  calls(): Call[] {
    return this.#port.calls();
  }

  async deactivate(timeoutMs: number): Promise<void> {
    const deactivated = async (): Promise<void> => this.#implementation.deactivate?.(this.#lifecycle());
    await withDeadline(
      deactivated(),
      timeoutMs,
      () => new ToolDeactivationError(`deactivate did not end within ${timeoutMs} ms`),
    );
  }

  async release(): Promise<void> {
    this.#finish({ kind: "released" });
    await this.ended;
  }

  async kill(): Promise<CellEnd> {
    this.#finish({ kind: this.#engine.running > 0 ? "abandoned" : "released" });
    return this.ended;
  }

  #finish(end: CellEnd): void {
    this.#open = false;
    this.#port.close();
    this.#end?.(end);
  }

  /** Each stage gets a token of its own. */
  #lifecycle(): ActivationContext {
    this.#generation = this.#words.open(LIFECYCLE_SLOT, this.#generation);
    return new ActivationContext(
      this.#request.activation,
      new CancelToken(this.#words, LIFECYCLE_SLOT, this.#generation),
      {
        event: (event) => {
          this.#engine.tell(undefined, event);
        },
        request: () => Promise.reject(new Error("only a call may ask for something")),
      },
    );
  }
}
