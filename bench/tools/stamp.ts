/** Nothing but a module to load and a call to answer. */
import type { ToolSpec } from "../../src/index.js";

/** Registered under a name of its own for each use. */
export function stampSpec(name: string, stateless: boolean): ToolSpec {
  return { name, description: "Tells the time.", inputSchema: {}, capability: { writes: false, stateless } };
}

/** @returns `performance.now()` */
export function execute(): number {
  return performance.now();
}
