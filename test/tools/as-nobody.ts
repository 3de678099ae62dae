/** Runs tools without root's right to pass over permissions. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { lchown, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolAnswer } from "../../src/tool.js";
import { NOBODY, runCalls, type ToolCall } from "./nobody.js";

/**
 * Runs calls one after the other: where the tests run as root in a process of nobody's, to whom a folder and all in it
 * is given; else here. It takes a process, as `access()` asks about the real user, which root cannot change for a while.
 * @param folder the topmost one that the test made: what lies above must be open to everybody
 */
export async function asNobody(folder: string, calls: readonly ToolCall[]): Promise<ToolAnswer[]> {
  if (process.getuid?.() !== 0) return runCalls(calls);
  await give(folder);
  // Coverage would be written where nobody may not. Node hands that variable down where it is only left out.
  const env = { ...process.env, NODE_V8_COVERAGE: undefined };
  const child = fork(fileURLToPath(new URL("./nobody.js", import.meta.url)), { env, execArgv: [] });
  let answers: ToolAnswer[] | undefined;
  child.once("message", (message) => (answers = message as ToolAnswer[]));
  child.send(calls);
  const [exit] = (await once(child, "exit")) as [number | null];
  if (child.connected) await once(child, "disconnect");
  if (!answers) throw new Error(`nobody's process ended with ${exit} before it answered`);
  return answers;
}

/** By hand, as a recursive `readdir()` follows links, and `chown()` too: one to `/` would give the host away. */
async function give(folder: string): Promise<void> {
  await lchown(folder, NOBODY, NOBODY);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await give(path);
    else await lchown(path, NOBODY, NOBODY);
  }
}
