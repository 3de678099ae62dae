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
  readonly fs?: {
    /** Slots that the tool may read. */
    readonly read?: readonly string[];
    /** Slots that the tool may read and write. */
    readonly write?: readonly string[];
  };
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
  /** For models and people. */
  readonly description: string;
  /** The tool's own version, for traces and people. */
  readonly version?: string;
  /** Checked before each call; `{}` accepts any input. */
  readonly inputSchema: JsonSchema;
  /** Checked after each call; without one any output will do. */
  readonly outputSchema?: JsonSchema;
  /** Default `custom`. */
  readonly source?: ToolSource;
  /** What the tool may do and needs. A tool that says nothing is taken to write. */
  readonly capability?: ToolCapability;
  /** Shorthand for `capability.writes: false`. */
  readonly readOnly?: boolean;
  /** Shorthand for `capability.checkpointable`. */
  readonly checkpointable?: boolean;
}

/** A capability with every default filled in. */
export interface ResolvedCapability {
  /** Whether the tool changes anything. */
  readonly writes: boolean;
  /** Whether a checkpoint can undo the tool's work. */
  readonly checkpointable: boolean;
  /** Keeps nothing between calls, so a plan may run it in several cells. */
  readonly stateless: boolean;
  /** A second call with the same input has no further effect. */
  readonly idempotent: boolean;
  /** A human has to approve each call. */
  readonly requiresApproval: boolean;
  /** Estimated cost of one call, in the host's own unit. */
  readonly cost?: number;
  /** The least isolation tier the tool may run in. */
  readonly isolation?: IsolationTier;
  /** Resource slots whose paths the tool may read or write. */
  readonly fs: {
    /** Slots that the tool may read. */
    readonly read: readonly string[];
    /** Slots that the tool may read and write. */
    readonly write: readonly string[];
  };
  /** Network: true, or the hosts; by the host's word alone. */
  readonly net: boolean | readonly string[];
  /** May start processes; by the host's word alone. */
  readonly spawn: boolean;
  /** Environment variables the cell gets; by the host's word alone. */
  readonly env: Readonly<Record<string, string>>;
  /** Bound of the cell's V8 heap in MiB; absent where the runtime's `memoryMb` holds. */
  readonly memoryMb?: number;
  /** Deadline of a call in milliseconds; absent where the runtime's `timeoutMs` holds. */
  readonly timeoutMs?: number;
}

/** What a tool did to a resource. */
export interface Change {
  /** What was done. */
  readonly operation: "create" | "modify" | "delete";
  /** Which resource it was done to, by its id. */
  readonly resourceId: string;
  /** Where in the resource. */
  readonly path?: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** The checkpoint that was taken before the call that did it, where the plan requires one. */
  readonly checkpointId?: string;
}

/** A change as a tool records it; `timestamp` is set when absent. */
export type ChangeInput = Omit<Change, "timestamp" | "checkpointId"> & {
  /** ISO 8601, UTC. */
  readonly timestamp?: string;
};

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
  /** The name by which tools ask for it. */
  readonly slotName: string;
  /** Names the resource in changes. */
  readonly resourceId: string;
  /** What it is, in the host's own words: `folder`, `database`. */
  readonly resourceType: string;
  /** How far tools may touch it. */
  readonly access: ResourceAccess;
  /** Absolute path, when the resource is a file or a folder. */
  readonly path?: string;
}

