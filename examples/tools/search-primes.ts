/** A tool that takes longer than it may, and stops when it is told to. */
import type { ToolContext, ToolSpec } from "../../src/tool.js";

export const spec: ToolSpec = {
  name: "demo/search-primes",
  description: "Looks for prime numbers until it is stopped.",
  inputSchema: { type: "object" },
  capability: { writes: false },
};

export function execute(_input: unknown, context: ToolContext): never {
  for (let candidate = 3; ; candidate += 2) {
    let divisor = 3;
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor += 2;
    // One atomic load; cheap enough for a hot loop.
    if (candidate % 1001 === 0) context.cancellationToken.check();
  }
}
