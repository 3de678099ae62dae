/**
 * The worker side of a cell: receives calls, starts them one after the other, answers. It knows
 * nothing of threads, so the inline tier runs the same engine.
 */
import type { CancelWords } from "../src/protocol/cancel-words.js";
import { packAnswer, unpackCalls } from "../src/protocol/call-batch.js";
import { decodeError, encodeError } from "../src/protocol/error-codec.js";
import { ToolRuntimeError } from "../src/protocol/errors.js";
import type {
  ActivationMessage,
  CallEvent,
  CallKey,
  CallMessage,
  CellLimits,
  FromCell,
  HostReply,
  ToCell,
} from "../src/protocol/messages.js";
import type { ToolContext } from "../src/protocol/tool.js";
import { answerReturned, answerThrown, answerUncloneable, type OutgoingAnswer } from "./answer.js";
import { CancelToken } from "./cancel-token.js";
import { LogMeter } from "./log-meter.js";
import { CallContext } from "./tool-context.js";

/** A call between its start and its end. */
export interface RunningCall extends CallKey {
  readonly token: CancelToken;
  readonly context: CallContext;
  /** Made with its first line. */
  log: LogMeter | undefined;
  /** Changes that it has recorded. */
  changes: number;
}

/** What an engine stands on. */
export interface EngineOptions {
  readonly words: CancelWords;
  readonly limits: CellLimits;
  readonly activation: ActivationMessage;
  execute(input: unknown, context: ToolContext): unknown;
  /** Sends a message to the coordinator. Throws where it cannot be cloned. */
  post(message: FromCell, transfer: readonly ArrayBuffer[]): void;
  /** Runs tool code so that what it logs and throws later can be traced to its call. */
  readonly within?: <T>(call: RunningCall, run: () => T) => T;
}

const MAX_REQUESTS = 256;
const NO_TRANSFER: readonly ArrayBuffer[] = [];

