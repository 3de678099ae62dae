/** A tool that would freeze its host: it never returns and never looks up. */
import type { ToolSpec } from "../../src/tool.js";

export const spec: ToolSpec = {
  name: "demo/freeze",
  description: "Spins for ever.",
  inputSchema: { type: "object" },
  capability: { writes: false },
};

export function execute(): never {
  for (;;);
}
