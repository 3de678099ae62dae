/** Ids of calls: 16 hex digits, unique in the process, and so span ids of W3C Trace Context too. */
import { randomBytes } from "node:crypto";

const prefix = randomBytes(4).toString("hex");
let last = 0;

/** A new call id. */
export function nextCallId(): string {
  last = (last + 1) >>> 0;
  return prefix + last.toString(16).padStart(8, "0");
}
