/** A plan as its user holds it: `execute` bound to one context, deactivated when it goes out of scope. */
import type { JsonSchema, ToolResult } from "../protocol/tool.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { DeactivateOptions, ExecuteOptions } from "./execute-options.js";
import type { ToolDescriptor } from "./tool-descriptor.js";
import type { AnyTool, DefinedTool, Infer } from "../protocol/defined-tool.js";

/** What a plan asks of its runtime. */
export interface PlanRuntime {
  /** As `ToolRuntime.execute`. */
  execute(
    tool: string | AnyTool,
    input: unknown,
    context: ToolExecutionContext,
    options?: ExecuteOptions,
  ): Promise<ToolResult>;
  /** As `ToolRuntime.activate`. */
  activate(tool: string | AnyTool, context: ToolExecutionContext): Promise<void>;
  /** As `ToolRuntime.discover`. */
  discover(tool: string | AnyTool, context: ToolExecutionContext): Promise<ToolDescriptor>;
  /** As `ToolRuntime.deactivatePlan`. */
  deactivatePlan(planId: string, options?: DeactivateOptions): Promise<void>;
}

/**
 * A plan: calls of tools that share a context, and end together. It is disposable; `ToolRuntime.plan` makes one.
 * @example
 * ```ts
 * import { builtins, ToolRuntime } from "toolcell";
 *
 * await using runtime = new ToolRuntime();
 * await runtime.use(builtins());
 * await using plan = runtime.plan({ planId: "plan-1", readOnly: true });
 * const input = { left: { text: "one" }, right: { text: "two" }, by: "word" };
 * const { output } = await plan.execute<{ diff: string }>("builtin/diff-text", input);
 * console.log(output?.diff.trim().split("\n").at(-1)); // → [-one-]{+two+}
 * ```
 */
export class Plan {
  /** What the plan lends to tools, and what they leave behind. */
  readonly context: ToolExecutionContext;
  readonly #runtime: PlanRuntime;

  constructor(runtime: PlanRuntime, context: ToolExecutionContext) {
    this.#runtime = runtime;
    this.context = context;
  }

  /** The plan's id. */
  get planId(): string {
    return this.context.planId;
  }

  /**
   * As `runtime.execute`, in this plan.
   * @example
   * ```ts
   * import { ToolCancelledError, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * const spec = { name: "acme/wait", description: "Waits.", inputSchema: {}, readOnly: true };
   * runtime.register(spec, { execute: () => new Promise((resolve) => setTimeout(resolve, 50)) });
   * await using plan = runtime.plan({ planId: "p" });
   * const controller = new AbortController();
   * const call = plan.execute("acme/wait", {}, { signal: controller.signal });
   * controller.abort("the user pressed stop");
   * try {
   *   await call;
   * } catch (error) {
   *   console.log(error instanceof ToolCancelledError && error.outcome); // → cancelled
   * }
   * ```
   */
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

  /** Ends the plan when it goes out of scope, as {@link deactivate} without options. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.deactivate();
  }
}
