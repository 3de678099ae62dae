/** A plan as its user holds it: `execute` bound to one context, deactivated when it goes out of scope. */
import type { JsonSchema, ToolResult } from "../protocol/tool.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { DeactivateOptions, ExecuteOptions } from "./execute-options.js";
import type { ToolDescriptor } from "./tool-descriptor.js";
import type { AnyTool, DefinedTool, Infer } from "../protocol/defined-tool.js";

/** What a plan asks of its runtime. */
export interface PlanRuntime {
  execute(
    tool: string | AnyTool,
    input: unknown,
    context: ToolExecutionContext,
    options?: ExecuteOptions,
  ): Promise<ToolResult>;
  activate(tool: string | AnyTool, context: ToolExecutionContext): Promise<void>;
  discover(tool: string | AnyTool, context: ToolExecutionContext): Promise<ToolDescriptor>;
  deactivatePlan(planId: string, options?: DeactivateOptions): Promise<void>;
}

/**
 * A disposable plan.
 *
 * ```ts
 * await using plan = runtime.plan({ planId: "plan-1", readOnly: true });
 * const result = await plan.execute("builtin/list-files", {});
 * ```
 */
export class Plan {
  readonly context: ToolExecutionContext;
  readonly #runtime: PlanRuntime;

  constructor(runtime: PlanRuntime, context: ToolExecutionContext) {
    this.#runtime = runtime;
    this.context = context;
  }

  get planId(): string {
    return this.context.planId;
  }

  /** As `runtime.execute`, in this plan. */
  execute<Input extends JsonSchema, Output extends JsonSchema>(
    tool: DefinedTool<Input, Output>,
    input: Infer<Input>,
    options?: ExecuteOptions,
  ): Promise<ToolResult<Infer<Output>>>;
  execute<Output = unknown>(tool: string, input: unknown, options?: ExecuteOptions): Promise<ToolResult<Output>>;
  execute(tool: string | AnyTool, input: unknown, options?: ExecuteOptions): Promise<ToolResult> {
    return this.#runtime.execute(tool, input, this.context, options);
  }

  /** As `runtime.activate`, in this plan. */
  activate(tool: string | AnyTool): Promise<void> {
    return this.#runtime.activate(tool, this.context);
  }

  /** As `runtime.discover`, with the grant of this plan. */
  discover(tool: string | AnyTool): Promise<ToolDescriptor> {
    return this.#runtime.discover(tool, this.context);
  }

  /** Cancels every call of the plan. */
  cancel(reason?: unknown): void {
    this.context.cancellationToken.cancel(reason);
  }

  /** As `runtime.deactivatePlan`. */
  deactivate(options?: DeactivateOptions): Promise<void> {
    return this.#runtime.deactivatePlan(this.planId, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deactivate();
  }
}
