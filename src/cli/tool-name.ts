/** Finds the tool that a user means. */
import type { ToolRuntime, ToolSpec } from "../index.js";
import { nearest } from "../nearest.js";
import { UsageError } from "./usage-error.js";

/**
 * The tool of a name; the namespace may be left out where only one tool has the rest.
 * @throws UsageError
 */
export function findTool(runtime: ToolRuntime, name: string): ToolSpec {
  const exact = runtime.get(name);
  if (exact) return exact;
  const tools = runtime.list();
  const short = tools.filter((tool) => tool.name.endsWith(`/${name}`));
  const [only] = short;
  if (only && short.length === 1) return only;
  if (short.length > 1) {
    throw new UsageError(`"${name}" may be ${short.map((tool) => tool.name).join(" or ")}; name it in full.`);
  }
  const meant = nearest(
    name,
    tools.map((tool) => tool.name),
  );
  throw new UsageError(
    `There is no tool "${name}"${meant === undefined ? "." : `; did you mean "${meant}"?`} \`toolcell list\` shows all.`,
  );
}
