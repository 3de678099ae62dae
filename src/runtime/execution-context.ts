/** What a plan lends to the tools that it calls, and what they leave behind. */
import { isAbsolute } from "node:path";
import { ToolRuntimeError } from "../protocol/errors.js";
import { isChange, type BoundResource, type Change, type ChangeInput, type ResourceAccess } from "../protocol/tool.js";
import type { ToolExecutionTrace } from "../protocol/trace.js";
import { unknownField } from "./arguments.js";
import { PlanBudget, type Budget } from "./budget.js";
import type { Spending } from "./budget-account.js";
import { CancellationToken } from "./cancellation.js";
import { Recent } from "./recent.js";
import { SafetyRules, type SafetyProfile } from "./safety-profile.js";
import { TraceLog } from "./trace-log.js";

/** A resource as it is bound; `access` is `read_only` unless said otherwise. */
export interface BindResourceInput {
  /** The name by which tools ask for it. */
  readonly slotName: string;
  /** Names the resource in changes. */
  readonly resourceId: string;
  /** What it is, in the host's own words: `folder`, `database`. */
  readonly resourceType: string;
  /** How far tools may touch it. Default `read_only`. */
  readonly access?: ResourceAccess;
  /** Absolute path, when the resource is a file or a folder. */
  readonly path?: string;
}

/** What {@link ToolExecutionContext} takes. */
export interface ToolExecutionContextOptions {
  /** Names the plan. While the id is in use, a context with another grant is refused with `PLAN_CONFLICT`. */
  readonly planId: string;
  /** The host's own; it is kept and not looked at. */
  readonly sessionId?: string;
  /** The host's own; it is kept and not looked at. */
  readonly actorName?: string;
  /** What the plan lends to tools. Default: nothing. */
  readonly boundResources?: readonly BindResourceInput[];
  /** Cancels every call of the plan. Default: a token of its own. */
  readonly cancellationToken?: CancellationToken;
  /** Tools that write are denied, and no cell of the plan can write. Default false. */
  readonly readOnly?: boolean;
  /**
   * Before each call that writes, the runtime's `checkpoints` save what it may touch; tools that cannot be undone so are
   * denied. Default false.
   */
  readonly requireCheckpoints?: boolean;
  /** The plan's policy on tools, beside the runtime's own; the stricter counts. Default: none. */
  readonly safetyProfile?: SafetyProfile;
  /** What the plan may spend. Default: no limit. */
  readonly budget?: Budget;
  /** How many of the newest changes and traces are kept. Default 10,000. */
  readonly historyLimit?: number;
}

const CONTEXT_OPTIONS = [
  "planId",
  "sessionId",
  "actorName",
  "boundResources",
  "cancellationToken",
  "readOnly",
  "requireCheckpoints",
  "safetyProfile",
  "budget",
  "historyLimit",
] as const satisfies readonly (keyof ToolExecutionContextOptions)[];
const RESOURCE_FIELDS = [
  "slotName",
  "resourceId",
  "resourceType",
  "access",
  "path",
] as const satisfies readonly (keyof BindResourceInput)[];

/** Counts of a context. */
export interface ContextSummary {
  /** The plan. */
  readonly planId: string;
  /** Whether tools that write are denied. */
  readonly readOnly: boolean;
  /** Whether tools that cannot give a checkpoint are denied. */
  readonly requireCheckpoints: boolean;
  /** Resources that are bound. */
  readonly resourceCount: number;
  /** Changes recorded, also those no longer kept. */
  readonly changeCount: number;
  /** Calls that left a trace, also those no longer kept. */
  readonly traceCount: number;
}

const DEFAULT_HISTORY = 10_000;

/**
 * The context of one plan.
 * @example
 * ```ts
 * import { ToolExecutionContext, ToolRuntime } from "toolcell";
 *
 * const context = new ToolExecutionContext({ planId: "plan-1", readOnly: true });
 * context.bindResource({ slotName: "repo", resourceId: "here", resourceType: "folder", path: process.cwd() });
 * await using runtime = new ToolRuntime();
 * runtime.register({ name: "acme/write", description: "Writes.", inputSchema: {} }, { execute: () => undefined });
 * await runtime.execute("acme/write", {}, context).catch((error) => console.log(error.code)); // → ACCESS_DENIED
 * console.log(context.traces[0]?.outcome); // → denied
 * ```
 */
