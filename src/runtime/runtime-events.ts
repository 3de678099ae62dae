/** What a runtime tells beside its results. */
import { EventEmitter } from "node:events";
import { encodeError } from "../protocol/error-codec.js";
import type { CallEvent } from "../protocol/messages.js";
import type { LogLevel } from "../protocol/tool.js";
import type { CellInfo } from "../protocol/trace.js";
import type { CellEnd, CellOrigin, RecycleReason } from "./cell.js";

/** What a tool logged or printed. */
export interface LogEvent {
  /** The plan that the cell serves. */
  readonly planId: string;
  /** The tool that the cell serves. */
  readonly toolName: string;
  /** Absent where the line belongs to no running call. */
  readonly callId?: string;
  /** Where it was logged. */
  readonly cell: CellInfo;
  /** `info` for what was printed on stdout, `warn` for stderr, else as logged. */
  readonly level: LogLevel;
  /** The text. */
  readonly message: string;
  /** What the tool gave beside the text. */
  readonly data?: unknown;
}

/** How far a call says it is. */
export interface ProgressEvent {
  /** The plan that called. */
  readonly planId: string;
  /** The tool that was called. */
  readonly toolName: string;
  /** Unique among the plan's running calls. */
  readonly callId: string;
  /** How much is done, in the tool's own unit. */
  readonly done: number;
  /** How much there is to do, where the tool knows it. */
  readonly total?: number;
  /** What the tool says of it. */
  readonly message?: string;
}

/** Something went wrong that no call's result tells. */
export interface WarningEvent {
  /** What kind of thing it is. */
  readonly code:
    | "DEACTIVATION_FAILED"
    | "INVALID_OUTPUT"
    | "NATIVE_PATTERN"
    | "CELL_START_FAILED"
    | "NO_CHECKPOINTS"
    | "ESCAPED_ERROR"
    | "CELL_QUARANTINED";
  /** What went wrong, for people. */
  readonly message: string;
  /** The plan that it concerns, where it is one. */
  readonly planId?: string;
  /** The tool that it concerns, where it is one. */
  readonly toolName?: string;
  /** The error behind it, where there is one. */
  readonly cause?: unknown;
}

/** A cell began or ended. */
export interface CellEvent {
  /** Whether it began or ended. */
  readonly type: "started" | "ended";
  /** The plan that the cell serves. */
  readonly planId: string;
  /** The tool that the cell serves. */
  readonly toolName: string;
  /** Which cell. */
  readonly cell: CellInfo;
  /** Where its worker came from, where it began. */
  readonly origin?: CellOrigin;
  /** How it ended. */
  readonly end?: CellEnd;
  /** Why it was recycled, where it ended since it had served long enough. */
  readonly recycled?: RecycleReason;
}

/** The events of a runtime. */
export interface RuntimeEventMap {
  /** A tool logged or printed. */
  log: [LogEvent];
  /** A tool says how far its call is. */
  progress: [ProgressEvent];
  /** Something went wrong that no result tells; without a listener it is a warning of the process. */
  warning: [WarningEvent];
  /** A cell began or ended. */
  cell: [CellEvent];
}

/** Emits a runtime's events. A listener that throws is its owner's fault and does not reach a call. */
export class RuntimeEvents extends EventEmitter<RuntimeEventMap> {
  /** Tells of a warning: to whoever listens, else to the process. */
  warn(warning: WarningEvent): void {
    if (this.listenerCount("warning") > 0) this.tell("warning", warning);
    else process.emitWarning(warning.message, { type: "ToolcellWarning", code: warning.code });
  }

  tell<Name extends keyof RuntimeEventMap>(name: Name, event: RuntimeEventMap[Name][0]): void {
    if (this.listenerCount(name) === 0) return;
    for (const listener of this.rawListeners(name)) {
      try {
        Reflect.apply(listener, this, [event]);
      } catch (error) {
        const { message } = encodeError(error);
        process.emitWarning(`A listener of the runtime's "${name}" event threw: ${message}`, {
          type: "ToolcellWarning",
        });
      }
    }
  }
}

/** A tool's log line as listeners get it. */
export function logEvent(
  planId: string,
  toolName: string,
  callId: string | undefined,
  cell: CellInfo,
  { level, message, data }: CallEvent & { kind: "log" },
): LogEvent {
  return {
    planId,
    toolName,
    ...(callId !== undefined && { callId }),
    cell,
    level,
    message,
    ...(data !== undefined && { data }),
  };
}

/** A tool's progress as listeners get it. */
export function progressEvent(
  planId: string,
  toolName: string,
  callId: string,
  { done, total, message }: CallEvent & { kind: "progress" },
): ProgressEvent {
  return {
    planId,
    toolName,
    callId,
    done,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  };
}
