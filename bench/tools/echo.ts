/** Gives back what it gets. */
import type { ToolSpec } from "../../src/index.js";

const message = {
  type: "object",
  required: ["text", "count"],
  properties: { text: { type: "string" }, count: { type: "integer", minimum: 0 } },
  additionalProperties: false,
} as const;

/** Input and output are checked, as they are in a tool that is used in earnest. */
export const spec: ToolSpec = {
  name: "bench/echo",
  description: "Gives back what it gets.",
  inputSchema: message,
  outputSchema: message,
  capability: { writes: false },
};

/** @returns the input */
export function execute(input: unknown): unknown {
  return input;
}
