/** What a tool is, on both sides of a cell. */
import type { ToolExecutionTrace } from "./trace.js";

/** A JSON Schema, 2020-12 unless `$schema` declares draft-07. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/** Where a tool comes from. */
export const TOOL_SOURCES = ["builtin", "custom", "wrapped", "mcp", "skill", "lsp"] as const;
/** One of {@link TOOL_SOURCES}. */
export type ToolSource = (typeof TOOL_SOURCES)[number];

/** The isolation tiers, weakest first. */
export const ISOLATION_TIERS = ["inline", "thread", "quickjs", "process", "container"] as const;
/** One of {@link ISOLATION_TIERS}. */
export type IsolationTier = (typeof ISOLATION_TIERS)[number];

/** What a tool may do and needs. */
export interface ToolCapability {
  /** Whether the tool changes anything. A tool that says nothing is taken to write. */
  readonly writes?: boolean;
  /** Whether a checkpoint can undo the tool's work. Default true. */
  readonly checkpointable?: boolean;
  /** Keeps nothing between calls, so a plan may run it in several cells. Default false. */
  readonly stateless?: boolean;
  /** A second call with the same input has no further effect. Default false. */
  readonly idempotent?: boolean;
  /** A human has to approve each call. Default false. */
  readonly requiresApproval?: boolean;
  /** Estimated cost of one call, in the host's own unit. */
  readonly cost?: number;
  /** The least isolation tier the tool may run in. */
  readonly isolation?: IsolationTier;
  /** Resource slots whose paths the tool may read or write. */
  readonly fs?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** Network: true, or the hosts. Only the host's word at registration counts. */
  readonly net?: boolean | readonly string[];
  /** May start processes. Only the host's word at registration counts. */
  readonly spawn?: boolean;
  /** Environment variables the cell gets. Only the host's word at registration counts. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bound of the cell's V8 heap in MiB, at least 16. */
  readonly memoryMb?: number;
  /** Deadline of a call in milliseconds, counted from the call. */
  readonly timeoutMs?: number;
}

/** Declarative description of a tool. */
export interface ToolSpec {
  /** `namespace/name`. */
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Default `custom`. */
  readonly source?: ToolSource;
  readonly capability?: ToolCapability;
  /** Shorthand for `capability.writes: false`. */
  readonly readOnly?: boolean;
  /** Shorthand for `capability.checkpointable`. */
  readonly checkpointable?: boolean;
}

/** A capability with every default filled in. */
export interface ResolvedCapability {
  readonly writes: boolean;
  readonly checkpointable: boolean;
  readonly stateless: boolean;
  readonly idempotent: boolean;
  readonly requiresApproval: boolean;
  readonly cost?: number;
  readonly isolation?: IsolationTier;
  readonly fs: { readonly read: readonly string[]; readonly write: readonly string[] };
  readonly net: boolean | readonly string[];
  readonly spawn: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly memoryMb?: number;
  readonly timeoutMs?: number;
}

/** What a tool did to a resource. */
export interface Change {
  readonly operation: "create" | "modify" | "delete";
  readonly resourceId: string;
  readonly path?: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

/** A change as a tool records it; `timestamp` is set when absent. */
export type ChangeInput = Omit<Change, "timestamp"> & { readonly timestamp?: string };

const OPERATIONS: readonly unknown[] = ["create", "modify", "delete"];

/** Whether a value is a change that can be recorded; a cell may send anything. */
export function isChange(value: unknown): value is ChangeInput {
  if (typeof value !== "object" || value === null) return false;
  const { operation, resourceId, path, timestamp } = value as Record<string, unknown>;
  return (
    OPERATIONS.includes(operation) &&
    typeof resourceId === "string" &&
    resourceId !== "" &&
    (path === undefined || typeof path === "string") &&
    (timestamp === undefined || typeof timestamp === "string")
  );
}

/** How far a tool may touch a bound resource. */
export type ResourceAccess = "read_only" | "read_write";

/** A resource that a plan lends to tools under a slot's name. */
export interface BoundResource {
  readonly slotName: string;
  readonly resourceId: string;
  readonly resourceType: string;
  readonly access: ResourceAccess;
  /** Absolute path, when the resource is a file or a folder. */
  readonly path?: string;
}

/** A failure that is an answer. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What a caller gets. */
export type ToolResult<Output = unknown> = ToolSuccess<Output> | ToolFailure;

/** The tool answered with an output. */
export interface ToolSuccess<Output = unknown> {
  readonly success: true;
  readonly output: Output;
  readonly error?: undefined;
  readonly changes: readonly Change[];
  readonly trace: ToolExecutionTrace;
}

/** The tool answered with an error, or its input or output breaks its schema. */
export interface ToolFailure {
  readonly success: false;
  readonly output?: undefined;
  readonly error: ToolError;
  readonly changes: readonly Change[];
  readonly trace: ToolExecutionTrace;
}

/** Cancellation as a tool sees it. */
export interface CancellationView {
  /** One atomic load; poll it as often as you like. */
  readonly isCancelled: boolean;
  /** @throws ToolCancelledError once the call is cancelled. */
  check(): void;
  /** Aborts when the call is cancelled; for `fetch` and whatever else takes a signal. */
  readonly signal: AbortSignal;
}

/** Levels of a log event. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes log events; never to the host's stdout. */
export interface ToolLog {
  debug(message: string, data?: unknown): void;
  info(message: string, data?: unknown): void;
  warn(message: string, data?: unknown): void;
  error(message: string, data?: unknown): void;
}

/** What `activate` and `deactivate` get. */
export interface ToolActivationContext {
  readonly planId: string;
  readonly cancellationToken: CancellationView;
  readonly log: ToolLog;
  /** @throws ToolRuntimeError `RESOURCE_NOT_BOUND` */
  resource(slot: string): BoundResource;
}

/** What `execute` gets. */
export interface ToolContext extends ToolActivationContext {
  readonly callId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same on every attempt of one call. */
  readonly idempotencyKey: string;
  /** W3C Trace Context header value of this call. */
  readonly traceparent: string;
  progress(done: number, total?: number, message?: string): void;
  recordChange(change: ChangeInput): void;
  /** Adds to what the call has cost, in the host's own unit. */
  reportCost(amount: number): void;
  /** Calls another tool of the plan through the same gates, nested in the trace. */
  call<Output = unknown>(tool: string, input: unknown): Promise<ToolResult<Output>>;
}

type MaybePromise<T> = T | Promise<T>;

/** What a tool's module brings. */
export interface ToolImplementation {
  activate?(context: ToolActivationContext): MaybePromise<void>;
  execute(input: never, context: ToolContext): unknown;
  deactivate?(context: ToolActivationContext): MaybePromise<void>;
}

const ANSWER = Symbol.for("toolcell.answer");

/** An output with changes and buffers to hand over, or a failure that is an answer. */
export interface ToolAnswer<Output = unknown> {
  readonly success: boolean;
  readonly output?: Output;
  readonly error?: ToolError;
  readonly changes: readonly ChangeInput[];
  readonly transfer: readonly ArrayBuffer[];
}

/** Marks an answer, so that an output which merely looks like one stays an output. */
export function markAnswer<Output>(answer: ToolAnswer<Output>): ToolAnswer<Output> {
  Object.defineProperty(answer, ANSWER, { value: true });
  return Object.freeze(answer);
}

/** Whether a tool returned `toolResult(…)` or `toolError(…)`. */
export function isAnswer(value: unknown): value is ToolAnswer {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[ANSWER] === true;
}
