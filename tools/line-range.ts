/** Lines of a file, found in its bytes. A line ends after a line feed; what follows the last one is a line too. */
import type { FileHandle } from "node:fs/promises";
import type { ToolContext } from "../src/tool.js";
import type { TextEncoding } from "./text-encoding.js";

const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

/**
 * Goes through a file up to the start of a line.
 * @param offset where the file's first line starts for the caller
 * @param lines how many lines to pass over
 * @param total bytes of the file, for the progress
 * @returns the byte that the line starts at, or the file's end where there is no such line
 */
export async function passLines(
  handle: FileHandle,
  { offset, lines, encoding, total }: { offset: number; lines: number; encoding: TextEncoding; total: number },
  context: ToolContext,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = offset;
  let left = lines;
  while (left > 0) {
    context.cancellationToken.check();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, at);
    const chunk = buffer.subarray(0, bytesRead);
    const whole = encoding === "utf16le" ? wholeUnits(chunk, at) : chunk;
    if (whole.length === 0) return at + bytesRead;
    const passed = pass(whole, at, left, encoding);
    at += passed.bytes;
    left -= passed.lines;
    context.progress(at, Math.max(total, at));
  }
  return at;
}

/** The first lines of what is held in memory, at most as many as asked for. */
export function firstLines(
  bytes: Buffer,
  offset: number,
  lines: number,
  encoding: TextEncoding,
): { bytes: number; lines: number } {
  return pass(bytes, offset, lines, encoding);
}

/** Where the lines end: after so many of them, or after all bytes. Only lines that end are counted. */
function pass(bytes: Buffer, offset: number, lines: number, encoding: TextEncoding): { bytes: number; lines: number } {
  let passed = 0;
  let from = 0;
  while (passed < lines) {
    const found = encoding === "utf16le" ? wideFeed(bytes, offset, from) : bytes.indexOf(LINE_FEED, from) + 1;
    if (found === 0) return { bytes: bytes.length, lines: passed };
    from = found;
    passed++;
  }
  return { bytes: from, lines: passed };
}

/** The end of the first line feed of two bytes, which stand on a unit counted from the file's start; 0 if none. */
function wideFeed(bytes: Buffer, offset: number, from: number): number {
  for (let at = bytes.indexOf(LINE_FEED, from); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if ((offset + at) % 2 === 0 && bytes[at + 1] === 0) return at + 2;
  }
  return 0;
}

/** A chunk without the half unit at its end, unless nothing else is left. */
function wholeUnits(chunk: Buffer, offset: number): Buffer {
  return chunk.subarray(0, chunk.length - ((offset + chunk.length) % 2));
}
