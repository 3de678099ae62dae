/** A worker leased to one activation: the thread tier's cell. */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import { releaseProxy, wrap, type Remote } from "comlink";
import { CancelWords, LIFECYCLE_SLOT, type CancelReason } from "../../protocol/cancel-words.js";
import { decodeError } from "../../protocol/error-codec.js";
import { ToolActivationError, ToolDeactivationError } from "../../protocol/errors.js";
import type { CellControl, CellLimits, ControlReply, FromCell } from "../../protocol/messages.js";
import type { CellInfo } from "../../protocol/trace.js";
import type { Cell, CellCall, CellEnd, CellOrigin, CellRequest } from "../../runtime/cell.js";
import { CallPort } from "../call-port.js";
import { withDeadline } from "../deadline.js";
import type { CellWorker, WorkerExit } from "./worker-pool.js";

/** What leases share. */
export interface LeaseSettings {
  readonly slots: number;
  readonly limits: CellLimits;
  readonly killTimeoutMs: number;
  /** Calls after which a worker is not leased again. */
  readonly recycleAfterCalls: number;
  /** Bytes of heap in use above which it is not; absent where its heap does not matter. */
  readonly recycleHeapBytes: number | undefined;
  /** Takes a worker back that ended its lease clean. */
  reuse(worker: CellWorker): void;
  /** Hears of a worker that could not be ended. */
  quarantine(worker: CellWorker): void;
}

let lastId = 0;

/** A leased worker. */
export class ThreadCell<Call extends CellCall> implements Cell<Call> {
  readonly info: CellInfo;
  readonly ended: Promise<CellEnd>;
  readonly canBeKilled = true;
  readonly origin: CellOrigin;
  readonly #request: CellRequest<Call>;
  readonly #worker: CellWorker;
  readonly #settings: LeaseSettings;
  readonly #words: CancelWords;
  readonly #port: CallPort<Call>;
  readonly #callPort: MessagePort;
  readonly #controlPort: MessagePort;
  readonly #control: Remote<CellControl>;
  readonly #gone: Promise<never>;
  /** What the worker had come to before this lease. */
  readonly #activeBefore: number;
  #generation = 0;
  #interrupted = false;
  #started = false;
  /** An error that escapes while the tool is made ready fails the start: what it left undone is unknown. */
  #failStart: ((error: Error) => void) | undefined;
  #endingAs: "killed" | "released" | undefined;
  #killing: Promise<CellEnd> | undefined;
  #end!: (end: CellEnd) => void;
  #over = false;
  #cpuMs = 0;
  #leaveWorker: (() => void) | undefined;

