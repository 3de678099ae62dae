/** Finds the tool in a module: its default export, or the module itself. */
import { ToolActivationError } from "../src/protocol/errors.js";
import type { ToolActivationContext, ToolContext } from "../src/protocol/tool.js";

/** A tool as its module gives it. */
export interface LoadedTool {
  /** What the module says of itself; unchecked. */
  readonly spec: unknown;
  activate?(context: ToolActivationContext): unknown;
  execute(input: unknown, context: ToolContext): unknown;
  deactivate?(context: ToolActivationContext): unknown;
}

/**
 * Imports a tool's module.
 * @throws ToolActivationError where the module cannot be loaded or holds no tool
 */
export async function loadTool(url: string): Promise<LoadedTool> {
  const module = await importModule(url);
  const candidate = hasExecute(module.default) ? module.default : module;
  if (!hasExecute(candidate)) {
    throw new ToolActivationError(
      `The module "${url}" holds no tool: export a function \`execute\`, or make \`defineTool(…)\` the default export.`,
    );
  }
  for (const name of ["activate", "deactivate"] as const) {
    if (candidate[name] !== undefined && typeof candidate[name] !== "function") {
      throw new ToolActivationError(`The module "${url}" exports \`${name}\`, which is no function.`);
    }
  }
  return {
    spec: (candidate as object) === module ? module.spec : candidate,
    execute: (input, context) => candidate.execute(input, context),
    ...(candidate.activate && { activate: (context: ToolActivationContext) => candidate.activate?.(context) }),
    ...(candidate.deactivate && { deactivate: (context: ToolActivationContext) => candidate.deactivate?.(context) }),
  };
}

async function importModule(url: string): Promise<Record<string, unknown>> {
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    throw new ToolActivationError(`The module "${url}" cannot be loaded: ${messageOf(error)}${hintFor(error)}`, {
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** What a person can do about it. */
function hintFor(error: unknown): string {
  if (error instanceof SyntaxError) return " `node --check FILE` shows where.";
  const { code, permission, resource } = (error ?? {}) as { code?: unknown; permission?: unknown; resource?: unknown };
  if (code !== "ERR_ACCESS_DENIED" || typeof permission !== "string" || !permission.startsWith("FileSystem")) return "";
  const what = typeof resource === "string" ? ` It asked for "${resource}".` : "";
  return (
    `${what} A cell may read what the module's import statements name; name other files or folders that it loads under ` +
    "`codeFiles` at registration."
  );
}

interface Candidate {
  execute: (input: unknown, context: ToolContext) => unknown;
  activate?: (context: ToolActivationContext) => unknown;
  deactivate?: (context: ToolActivationContext) => unknown;
  spec?: unknown;
}

function hasExecute(value: unknown): value is Candidate {
  return typeof value === "object" && value !== null && typeof (value as { execute?: unknown }).execute === "function";
}
