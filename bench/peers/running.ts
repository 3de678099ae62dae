/** How the main thread learns that a task of another thread has begun. */
import { setTimeout as sleep } from "node:timers/promises";

/** A word that both threads see. */
export function runningWord(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Resolves once the task has set it. */
export async function untilRunning(running: Int32Array): Promise<void> {
  while (Atomics.load(running, 0) === 0) await sleep(1);
}
