/** What a runtime tells beside its results. */
import { EventEmitter } from "node:events";
import { encodeError } from "../protocol/error-codec.js";
import type { CallEvent } from "../protocol/messages.js";
import type { LogLevel } from "../protocol/tool.js";
import type { CellInfo } from "../protocol/trace.js";
import type { CellEnd } from "./cell.js";

/** What a tool logged or printed. */
export interface LogEvent {
  readonly planId: string;
  readonly toolName: string;
  /** Absent where the line belongs to no running call. */
  readonly callId?: string;
  readonly cell: CellInfo;
  readonly level: LogLevel;
  readonly message: string;
  readonly data?: unknown;
}

/** How far a call says it is. */
export interface ProgressEvent {
  readonly planId: string;
  readonly toolName: string;
  readonly callId: string;
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** Something went wrong that no call's result tells. */
export interface WarningEvent {
  readonly code:
    | "DEACTIVATION_FAILED"
    | "INVALID_OUTPUT"
    | "NATIVE_PATTERN"
    | "CELL_START_FAILED"
    | "ESCAPED_ERROR"
    | "CELL_QUARANTINED";
  readonly message: string;
  readonly planId?: string;
  readonly toolName?: string;
  readonly cause?: unknown;
}

/** A cell began or ended. */
export interface CellEvent {
  readonly type: "started" | "ended";
  readonly planId: string;
  readonly toolName: string;
  readonly cell: CellInfo;
  /** How it ended. */
  readonly end?: CellEnd;
}

/** The events of a runtime. */
export interface RuntimeEventMap {
  log: [LogEvent];
  progress: [ProgressEvent];
  warning: [WarningEvent];
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
