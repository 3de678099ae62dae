/** Many tools at once. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { ToolSpec } from "../protocol/tool.js";
import { isObject } from "./arguments.js";
import type { ToolExecutor } from "./tool-executor.js";

/** Many tools at once: a folder of built-in ones, a server. */
export interface ToolProvider {
  /** For messages. */
  readonly name: string;
  /** Gives the tools; called once, by `use`. */
  tools(): Iterable<ToolProviderEntry> | Promise<Iterable<ToolProviderEntry>>;
}

/** One tool of a provider. */
export interface ToolProviderEntry {
  /** What the tool says of itself. */
  readonly spec: ToolSpec;
  /** Where its code is. */
  readonly executor: ToolExecutor;
}

/**
 * A provider's tools.
 * @throws ToolRuntimeError `INVALID_ARGUMENT` where it is none, or gives no list of tools
 */
export async function entriesOf(provider: ToolProvider): Promise<readonly ToolProviderEntry[]> {
  if (!isObject(provider) || typeof (provider as Partial<ToolProvider>).tools !== "function") {
    throw invalid("A provider of tools must be an object with a function `tools`.");
  }
  const given: unknown = await provider.tools();
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
    throw invalid(`The provider "${provider.name}" gave no list of tools.`);
  }
  const entries = [...(given as Iterable<unknown>)];
  if (!entries.every(isObject)) throw invalid(`The provider "${provider.name}" gave an entry that is no object.`);
  return entries as unknown as ToolProviderEntry[];
}

function invalid(problem: string): ToolRuntimeError {
  return new ToolRuntimeError(problem, { code: "INVALID_ARGUMENT" });
}
