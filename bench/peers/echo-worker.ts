/** The least that a thread can do for a call: a message in, a message out. */
import { parentPort } from "node:worker_threads";

parentPort?.on("message", ({ id, value }: { id: number; value: unknown }) => {
  parentPort?.postMessage({ id, value });
});
