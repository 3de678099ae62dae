/** `builtin/read-file`: reads a range of a file, never more than the range. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { READ_BYTES } from "./defaults.js";
import { answering } from "./failure.js";
import { openFile } from "./open-file.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/read-file.js";

/** Bytes read between two looks at the cancellation token. */
const STEP_BYTES = 1024 * 1024;
/** A UTF-8 character has at most this many bytes after its first. */
const MAX_CONTINUATIONS = 3;

/** Reads a file of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, offset = 0, length = READ_BYTES, encoding = "utf8" } = input;
  return answering(path, async () => {
    const resource = await openResource(context, "repo");
    const located = await locate(resource, path);
    const { handle, size } = await openFile(located, constants.O_RDONLY);
    let bytes: Buffer;
    try {
      bytes = await readRange(handle, offset, Math.max(0, Math.min(length, size - offset)), context);
    } finally {
      await handle.close();
    }
    const text = encoding === "utf8" ? textOf(bytes, offset > 0, offset + bytes.length < size) : undefined;
    const start = offset + (text?.skipped ?? 0);
    const end = start + (text?.bytes ?? bytes.length);
    const truncated = end < size;
    return toolResult({
      output: {
        path: located.path,
        content: text?.content ?? bytes.toString("base64"),
        encoding: text ? "utf8" : "base64",
        size,
        offset: start,
        bytes: end - start,
        truncated,
        ...(truncated && { nextOffset: end }),
      },
    });
  });
}

async function readRange(handle: FileHandle, offset: number, length: number, context: ToolContext): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    context.cancellationToken.check();
    const step = Math.min(STEP_BYTES, length - filled);
    const { bytesRead } = await handle.read(bytes, filled, step, offset + filled);
    // The file became shorter while it was read.
    if (bytesRead === 0) break;
    filled += bytesRead;
    if (length > STEP_BYTES) context.progress(filled, length);
  }
  return bytes.subarray(0, filled);
}

/**
 * The whole characters of a range, or undefined where it is not text. A character belongs to the
 * range that it starts in, and one that does not end there is left for the next range.
 */
function textOf(
  bytes: Buffer,
  mayStartInside: boolean,
  mayEndInside: boolean,
): { content: string; skipped: number; bytes: number } | undefined {
  const skipped = mayStartInside ? continuationsAt(bytes) : 0;
  const end = mayEndInside ? bytes.length - cutCharacterBytes(bytes) : bytes.length;
  // A range too short for a character comes as bytes: nothing at all would keep a caller asking for ever.
  if (bytes.length > 0 && end <= skipped) return undefined;
  const whole = bytes.subarray(skipped, end);
  if (whole.includes(0)) return undefined;
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
    return { content, skipped, bytes: whole.length };
  } catch {
    return undefined;
  }
}

/** Bytes at the start that belong to a character which starts before. */
function continuationsAt(bytes: Buffer): number {
  let count = 0;
  while (count < MAX_CONTINUATIONS && isContinuation(bytes[count])) count++;
  return count;
}

/** Bytes at the end of a character that is not complete. */
function cutCharacterBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(MAX_CONTINUATIONS, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