export class ToolExecutionContext {
  /** The plan. */
  readonly planId: string;
  /** The host's own; it is kept and not looked at. */
  readonly sessionId: string | undefined;
  /** The host's own; it is kept and not looked at. */
  readonly actorName: string | undefined;
  /** Cancels every call of the plan. */
  readonly cancellationToken: CancellationToken;
  /** Whether tools that write are denied, and no cell of the plan can write. */
  readonly readOnly: boolean;
  /** Whether a checkpoint is taken before each call that writes. */
  readonly requireCheckpoints: boolean;
  /** @internal */
  readonly safety: SafetyRules | undefined;
  /** @internal */
  readonly books: PlanBudget | undefined;
  readonly #resources = new Map<string, BoundResource>();
  readonly #changes: Recent<Change>;
  readonly #traces: TraceLog;

  /** @throws ToolRuntimeError `INVALID_ARGUMENT` */
  constructor(options: ToolExecutionContextOptions) {
    if (typeof options !== "object" || (options as unknown) === null)
      invalid("the options must be an object with a planId");
    known(options, CONTEXT_OPTIONS);
    this.planId = nonEmpty(options.planId, "planId");
    this.sessionId = optionalText(options.sessionId, "sessionId");
    this.actorName = optionalText(options.actorName, "actorName");
    const token = options.cancellationToken ?? new CancellationToken();
    if (!(token instanceof CancellationToken)) {
      invalid("`cancellationToken` must be a CancellationToken; for an AbortSignal use CancellationToken.from(signal)");
    }
    this.cancellationToken = token;
    this.readOnly = optionalFlag(options.readOnly, "readOnly");
    this.requireCheckpoints = optionalFlag(options.requireCheckpoints, "requireCheckpoints");
    this.safety =
      options.safetyProfile === undefined ? undefined : new SafetyRules(options.safetyProfile, "INVALID_ARGUMENT");
    this.books = options.budget === undefined ? undefined : new PlanBudget(this.planId, options.budget);
    const history = options.historyLimit ?? DEFAULT_HISTORY;
    if (!Number.isInteger(history) || history < 1) invalid("`historyLimit` must be a whole number of 1 or more");
    this.#changes = new Recent(history);
    this.#traces = new TraceLog(history);
    const resources: unknown = options.boundResources ?? [];
    if (!Array.isArray(resources)) invalid("`boundResources` must be a list of resources");
    for (const resource of resources as BindResourceInput[]) this.bindResource(resource);
  }

