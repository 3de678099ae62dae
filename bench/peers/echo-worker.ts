/** The least that a thread can do for a call: a message in, a message out. */
import { parentPort } from "node:worker_threads";
import { hang } from "./hang.js";

/** What the thread is sent. */
export interface RawCall {
  readonly id: number;
  readonly value: unknown;
  /** Hands the value over on the way back too. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Never answers. */
  readonly hang?: Int32Array;
}

parentPort?.on("message", ({ id, value, transfer, hang: running }: RawCall) => {
  if (running) hang(running);
  parentPort?.postMessage({ id, value }, transfer);
});