/** Runs one tool's calls. */
export class CellEngine {
  readonly #options: EngineOptions;
  readonly #queue: CallMessage[] = [];
  /** By slot. */
  readonly #calls: (RunningCall | undefined)[];
  #running = 0;
  readonly #requests = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #outbox: OutgoingAnswer[] = [];
  #pumping = false;
  #flushing = false;
  #lastRequest = 0;
  /** What is logged outside of calls: as much between two of them as in one. */
  #strayLog: LogMeter | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#calls = new Array<RunningCall | undefined>(options.words.slots).fill(undefined);
  }

  /** Calls that started and have not finished. */
  get running(): number {
    return this.#running;
  }

  /** The call that tool code now runs in, if it still runs. */
  isRunning(call: RunningCall): boolean {
    return this.#calls[call.slot] === call;
  }

  receive(message: ToCell): void {
    if (message.type === "reply") this.#settleRequest(message);
    else {
      const now = performance.now();
      for (const call of unpackCalls(message.calls)) {
        this.#options.words.received(call.slot, now);
        this.#queue.push(call);
      }
      if (!this.#pumping) this.#pump();
    }
  }

  /** Aborts the signals of cancelled calls. */
  ring(): void {
    for (const call of this.#calls) call?.token.ring();
  }

  /**
   * Starts one call and comes back for the next after every promise reaction that the first
   * has set off: a call that was quick is answered before one that may hold the thread starts.
   */
  readonly #pump = (): void => {
    this.#flush();
    const call = this.#queue.shift();
    if (!call) {
      this.#pumping = false;
      return;
    }
    this.#pumping = true;
    this.#start(call);
    // A tick that is queued from a microtask runs when the microtask queue is empty.
    queueMicrotask(this.#pumpSoon);
  };

  readonly #pumpSoon = (): void => process.nextTick(this.#pump);

  #start(message: CallMessage): void {
    const { words } = this.#options;
    const { slot, generation } = message;
    if (!words.start(slot, generation, performance.now())) {
      words.finished(slot, performance.now());
      this.#outbox.push({ answer: { slot, generation, kind: "skipped" }, transfer: NO_TRANSFER });
      return;
    }
    const token = new CancelToken(words, slot, generation);
    const context: CallContext = new CallContext(this.#options.activation, message, token, {
      event: (event) => this.#event(call, event),
      request: (name, args) => this.#request(call, name, args),
    });
    const call: RunningCall = { slot, generation, token, context, log: undefined, changes: 0 };
    this.#calls[slot] = call;
    this.#strayLog = undefined;
    this.#running++;
    try {
      const { within } = this.#options;
      const returned = within
        ? within(call, () => this.#options.execute(message.input, context))
        : this.#options.execute(message.input, context);
      if (isThenable(returned)) {
        Promise.resolve(returned).then(
          (value) => this.#returned(call, value),
          (error: unknown) => this.#end(call, answerThrown(keyOf(call), error)),
        );
      } else this.#returned(call, returned);
    } catch (error) {
      this.#end(call, answerThrown(keyOf(call), error));
    }
  }

  #returned(call: RunningCall, value: unknown): void {
    if (this.isRunning(call)) this.#end(call, answerReturned(keyOf(call), value, this.#options.limits));
  }

  #end(call: RunningCall, outgoing: OutgoingAnswer): void {
    // A call that crashed and settles afterwards has been answered.
    if (!this.isRunning(call)) return;
    call.context.flushProgress();
    const dropped = call.log?.end();
    if (dropped) this.#tell(call, dropped);
    this.#calls[call.slot] = undefined;
    this.#running--;
    call.token.close();
    this.#options.words.finished(call.slot, performance.now());
    this.#outbox.push(outgoing);
    // A pump under way flushes before it starts the next call.
    if (this.#pumping || this.#flushing) return;
    this.#flushing = true;
    process.nextTick(this.#flushTick);
  }

  readonly #flushTick = (): void => {
    this.#flushing = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#outbox.length === 0) return;
    const outgoing = this.#outbox;
    this.#outbox = [];
    try {
      this.#post(outgoing);
    } catch {
      // One output that cannot travel costs its own call only.
      for (const one of outgoing) this.#postAlone(one);
    }
  }

  #postAlone(one: OutgoingAnswer): void {
    try {
      this.#post([one]);
    } catch (error) {
      this.#post([answerUncloneable(keyOf(one.answer), error)]);
    }
  }

  #post(outgoing: readonly OutgoingAnswer[]): void {
    const answers: unknown[] = [];
    let transfer = NO_TRANSFER;
    for (const one of outgoing) {
      packAnswer(answers, one.answer);
      if (one.transfer.length > 0) transfer = [...transfer, ...one.transfer];
    }
    this.#options.post({ type: "answers", answers }, transfer);
  }

  #event(call: RunningCall, event: CallEvent): void {
    const live = this.isRunning(call);
    // Only a log line of a call that is over is worth telling; it belongs to no call any more.
    if (!live && event.kind !== "log") return;
    if (event.kind === "change" && ++call.changes > this.#options.limits.maxChanges) {
      throw new ToolRuntimeError(
        `A call may record ${this.#options.limits.maxChanges} changes at most (option maxChangesPerCall).`,
        { code: "OVERLOADED" },
      );
    }
    this.tell(live ? call : undefined, event);
  }

  /** Sends an event, of log lines as many as the call may log. */
  tell(call: RunningCall | undefined, event: CallEvent): void {
    if (event.kind !== "log") {
      this.#tell(call, event);
      return;
    }
    const meter = call ? (call.log ??= this.#newMeter()) : (this.#strayLog ??= this.#newMeter());
    const line = meter.pass(event);
    if (line) this.#tell(call, line);
  }

  #newMeter(): LogMeter {
    const { limits } = this.#options;
    return new LogMeter(limits.maxLogBytes, limits);
  }

  /** Data that cannot travel is dropped and said to be. */
  #tell(call: RunningCall | undefined, event: CallEvent): void {
    const key = call && keyOf(call);
    const message: FromCell = { type: "event", ...(key && { key }), event };
    try {
      this.#options.post(message, NO_TRANSFER);
    } catch (error) {
      if (event.kind !== "log") throw error;
      const { data: _dropped, ...rest } = event;
      this.#options.post({ ...message, event: { ...rest, data: "[data that cannot be copied]" } }, NO_TRANSFER);
    }
  }

  #request(call: RunningCall, name: string, args: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.isRunning(call))
        throw new ToolRuntimeError("The call is over; it may not ask for anything more.", { code: "INVALID_ARGUMENT" });
      if (this.#requests.size >= MAX_REQUESTS) {
        throw new ToolRuntimeError(`More than ${MAX_REQUESTS} requests of one cell are unanswered.`, {
          code: "OVERLOADED",
        });
      }
      const requestId = ++this.#lastRequest;
      this.#options.post({ type: "request", key: keyOf(call), requestId, name, args }, NO_TRANSFER);
      this.#requests.set(requestId, { resolve, reject });
    });
  }

  #settleRequest(reply: HostReply): void {
    const request = this.#requests.get(reply.requestId);
    if (!request) return;
    this.#requests.delete(reply.requestId);
    if (reply.ok) request.resolve(reply.value);
    else request.reject(decodeError(reply.error));
  }

  /**
   * Tells of an error that no promise of the tool carries, and ends its call where that still runs.
   * @param call whose async context the error came from, where that is known
   */
  stray(call: RunningCall | undefined, error: unknown): void {
    const live = call !== undefined && this.isRunning(call);
    this.#options.post(
      {
        type: "stray",
        ...(live && { key: keyOf(call) }),
        late: call !== undefined && !live,
        error: encodeError(error),
      },
      NO_TRANSFER,
    );
    if (live) this.#end(call, answerThrown(keyOf(call), error));
  }
}

function keyOf(key: CallKey): CallKey {
  return { slot: key.slot, generation: key.generation };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}
