/** Takes a buffer and hands it on without a copy. */
import type { ToolSpec } from "../../src/index.js";
import { toolResult, type ToolAnswer } from "../../src/tool.js";

export const spec: ToolSpec = {
  name: "bench/pass-on",
  description: "Hands a buffer on.",
  inputSchema: { type: "object", required: ["data"] },
  outputSchema: { type: "object", required: ["data"] },
  capability: { writes: false },
};

/** What goes in and out. */
export interface Load {
  readonly data: ArrayBuffer;
  /** Copies the buffer on the way out instead. */
  readonly copy?: boolean;
}

/** @returns the buffer, one byte changed */
export function execute({ data, copy = false }: Load): ToolAnswer<Load> {
  const bytes = new Uint8Array(data);
  bytes[0] = ((bytes[0] ?? 0) + 1) & 0xff;
  return toolResult({ output: { data }, transfer: copy ? [] : [data] });
}
