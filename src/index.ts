/**
 * Runs tools in isolation. Begin with {@link ToolRuntime}, which makes a {@link Plan} for what belongs together; a tool is
 * a module, made with {@link defineTool}, and what it gets is a {@link ToolContext}.
 * @module toolcell
 */
import { inlineTier } from "./isolation/inline.js";
import { threadTier } from "./isolation/thread/thread-tier.js";
import type { ToolRuntimeOptions } from "./runtime/options.js";
import { ToolRuntime as Runtime } from "./runtime/tool-runtime.js";

/**
 * Runs tools: those with a module in cells of their own, the others inline, on the host's own thread. A cell that is
 * alive keeps the process alive: end plans, or {@link close} the runtime.
 * @example
 * ```ts
 * import { builtins, ToolRuntime } from "toolcell";
 *
 * await using runtime = new ToolRuntime({ timeoutMs: 10_000 });
 * await runtime.use(builtins());
 * await using plan = runtime.plan({ planId: "first", readOnly: true });
 * const { output, trace } = await plan.execute("builtin/diff-text", { left: { text: "a" }, right: { text: "a" } });
 * console.log((output as { identical: boolean }).identical, trace.outcome, trace.cell?.tier); // → true ok thread
 * ```
 */
export class ToolRuntime extends Runtime {
  /** @throws ToolRuntimeError `INVALID_OPTIONS` */
  constructor(options?: ToolRuntimeOptions) {
    super(options, (resolved) => [inlineTier(resolved), threadTier(resolved)]);
  }
}

export { defineTool, toolError, toolResult, type DefinedTool, type Infer, type ToolDefinition } from "./tool.js";
export {
  ERROR_CODES,
  ToolAccessDeniedError,
  ToolActivationError,
  ToolCancelledError,
  ToolCheckpointRequiredError,
  ToolCostLimitExceededError,
  ToolDeactivationError,
  ToolExecutionError,
  ToolHumanApprovalRequiredError,
  ToolNotActivatedError,
  ToolRetryLimitExceededError,
  ToolRuntimeError,
  ToolSafetyViolationError,
  ToolSandboxRequiredError,
  ToolSchemaValidationError,
  type EndedCallErrorOptions,
  type ErrorCode,
  type SchemaViolation,
  type ToolErrorOptions,
} from "./protocol/errors.js";
export type { AnyTool } from "./protocol/defined-tool.js";
export {
  ISOLATION_TIERS,
  TOOL_SOURCES,
  type BoundResource,
  type CancellationView,
  type Change,
  type ChangeInput,
  type IsolationTier,
  type JsonSchema,
  type LogLevel,
  type ResolvedCapability,
  type ResourceAccess,
  type ToolActivationContext,
  type ToolAnswer,
  type ToolCapability,
  type ToolContext,
  type ToolError,
  type ToolFailure,
  type ToolLog,
  type ToolResult,
  type ToolSource,
  type ToolSpec,
  type ToolSuccess,
} from "./protocol/tool.js";
export {
  OUTCOMES,
  PHASES,
  type CellInfo,
  type Outcome,
  type ToolExecutionTrace,
  type TracePhases,
} from "./protocol/trace.js";
export type { ApprovalDecision, ApprovalProvider, ApprovalRequest } from "./runtime/approval.js";
export { FolderApprovals } from "./approvals/folder-approvals.js";
export type { FolderApprovalsOptions } from "./approvals/folder-options.js";
export { MemoryApprovals, type MemoryApprovalsOptions, type Verdict } from "./approvals/memory-approvals.js";
export {
  DirectoryCheckpoints,
  type DirectoryCheckpointsOptions,
  type PruneOptions,
  type PruneReport,
} from "./checkpoints/directory-checkpoints.js";
export type { DirectoryCheckpoint } from "./checkpoints/record.js";
export type { Checkpoint, CheckpointProvider, CheckpointRequest, CheckpointResource } from "./runtime/checkpoint.js";
export type { Budget } from "./runtime/budget.js";
export type { BudgetLimits, Spending } from "./runtime/budget-account.js";
export { CancellationToken } from "./runtime/cancellation.js";
export { executeChannel, type ExecuteMessage } from "./runtime/call-trace.js";
export type { CellEnd, CellOrigin, Enforcement, RecycleReason } from "./runtime/cell.js";
export {
  createBoundResource,
  createChange,
  ToolExecutionContext,
  type BindResourceInput,
  type ContextSummary,
  type ToolExecutionContextOptions,
} from "./runtime/execution-context.js";
export {
  ToolLifecycleCache,
  type ActivatedTool,
  type CachedToolStats,
  type PlanCacheStats,
} from "./runtime/lifecycle-cache.js";
export type { HealthReason, RuntimeHealth } from "./runtime/health.js";
export { quantile, type HistogramPoint } from "./runtime/histogram.js";
export type { CounterName, GaugeName, HistogramName, Metric, NumberPoint, RuntimeMetrics } from "./runtime/metric.js";
export type { ToolRuntimeBounds, ToolRuntimeOptions } from "./runtime/options.js";
export type { GrantLimits, SafetyProfile, Trust } from "./runtime/safety-profile.js";
export type { OpenCall } from "./runtime/open-call.js";
export { Plan, type PlanRuntime } from "./runtime/plan.js";
export type { CellEvent, LogEvent, ProgressEvent, RuntimeEventMap, WarningEvent } from "./runtime/runtime-events.js";
export { validateToolInput, validateToolOutput } from "./schema/validator.js";
export type { ToolDescriptor } from "./runtime/tool-descriptor.js";
export type { ModuleOptions, RegistrationOptions, ToolExecutor, ToolInstance } from "./runtime/tool-executor.js";
export { ToolRegistry, type ToolFilter } from "./runtime/tool-registry.js";
export type { DeactivateOptions, ExecuteOptions } from "./runtime/execute-options.js";
export type { FailedAttempt, RetryPolicy } from "./runtime/retry-policy.js";
export type { ToolProvider, ToolProviderEntry } from "./runtime/tool-provider.js";
export type { CloseReport } from "./runtime/coordinator.js";
export { builtins } from "./sources/builtins.js";