  private constructor(
    worker: CellWorker,
    request: CellRequest<Call> & { source: { kind: "module" } },
    settings: LeaseSettings,
  ) {
    this.#worker = worker;
    this.#request = request;
    this.#settings = settings;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#activeBefore = worker.activeMs;
    this.origin = worker.origin;
    worker.origin = "warm";
    const calls = new MessageChannel();
    const control = new MessageChannel();
    this.#callPort = calls.port1;
    this.#controlPort = control.port1;
    this.#words = CancelWords.allocate(settings.slots);
    worker.lease(
      {
        module: request.source.url,
        activation: request.activation,
        confinement: worker.profile.confinement,
        cancelBuffer: this.#words.buffer,
        slots: settings.slots,
        limits: settings.limits,
        controlPort: control.port2,
        callPort: calls.port2,
      },
      [control.port2, calls.port2],
    );
    const threadId = worker.threadId;
    this.info = Object.freeze({
      id: `thread-${++lastId}`,
      tier: "thread",
      ...(threadId !== undefined && { threadId }),
      pid: process.pid,
    });
    this.#port = new CallPort({
      cell: this,
      words: this.#words,
      observer: {
        answered: (...args) => request.observer.answered(...args),
        refused: (...args) => request.observer.refused(...args),
        told: (...args) => request.observer.told(...args),
        asked: (...args) => request.observer.asked(...args),
        stray: (cell, call, late, error) => {
          if (this.#started) request.observer.stray(cell, call, late, error);
          else this.#failStart?.(error);
        },
      },
      post: (message, transfer) => {
        this.#callPort.postMessage(message, transfer as ArrayBuffer[]);
      },
    });
    this.#callPort.on("message", (message: FromCell) => {
      this.#port.receive(message);
    });
    // The worker exposes and main wraps, never the reverse: what main exposes, a cell could run.
    this.#control = wrap<CellControl>(this.#controlPort);
    this.#gone = new Promise((_resolve, reject) => {
      this.#leaveWorker = worker.onExit((exit) => {
        this.#exited(exit);
        reject(exit.error ?? new Error(`the worker ended with exit code ${exit.exitCode}`));
      });
    });
    this.#gone.catch(() => undefined);
  }

  /** Leases the worker and makes the tool ready. On failure the worker is ended. */
  static async start<Call extends CellCall>(
    worker: CellWorker,
    request: CellRequest<Call>,
    settings: LeaseSettings,
  ): Promise<ThreadCell<Call>> {
    const cell = ThreadCell.#lease(worker, request, settings);
    const { timeoutMs } = request;
    const late = (): Error =>
      new ToolActivationError(`the cell was not ready within ${timeoutMs} ms`, { code: "ACTIVATION_TIMED_OUT" });
    try {
      const activated = cell.#control.activate(cell.#nextGeneration());
      const escaped = new Promise<never>((_resolve, reject) => (cell.#failStart = reject));
      valueOf(await withDeadline(Promise.race([activated, cell.#gone, escaped]), timeoutMs, late, request.signal));
      cell.#started = true;
      return cell;
    } catch (error) {
      await cell.kill();
      throw error;
    }
  }

  /** Reads what a module says of itself. The worker is ended afterwards. */
  static async describe(worker: CellWorker, request: CellRequest<CellCall>, settings: LeaseSettings): Promise<unknown> {
    const cell = ThreadCell.#lease(worker, request, settings);
    const { timeoutMs } = request;
    const late = (): Error =>
      new ToolActivationError(`the module was not read within ${timeoutMs} ms`, { code: "ACTIVATION_TIMED_OUT" });
    try {
      return valueOf(
        await withDeadline(Promise.race([cell.#control.describe(), cell.#gone]), timeoutMs, late, request.signal),
      );
    } finally {
      await cell.kill();
    }
  }

  static #lease<Call extends CellCall>(
    worker: CellWorker,
    request: CellRequest<Call>,
    settings: LeaseSettings,
  ): ThreadCell<Call> {
    if (request.source.kind !== "module") throw new ToolActivationError("the thread tier runs modules");
    return new ThreadCell(worker, { ...request, source: request.source }, settings);
  }

  get cpuMs(): number {
    if (!this.#over) this.#cpuMs = this.#worker.activeMs - this.#activeBefore;
    return this.#cpuMs;
  }

  get served(): number {
    return this.#worker.calls + (this.#over ? 0 : this.#port.sent);
  }

  async heapUsed(): Promise<number | undefined> {
    try {
      return bytes((await this.#control.stats()).heapUsed);
    } catch {
      // The lease is over, or the cell says nothing of use.
      return undefined;
    }
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
    this.#interrupted ||= started;
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
    const late = (): Error => new ToolDeactivationError(`deactivate did not end within ${timeoutMs} ms`);
    const work = Promise.race([this.#control.deactivate(this.#nextGeneration()), this.#gone]);
    valueOf(await withDeadline(work, timeoutMs, late));
  }

  async release(worn: boolean): Promise<void> {
    const { killTimeoutMs, recycleAfterCalls, recycleHeapBytes } = this.#settings;
    try {
      const late = (): Error => new Error("the cell did not let go");
      const released = this.#control.release(recycleHeapBytes !== undefined);
      const report = await withDeadline(Promise.race([released, this.#gone]), killTimeoutMs, late);
      // Work that was told to stop, and what a tool left open, must not run into the next lease.
      const { trusted, stateless } = this.#request;
      const clean = trusted && stateless && !this.#interrupted && report.leftovers.length === 0;
      const heavy = recycleHeapBytes !== undefined && !((bytes(report.heapUsed) ?? Infinity) <= recycleHeapBytes);
      const fit = !worn && !heavy && this.served < recycleAfterCalls;
      if (clean && fit && !this.#over) {
        this.#finish({ kind: "released" });
        this.#words.ring();
        this.#settings.reuse(this.#worker);
        return;
      }
    } catch {
      // A cell that does not let go is ended like one that may not serve again.
    }
    await this.kill("released");
  }

  kill(as: "killed" | "released" = "killed"): Promise<CellEnd> {
    this.#killing ??= this.#kill(as);
    return this.#killing;
  }

  async #kill(as: "killed" | "released"): Promise<CellEnd> {
    this.#endingAs = as;
    const ended = await this.#worker.kill(this.#settings.killTimeoutMs);
    if (!ended && !this.#over) {
      this.#settings.quarantine(this.#worker);
      this.#finish({ kind: "quarantined" });
    }
    return this.ended;
  }

  #exited(exit: WorkerExit): void {
    if (this.#over) return;
    // What the worker said before it died still counts.
    for (let next = receiveMessageOnPort(this.#callPort); next; next = receiveMessageOnPort(this.#callPort)) {
      this.#port.receive(next.message as FromCell);
    }
    this.#finish(this.#endOf(exit));
  }

  #endOf({ exitCode, error }: WorkerExit): CellEnd {
    if (this.#endingAs) return { kind: this.#endingAs };
    if ((error as { code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY")
      return { kind: "out_of_memory", exitCode, ...(error && { error }) };
    return { kind: "crashed", exitCode, ...(error && { error }) };
  }

  #finish(end: CellEnd): void {
    if (this.#over) return;
    this.#cpuMs = this.cpuMs;
    this.#worker.calls = this.served;
    this.#over = true;
    this.#leaveWorker?.();
    this.#port.close();
    this.#callPort.close();
    this.#control[releaseProxy]();
    this.#controlPort.close();
    this.#end(end);
  }

  #nextGeneration(): number {
    this.#generation = this.#words.open(LIFECYCLE_SLOT, this.#generation);
    return this.#generation;
  }
}

/** A cell may say anything. */
function bytes(said: unknown): number | undefined {
  return typeof said === "number" && said >= 0 ? said : undefined;
}

function valueOf<T>(reply: ControlReply<T>): T {
  if (reply.ok) return reply.value;
  throw decodeError(reply.error);
}
