/** Ids of calls: 16 hex digits, unique in the process, and so span ids of W3C Trace Context too. */
import { randomBytes } from "node:crypto";

const prefix = randomBytes(4).toString("hex");
let last = 0;

/** Whether an id is of the form that is made here. */
export function isMadeId(callId: string): boolean {
  return callId.length === prefix.length + 8 && callId.startsWith(prefix);
}

/** The number of a new call. */
export function nextSerial(): number {
  last = (last + 1) >>> 0;
  return last;
}

/** The id of the call with this number. */
export function callIdOf(serial: number): string {
  return prefix + serial.toString(16).padStart(8, "0");
}
