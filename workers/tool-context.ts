/** What `execute` gets. Each method is made when it is first asked for and may be destructured. */
import { ToolRuntimeError } from "../src/protocol/errors.js";
import type { ActivationMessage, CallEvent, CallMessage } from "../src/protocol/messages.js";
import {
  isChange,
  type BoundResource,
  type Change,
  type ChangeInput,
  type LogLevel,
  type ToolActivationContext,
  type ToolContext,
  type ToolLog,
  type ToolResult,
} from "../src/protocol/tool.js";
import type { CancelToken } from "./cancel-token.js";

/** Where a context's words go. */
export interface ContextPort {
  event(event: CallEvent): void;
  request(name: string, args: unknown): Promise<unknown>;
}

const PROGRESS_INTERVAL_MS = 20;
const MAX_LOG_TEXT = 16_384;

/** What `activate` and `deactivate` get, and the base of what `execute` gets. */
export class ActivationContext implements ToolActivationContext {
  readonly planId: string;
  readonly cancellationToken: CancelToken;
  protected readonly activation: ActivationMessage;
  protected readonly port: ContextPort;
  #log: ToolLog | undefined;

  constructor(activation: ActivationMessage, token: CancelToken, port: ContextPort) {
    this.activation = activation;
    this.planId = activation.planId;
    this.cancellationToken = token;
    this.port = port;
  }

  get log(): ToolLog {
    return (this.#log ??= toolLog(this.port));
  }

  get resource(): (slot: string) => BoundResource {
    return (slot) => {
      const found = this.activation.resources.find((resource) => resource.slotName === slot);
      if (found) return found;
      throw new ToolRuntimeError(
        `Tool "${this.activation.toolName}" asked for resource slot "${slot}", but plan "${this.planId}" has nothing bound there ` +
          `or the tool's capability does not name the slot under fs.read or fs.write.`,
        { code: "RESOURCE_NOT_BOUND", details: { slot, tool: this.activation.toolName, planId: this.planId } },
      );
    };
  }
}

/** The context of one call. */
export class CallContext extends ActivationContext implements ToolContext {
  readonly callId: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  #progressSent = -Infinity;
  #progress: (CallEvent & { kind: "progress" }) | undefined;

  constructor(activation: ActivationMessage, call: CallMessage, token: CancelToken, port: ContextPort) {
    super(activation, token, port);
    this.callId = call.callId;
    this.attempt = call.attempt ?? 1;
    this.idempotencyKey = call.idempotencyKey ?? call.callId;
  }

  get traceparent(): string {
    return `00-${this.activation.traceId}-${spanId(this.callId)}-01`;
  }

  get progress(): ToolContext["progress"] {
    return (done, total, message) => {
      this.#progress = {
        kind: "progress",
        done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message: clip(message) }),
      };
      const now = performance.now();
      // The latest wins: a tool that reports from a tight loop does not flood the host.
      if (now - this.#progressSent >= PROGRESS_INTERVAL_MS) {
        this.#progressSent = now;
        this.flushProgress();
      }
    };
  }

  get recordChange(): (change: ChangeInput) => void {
    return (change) => this.port.event({ kind: "change", change: stampChange(change) });
  }

  get reportCost(): (amount: number) => void {
    return (amount) => {
      if (!Number.isFinite(amount) || amount < 0) {
        throw new ToolRuntimeError(`reportCost: the amount must be a number of 0 or more, not ${String(amount)}.`, {
          code: "INVALID_ARGUMENT",
        });
      }
      this.port.event({ kind: "cost", amount });
    };
  }

  get call(): ToolContext["call"] {
    return <Output>(tool: string, input: unknown) =>
      this.port.request("call", { tool, input }) as Promise<ToolResult<Output>>;
  }

  /** Sends progress that is still held back. */
  flushProgress(): void {
    const progress = this.#progress;
    if (!progress) return;
    this.#progress = undefined;
    this.port.event(progress);
  }
}

/** Gives a change its time. */
export function stampChange(change: ChangeInput): Change {
  if (!isChange(change)) {
    throw new ToolRuntimeError('A change needs an `operation` ("create", "modify" or "delete") and a `resourceId`.', {
      code: "INVALID_ARGUMENT",
    });
  }
  return { ...change, timestamp: change.timestamp ?? new Date().toISOString() };
}

function toolLog(port: ContextPort): ToolLog {
  const write =
    (level: LogLevel) =>
    (message: string, data?: unknown): void =>
      port.event({ kind: "log", level, message: clip(message), ...(data !== undefined && { data }) });
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Bounds a log text. */
export function clip(given: unknown): string {
  // A tool may log anything.
  const text = String(given);
  return text.length > MAX_LOG_TEXT ? `${text.slice(0, MAX_LOG_TEXT)}… (${text.length} characters)` : text;
}

/** A span id of W3C Trace Context: the call id itself where it has that form, else a digest of it (FNV-1a, 64 bit). */
function spanId(callId: string): string {
  if (/^[0-9a-f]{16}$/.test(callId)) return callId;
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < callId.length; index++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(callId.charCodeAt(index))) * 0x100000001b3n);
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
}
