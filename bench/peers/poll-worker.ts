/** Polls until the shared word is another one, and tells when. */
import { parentPort, workerData } from "node:worker_threads";

const words = workerData as Int32Array;

parentPort?.on("message", (before: number) => {
  parentPort?.postMessage(0);
  while (Atomics.load(words, 0) === before);
  parentPort?.postMessage(performance.now());
});