/** A failure that is an answer. */
export interface ToolError {
  /** A code of toolcell's, or the tool's own. */
  readonly code: string;
  /** What is wrong, for models and people. */
  readonly message: string;
  /** Plain data that helps to mend it. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What a caller gets. */
export type ToolResult<Output = unknown> = ToolSuccess<Output> | ToolFailure;

/** The tool answered with an output. */
export interface ToolSuccess<Output = unknown> {
  /** Tells it from a {@link ToolFailure}. */
  readonly success: true;
  /** What the tool answered. */
  readonly output: Output;
  /** Never there. */
  readonly error?: undefined;
  /** What the tool recorded, oldest first. */
  readonly changes: readonly Change[];
  /** Where the time went. */
  readonly trace: ToolExecutionTrace;
}

/** The tool answered with an error, or its input or output breaks its schema. */
export interface ToolFailure {
  /** Tells it from a {@link ToolSuccess}. */
  readonly success: false;
  /** Never there. */
  readonly output?: undefined;
  /** Why there is no output. */
  readonly error: ToolError;
  /** What the tool recorded, oldest first. */
  readonly changes: readonly Change[];
  /** Where the time went. */
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
  /** For whoever looks for a fault. */
  debug(message: string, data?: unknown): void;
  /** For whoever watches. */
  info(message: string, data?: unknown): void;
  /** Something is not as it should be. */
  warn(message: string, data?: unknown): void;
  /** Something failed. */
  error(message: string, data?: unknown): void;
}

/** What `activate` and `deactivate` get. */
export interface ToolActivationContext {
  /** The plan that the cell serves. */
  readonly planId: string;
  /**
   * Tells that the work should stop.
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export async function execute({ urls }: { urls: string[] }, { cancellationToken }: ToolContext): Promise<number> {
   *   let bytes = 0;
   *   for (const url of urls) {
   *     cancellationToken.check();
   *     const answer = await fetch(url, { signal: cancellationToken.signal });
   *     bytes += (await answer.arrayBuffer()).byteLength;
   *   }
   *   return bytes;
   * }
   * ```
   */
  readonly cancellationToken: CancellationView;
  /**
   * Writes log events.
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export function execute({ path }: { path: string }, { log }: ToolContext): void {
   *   log.info("looks at a file", { path });
   * }
   * ```
   */
  readonly log: ToolLog;
  /**
   * A resource that the plan lends, by a slot that the tool's `capability.fs` names.
   * @throws ToolRuntimeError `RESOURCE_NOT_BOUND`
   * @example
   * ```ts
   * import { readFile } from "node:fs/promises";
   * import type { ToolContext } from "toolcell/tool";
   *
   * export async function execute({ path }: { path: string }, { resource }: ToolContext): Promise<string> {
   *   return readFile(`${resource("repo").path ?? "."}/${path}`, "utf8");
   * }
   * ```
   */
  resource(slot: string): BoundResource;
}

/** What `execute` gets. */
export interface ToolContext extends ToolActivationContext {
  /** Unique among the plan's running calls. */
  readonly callId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same on every attempt of one call. */
  readonly idempotencyKey: string;
  /** W3C Trace Context header value of this call. */
  readonly traceparent: string;
  /**
   * Says how far the call is. Of reports that follow each other closely only the latest is sent.
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export function execute({ files }: { files: string[] }, { progress }: ToolContext): void {
   *   for (const [index, file] of files.entries()) progress(index + 1, files.length, file);
   * }
   * ```
   */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Records what the tool did to a resource, for the call's result and the plan's context.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where it is no change
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export function execute({ path }: { path: string }, { recordChange }: ToolContext): void {
   *   recordChange({ operation: "modify", resourceId: "repo", path });
   * }
   * ```
   */
  recordChange(change: ChangeInput): void;
  /**
   * Adds to what the call has cost, in the host's own unit.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where the amount is no number of 0 or more
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export function execute({ tokens }: { tokens: number }, { reportCost }: ToolContext): void {
   *   reportCost(tokens * 0.002);
   * }
   * ```
   */
  reportCost(amount: number): void;
  /**
   * Calls another tool of the plan through the same gates, nested in the trace.
   * @example
   * ```ts
   * import type { ToolContext } from "toolcell/tool";
   *
   * export async function execute({ path }: { path: string }, { call }: ToolContext): Promise<number> {
   *   const { output } = await call<{ words: unknown[] }>("builtin/word-frequency", { path });
   *   return output?.words.length ?? 0;
   * }
   * ```
   */
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
  /** Whether it is an output. */
  readonly success: boolean;
  /** What the tool answers. */
  readonly output?: Output;
  /** Why there is no output. */
  readonly error?: ToolError;
  /** What the tool did to resources. */
  readonly changes: readonly ChangeInput[];
  /** Buffers inside the output that are handed over without a copy. */
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
