/** Keeps a core busy, and does nothing for quick calls. */
import type { ToolContext, ToolSpec } from "../../src/index.js";
import { burn } from "../support/burn.js";

/** What {@link execute} takes. */
export interface Work {
  /** Holds the thread this long. */
  readonly milliseconds?: number;
  /** Does this much, however long that takes. */
  readonly turns?: number;
}

/** Registered under a name of its own for each use. */
export function workSpec(name: string, capability: ToolSpec["capability"] = {}): ToolSpec {
  return {
    name,
    description: "Keeps a core busy.",
    inputSchema: {
      type: "object",
      properties: { milliseconds: { type: "number" }, turns: { type: "integer" } },
      additionalProperties: false,
    },
    capability: { writes: false, ...capability },
  };
}

/** @returns a number that depends on all of the work, so that none of it can be left out */
export function execute({ milliseconds = 0, turns = 0 }: Work, _context?: ToolContext): number {
  if (milliseconds === 0) return burn(turns);
  const end = performance.now() + milliseconds;
  let sum = 0;
  while (performance.now() < end) sum += burn(100);
  return sum;
}
