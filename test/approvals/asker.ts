/** A process that asks for a call's approval in a folder, and prints what it gets: `node asker.js FOLDER`. */
import { FolderApprovals, ToolRuntime } from "../../src/index.js";

const [folder = ""] = process.argv.slice(2);
const approvals = new FolderApprovals(folder, {
  onRequest: ({ approvalId }) => {
    process.stdout.write(`${approvalId}\n`);
  },
});
await using runtime = new ToolRuntime({ approvals, spareCells: 0 });
const spec = { name: "acme/double", description: "Doubles a number.", inputSchema: { type: "number" } };
runtime.register(spec, { execute: (input) => Number(input) * 2, capability: { requiresApproval: true } });
const { output } = await runtime.plan({ planId: "sums" }).execute("acme/double", 21, { callId: "first" });
process.stdout.write(`${String(output)}\n`);
