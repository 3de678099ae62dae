/**
 * What a tool's module needs: {@link defineTool}, and the types of what it gets. It loads nothing but a few lines, since
 * every cell pays for what a tool imports.
 * @module toolcell/tool
 */
import type { DefinedTool, ToolDefinition } from "./protocol/defined-tool.js";
import { ToolRuntimeError } from "./protocol/errors.js";
import { markAnswer, type ChangeInput, type JsonSchema, type ToolAnswer } from "./protocol/tool.js";

export {
  ToolCancelledError,
  type EndedCallErrorOptions,
  type ErrorCode,
  type ToolErrorOptions,
} from "./protocol/errors.js";
export type {
  BoundResource,
  CancellationView,
  Change,
  ChangeInput,
  IsolationTier,
  JsonSchema,
  ResourceAccess,
  ToolActivationContext,
  ToolAnswer,
  ToolCapability,
  ToolContext,
  ToolError,
  ToolFailure,
  ToolLog,
  ToolResult,
  ToolSource,
  ToolSpec,
  ToolSuccess,
} from "./protocol/tool.js";
export type { CellInfo, Outcome, ToolExecutionTrace, TracePhases } from "./protocol/trace.js";

export type { DefinedTool, Infer, ToolDefinition } from "./protocol/defined-tool.js";

/**
 * Describes a tool. Make it the default export of its module and pass `import.meta.url`: the
 * runtime then loads the module in a cell. Without the URL the tool runs inline.
 * @throws ToolRuntimeError `INVALID_SPEC` where `execute` is missing
 * @example
 * ```ts
 * // shout.ts
 * import { defineTool } from "toolcell/tool";
 * import { Type } from "@sinclair/typebox";
 *
 * export default defineTool(import.meta.url, {
 *   name: "acme/shout",
 *   description: "Shouts.",
 *   inputSchema: Type.Object({ text: Type.String() }),
 *   outputSchema: Type.String(),
 *   capability: { writes: false },
 *   execute: ({ text }) => text.toUpperCase(),
 * });
 * ```
 *
 * ```ts
 * import { ToolRuntime } from "toolcell";
 * import shout from "./shout.js";
 *
 * await using runtime = new ToolRuntime();
 * runtime.register(shout);
 * await using plan = runtime.plan({ planId: "loud" });
 * const { output } = await plan.execute(shout, { text: "hello" });
 * console.log(output?.length, output); // → 5 HELLO
 * ```
 */
export function defineTool<Input extends JsonSchema, Output extends JsonSchema = true>(
  url: string | URL,
  definition: ToolDefinition<Input, Output>,
): DefinedTool<Input, Output>;
export function defineTool<Input extends JsonSchema, Output extends JsonSchema = true>(
  definition: ToolDefinition<Input, Output>,
): DefinedTool<Input, Output>;
export function defineTool(
  first: string | URL | ToolDefinition<JsonSchema, JsonSchema>,
  second?: ToolDefinition<JsonSchema, JsonSchema>,
): DefinedTool {
  const located = typeof first === "string" || first instanceof URL;
  const definition = located ? second : first;
  if (typeof definition?.execute !== "function") {
    throw new ToolRuntimeError("defineTool: the definition has no `execute` function.", { code: "INVALID_SPEC" });
  }
  return Object.freeze({ ...definition, ...(located && { url: String(first) }) });
}

/**
 * An output together with what came of it.
 * @param answer `changes` the tool made; `transfer` lists buffers inside `output` to hand over without a copy
 * @throws ToolRuntimeError `INVALID_ARGUMENT` where it is no object
 * @example
 * ```ts
 * import { toolResult, type ToolAnswer } from "toolcell/tool";
 *
 * export function execute({ bytes }: { bytes: number }): ToolAnswer<Uint8Array> {
 *   const output = new Uint8Array(bytes);
 *   return toolResult({ output, transfer: [output.buffer], changes: [{ operation: "create", resourceId: "noise" }] });
 * }
 * ```
 */
export function toolResult<Output>(answer: {
  output: Output;
  changes?: readonly ChangeInput[];
  transfer?: readonly ArrayBuffer[];
}): ToolAnswer<Output> {
  assertAnswer(answer, "toolResult");
  return markAnswer({
    success: true,
    output: answer.output,
    changes: answer.changes ?? [],
    transfer: answer.transfer ?? [],
  });
}

/**
 * A failure that is an answer: the caller gets a result with `success: false`, nothing is thrown.
 * @param error `code` and `message` for whoever calls, `details` as plain data; `changes` the tool made all the same
 * @throws ToolRuntimeError `INVALID_ARGUMENT` where it is no object
 * @example
 * ```ts
 * import { toolError, type ToolAnswer } from "toolcell/tool";
 *
 * export function execute({ amount }: { amount: number }): number | ToolAnswer<never> {
 *   if (amount > 100) return toolError({ code: "TOO_MUCH", message: "at most 100", details: { amount } });
 *   return amount;
 * }
 * ```
 */
export function toolError(error: {
  code: string;
  message: string;
  details?: Record<string, unknown>;
  changes?: readonly ChangeInput[];
}): ToolAnswer<never> {
  assertAnswer(error, "toolError");
  return markAnswer<never>({
    success: false,
    error: { code: error.code, message: error.message, details: error.details ?? {} },
    changes: error.changes ?? [],
    transfer: [],
  });
}

function assertAnswer(answer: unknown, name: string): void {
  if (typeof answer === "object" && answer !== null) return;
  throw new ToolRuntimeError(`${name}() takes an object.`, { code: "INVALID_ARGUMENT" });
}
