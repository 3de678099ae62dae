/** A tool handed over as itself, from which its name, its module and its types are read. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { AnyTool } from "../protocol/defined-tool.js";
import type { ToolSpec } from "../protocol/tool.js";
import type { RegistrationOptions, ToolExecutor, ToolInstance } from "./tool-executor.js";

/** Whether something is a tool rather than a specification. */
export function isTool(value: ToolSpec | AnyTool): value is AnyTool {
  return typeof value === "object" && (value as unknown) !== null && typeof (value as AnyTool).execute === "function";
}

/** Where the tool's code is: its module, or the tool itself. */
export function executorOf(tool: AnyTool, options: RegistrationOptions = {}): ToolExecutor {
  return tool.url === undefined
    ? { ...options, instance: tool as unknown as ToolInstance }
    : { ...options, module: tool.url };
}

/**
 * The name of a tool that is given by name or by itself.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function nameOf(tool: string | AnyTool): string {
  const name: unknown = typeof tool === "object" ? (tool as AnyTool | null)?.name : tool;
  if (typeof name === "string") return name;
  throw new ToolRuntimeError("A tool is named by a text or by the tool itself.", { code: "INVALID_ARGUMENT" });
}
