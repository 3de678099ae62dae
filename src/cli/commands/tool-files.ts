/** What `toolcell new tool` writes: a typed tool, and a test of it. */

/** The tool. */
export function toolText(name: string, typescript: boolean): string {
  const check = typescript ? "" : "// @ts-check\n";
  return `${check}import { defineTool } from "toolcell/tool";
import { Type } from "@sinclair/typebox";

export default defineTool(import.meta.url, {
  name: "${name}",
  description: "Counts the words of a text.",
  inputSchema: Type.Object({
    text: Type.String({ description: "What to count in." }),
  }),
  outputSchema: Type.Object({ words: Type.Integer() }),
  // It only computes: it may run in a read-only plan, and in several cells at once.
  capability: { writes: false, stateless: true, idempotent: true },
  execute({ text }, context) {
    context.cancellationToken.check();
    return { words: text.split(/\\s+/).filter((word) => word !== "").length };
  },
});
`;
}

/** Its test, for Node's own runner. */
export function testText(name: string, base: string, ending: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolRuntime } from "toolcell";
import tool from "./${base}.${ending}";

test("${name} counts words, in a cell of its own", async () => {
  const runtime = new ToolRuntime({ spareCells: 0 });
  try {
    runtime.register(tool);
    const plan = runtime.plan({ planId: "test", readOnly: true });
    const result = await plan.execute(tool, { text: "one two  three" });
    assert.deepEqual(result.output, { words: 3 });
    assert.equal(result.trace.cell?.tier, "thread");
  } finally {
    await runtime.close();
  }
});
`;
}
