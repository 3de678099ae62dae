/** Reads of a file by the byte. */
import type { FileHandle } from "node:fs/promises";
import type { ToolContext } from "../src/tool.js";

/** Bytes read between two looks at the cancellation token. */
const STEP_BYTES = 1024 * 1024;

/** The bytes of a range, fewer where the file ends before or became shorter meanwhile. */
export async function readRange(
  handle: FileHandle,
  offset: number,
  length: number,
  context: ToolContext,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    context.cancellationToken.check();
    const step = Math.min(STEP_BYTES, length - filled);
    const { bytesRead } = await handle.read(bytes, filled, step, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
    if (length > STEP_BYTES) context.progress(filled, length);
  }
  return bytes.subarray(0, filled);
}
