import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import pLimit from "p-limit";
import { builtins, DirectoryCheckpoints, ToolRuntime } from "../../src/index.js";
import { Folder } from "../fixtures/folder.js";
import type { CheckpointHostRequest } from "../fixtures/hosts/checkpoint-host.js";
import { pictureOf, type Picture } from "./picture.js";

const STEPS: CheckpointHostRequest["steps"] = [
  { tool: "builtin/write-file", input: { path: "new/deep/a.txt", content: "first", createFolders: true } },
  { tool: "builtin/edit-file", input: { path: "kept.txt", edits: [{ oldText: "kept", newText: "edited" }] } },
  { tool: "builtin/move-file", input: { from: "kept.txt", to: "new/moved.txt" } },
  { tool: "builtin/write-file", input: { path: "new/deep/a.txt", content: "x".repeat(20_000) } },
  { tool: "builtin/delete-file", input: { path: "sub", recursive: true } },
  { tool: "builtin/write-file", input: { path: "sub", content: "a file where a folder was" } },
  { tool: "builtin/edit-file", input: { path: "new/moved.txt", edits: [{ oldText: "edited", newText: "twice" }] } },
  { tool: "builtin/delete-file", input: { path: "link" } },
];
/** A host that hangs must not hold the suite. */
const LONGEST_MS = 30_000;

/** @returns what it told, and the signal that ended it */
async function runHost(request: CheckpointHostRequest): Promise<{ lines: string[]; signal: NodeJS.Signals | null }> {
  const host = fileURLToPath(new URL("../fixtures/hosts/checkpoint-host.js", import.meta.url));
  const child = spawn(process.execPath, [host, JSON.stringify(request)], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: LONGEST_MS,
    // Not the one that it ends itself with.
    killSignal: "SIGABRT",
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject).once("close", (code, by) => {
      if (code !== null && code !== 0) reject(new Error(`the host ended with ${code}`));
      else resolve(by);
    });
  });
  return { lines: stdout.trim().split("\n"), signal };
}

/** What the plan works on. */
function begin(): Folder {
  const folder = new Folder();
  folder.write("tree/kept.txt", "kept");
  folder.write("tree/sub/inner/b.txt", "b");
  folder.mkdir("tree/sub/empty");
  folder.link("tree/link", "sub/inner/b.txt");
  return folder;
}

/** One run on a folder of its own. */
async function runWith(kill: CheckpointHostRequest["kill"]): Promise<{
  folder: Folder;
  checkpoints: DirectoryCheckpoints;
  lines: string[];
  signal: NodeJS.Signals | null;
}> {
  const folder = begin();
  const store = folder.join("store");
  const request = { folder: folder.join("tree"), store, steps: STEPS, ...(kill && { kill }) };
  return { folder, checkpoints: new DirectoryCheckpoints({ folder: store }), ...(await runHost(request)) };
}

/** What there is before each step, without any checkpoint. */
async function statesOf(): Promise<Picture[]> {
  const folder = begin();
  await using runtime = new ToolRuntime({ spareCells: 0 });
  await runtime.use(builtins());
  const path = folder.join("tree");
  const plan = runtime.plan({
    planId: "states",
    boundResources: [{ slotName: "repo", resourceId: "repo", resourceType: "folder", path, access: "read_write" }],
  });
  const states: Picture[] = [];
  for (const { tool, input } of STEPS) {
    states.push(pictureOf(path, false));
    expect((await plan.execute(tool, input)).error).to.equal(undefined);
  }
  folder.remove();
  return states;
}

describe("checkpoints/directory-checkpoints of a host that is killed", () => {
  /** What there was before each step. */
  let states: Picture[] = [];
  /** How many operations on files each checkpoint took. */
  let operations: number[] = [];

  before("a run to the end", async function () {
    this.timeout(LONGEST_MS);
    states = await statesOf();
    expect(new Set(states.map((state) => JSON.stringify(state))).size).to.equal(STEPS.length);
    const { folder, checkpoints, lines, signal } = await runWith(undefined);
    expect(signal).to.equal(null);
    operations = lines.map(Number);
    const listed = await checkpoints.list("crash");
    expect(listed.map(({ callId }) => Number(callId))).to.deep.equal([...STEPS.keys()]);
    folder.remove();
  });

  /** Kills a host, restores what its last checkpoint saved, and compares. */
  async function expectRestored(step: number, operation?: number): Promise<void> {
    const { folder, checkpoints, signal } = await runWith({ step, ...(operation !== undefined && { operation }) });
    try {
      const where = `step ${step}, operation ${operation}`;
      expect(signal, where).to.equal("SIGKILL");
      const listed = await checkpoints.list();
      const last = listed.at(-1);
      // Of the checkpoint that was being taken there is all or nothing.
      expect(listed.length, where).to.be.within(step, operation === undefined ? step : step + 1);
      if (last) await checkpoints.restore(last.checkpointId);
      expect(pictureOf(folder.join("tree"), false), where).to.deep.equal(states[Number(last?.callId ?? 0)]);
      // The next host goes on with the same store.
      const again = await checkpoints.take({ planId: "next", callId: "0", toolName: "acme/next", resources: [] });
      expect(again.checkpointId > (last?.checkpointId ?? "")).to.equal(true);
    } finally {
      folder.remove();
    }
  }

  const limit = pLimit(availableParallelism());

  it("restore() brings back what there was before the last step, between any two", async function () {
    this.timeout(LONGEST_MS);
    const steps = Array.from({ length: STEPS.length }, (_none, index) => index + 1);
    await Promise.all(steps.map((step) => limit(() => expectRestored(step))));
  });

  it("restore() brings back a whole checkpoint, wherever the next one was cut short", async function () {
    this.timeout(LONGEST_MS);
    // From the first operation to the last: drafts, contents, the tree, the record and what comes after its rename.
    const points = [0, 0.4, 0.7, 0.85, 0.95, 1].map((part, index) => {
      const step = index % STEPS.length;
      return [step, Math.round(part * ((operations[step] ?? 1) - 1))] as const;
    });
    await Promise.all(points.map(([step, operation]) => limit(() => expectRestored(step, operation))));
  });
});