  /** The resources, in the order they were bound. */
  get boundResources(): readonly BoundResource[] {
    return [...this.#resources.values()];
  }

  /**
   * Binds a resource to a slot, replacing what was there. A tool that is already activated
   * sees it in its next activation only.
   * @throws ToolRuntimeError `INVALID_ARGUMENT`
   */
  bindResource(resource: BindResourceInput): BoundResource {
    const bound = createBoundResource(resource);
    this.#resources.set(bound.slotName, bound);
    return bound;
  }

  /** @throws ToolRuntimeError `RESOURCE_NOT_BOUND` */
  getResource(slotName: string): BoundResource {
    const resource = this.#resources.get(slotName);
    if (resource) return resource;
    const bound = [...this.#resources.keys()].map((name) => `"${name}"`).join(", ") || "none";
    throw new ToolRuntimeError(
      `Plan "${this.planId}" has no resource in slot "${describeName(slotName)}" (bound slots: ${bound}). Bind one with bindResource().`,
      { code: "RESOURCE_NOT_BOUND", details: { planId: this.planId, slotName } },
    );
  }

  /**
   * Records what a tool did; `timestamp` is set when absent.
   * @throws ToolRuntimeError `INVALID_ARGUMENT`
   */
  recordChange(change: ChangeInput): Change {
    return this.keepChange(change, undefined);
  }

  /** @internal As `recordChange`, for a call before which a checkpoint was taken. */
  keepChange(change: ChangeInput, checkpointId: string | undefined): Change {
    const created = createChange(change);
    const recorded = checkpointId === undefined ? created : Object.freeze({ ...created, checkpointId });
    this.#changes.add(recorded);
    return recorded;
  }

  /** @throws ToolRuntimeError `INVALID_ARGUMENT` */
  addTrace(trace: ToolExecutionTrace): void {
    if (typeof (trace as unknown) !== "object" || (trace as unknown) === null) invalid("a trace must be an object");
    if (typeof (trace.phases as unknown) !== "object" || (trace.phases as unknown) === null)
      invalid("a trace must have phases");
    this.#traces.add(trace);
  }

  /** @internal As `addTrace`, for a call whose id was made of a serial. */
  keepTrace(trace: ToolExecutionTrace, serial: number | undefined): void {
    this.#traces.add(trace, serial);
  }

  /** The newest changes, oldest first. */
  get changes(): readonly Change[] {
    return this.#changes.members;
  }

  /** The newest traces, oldest first. */
  get traces(): readonly ToolExecutionTrace[] {
    return this.#traces.members;
  }

  /**
   * What the plan has spent of its budget, open calls included.
   * @param tool one of the names in `budget.tools`, for what was spent under that limit
   * @returns undefined where there is no such budget
   */
  spending(tool?: string): Spending | undefined {
    return this.books?.spending(tool);
  }

  /** Counts of all resources, changes and traces, also of those no longer kept. */
  summary(): ContextSummary {
    return {
      planId: this.planId,
      readOnly: this.readOnly,
      requireCheckpoints: this.requireCheckpoints,
      resourceCount: this.#resources.size,
      changeCount: this.#changes.count,
      traceCount: this.#traces.count,
    };
  }
}

/**
 * Fills in a resource's defaults.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 * @example
 * ```ts
 * import { createBoundResource } from "toolcell";
 *
 * const resource = createBoundResource({ slotName: "repo", resourceId: "here", resourceType: "folder", path: process.cwd() });
 * console.log(resource.access); // → read_only
 * ```
 */
export function createBoundResource(resource: BindResourceInput): BoundResource {
  if (typeof (resource as unknown) !== "object" || (resource as unknown) === null)
    invalid("a resource must be an object");
  known(resource, RESOURCE_FIELDS);
  const slotName = nonEmpty(resource.slotName, "slotName");
  const access: unknown = resource.access ?? "read_only";
  if (access !== "read_only" && access !== "read_write") invalid('`access` must be "read_only" or "read_write"');
  if (resource.path !== undefined && !(typeof resource.path === "string" && isAbsolute(resource.path))) {
    invalid(`the path of resource slot "${slotName}" must be absolute`);
  }
  return Object.freeze({
    slotName,
    resourceId: nonEmpty(resource.resourceId, "resourceId"),
    resourceType: nonEmpty(resource.resourceType, "resourceType"),
    access,
    ...(resource.path !== undefined && { path: resource.path }),
  });
}

/**
 * Fills in a change's time.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 * @example
 * ```ts
 * import { createChange } from "toolcell";
 *
 * const change = createChange({ operation: "create", resourceId: "here", path: "notes.txt" });
 * console.log(new Date(change.timestamp) <= new Date()); // → true
 * ```
 */
export function createChange(change: ChangeInput): Change {
  if (!isChange(change)) {
    invalid(
      'a change needs an `operation` ("create", "modify" or "delete"), a `resourceId`, and may have a `path` and a `timestamp`',
    );
  }
  return Object.freeze({
    operation: change.operation,
    resourceId: change.resourceId,
    ...(change.path !== undefined && { path: change.path }),
    timestamp: change.timestamp ?? new Date().toISOString(),
  });
}

function known(fields: object, names: readonly string[]): void {
  const problem = unknownField(fields, names);
  if (problem !== undefined) invalid(problem);
}

function describeName(name: unknown): string {
  return typeof name === "string" ? name : typeof name;
}

function nonEmpty(value: unknown, name: string): string {
  return typeof value === "string" && value !== "" ? value : invalid(`\`${name}\` must be a text that is not empty`);
}

function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined || typeof value === "string" ? value : invalid(`\`${name}\` must be a text`);
}

function optionalFlag(value: unknown, name: string): boolean {
  return value === undefined || typeof value === "boolean"
    ? (value ?? false)
    : invalid(`\`${name}\` must be true or false`);
}

/** @throws ToolRuntimeError `INVALID_ARGUMENT` */
export function assertContext(context: unknown): asserts context is ToolExecutionContext {
  if (context instanceof ToolExecutionContext) return;
  invalid("the context must be a ToolExecutionContext; runtime.plan({ planId }) makes one");
}

function invalid(problem: string): never {
  throw new ToolRuntimeError(`Execution context: ${problem}.`, { code: "INVALID_ARGUMENT" });
}
