/** Waits of a call that end when it is told to stop. */
import { interruptedError } from "./call-outcome.js";
import type { ToolCall } from "./tool-call.js";

/**
 * Waits for something for as long as the call is not told to stop.
 * @param stop aborted when it is
 * @throws ToolCancelledError, ToolExecutionError where it is
 */
export async function unlessInterrupted<T>(call: ToolCall, work: Promise<T>, stop?: AbortController): Promise<T> {
  const stopped = new Promise<never>((_resolve, reject) => {
    const stopNow = (): void => {
      stop?.abort();
      reject(interruptedError(call, undefined));
    };
    if (call.interruption) stopNow();
    else call.onInterrupt = stopNow;
  });
  try {
    return await Promise.race([stopped, work]);
  } finally {
    call.onInterrupt = undefined;
  }
}
