/** A function that holds its thread: what a server must not call on its own. */
import type { ToolSpec } from "../../src/tool.js";

export const spec: ToolSpec = {
  name: "demo/burn",
  description: "Holds its thread for some milliseconds.",
  inputSchema: {
    type: "object",
    properties: { ms: { type: "number", minimum: 0, maximum: 1_000 } },
    required: ["ms"],
    additionalProperties: false,
  },
  capability: { writes: false, stateless: true },
};

/** @returns how often the loop went round */
export function execute({ ms }: { readonly ms: number }): number {
  const end = performance.now() + ms;
  let rounds = 0;
  while (performance.now() < end) rounds++;
  return rounds;
}
