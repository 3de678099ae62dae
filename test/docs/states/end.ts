/** What became of a call, whether it answered or threw. */
import type { ToolResult } from "../../../src/index.js";
import type { Loose } from "../../contract/recorder.js";

/** One of both is there. */
export interface End {
  readonly result?: ToolResult;
  readonly error?: Loose;
}

/** Waits for a call. Never rejects. */
export function endOf(call: Promise<ToolResult>): Promise<End> {
  return call.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
}
