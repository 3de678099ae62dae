/** The lines of a file, one after the other in bounded memory. */
import type { FileHandle } from "node:fs/promises";
import { TextDecoder } from "node:util";
import type { ToolContext } from "../src/tool.js";
import { MAX_JSON_LINE_BYTES } from "./defaults.js";
import { ToolFailure } from "./failure.js";

/** Bytes between two turns of the event loop. */
const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

/** A line that is not blank. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/**
 * Reads the lines of a UTF-8 file that are not blank.
 * @param size bytes of the file, for the progress
 * @throws ToolFailure `BINARY_FILE` or `TOO_LARGE`
 */
export async function* readLines(handle: FileHandle, size: number, context: ToolContext): AsyncGenerator<TextLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let begun: Buffer[] = [];
  let bytes = 0;
  let number = 0;
  const finish = (end: Buffer): TextLine | undefined => {
    const line = begun.length === 0 ? end : Buffer.concat([...begun, end]);
    begun = [];
    bytes = 0;
    number++;
    const text = decode(decoder, line, number);
    return text.trim() === "" ? undefined : { text, number };
  };
  for (let at = 0; ;) {
    context.cancellationToken.check();
    // A buffer of its own for each read: lines that are not complete are kept.
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const line = finish(chunk.subarray(from, end));
      if (line) yield line;
      from = end + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_JSON_LINE_BYTES) {
      throw new ToolFailure("TOO_LARGE", `Line ${number + 1} has more than ${MAX_JSON_LINE_BYTES} bytes.`, {
        line: number + 1,
      });
    }
    at += bytesRead;
    // A log may grow while it is read.
    context.progress(at, Math.max(size, at));
  }
  const last = begun.length > 0 ? finish(Buffer.alloc(0)) : undefined;
  if (last) yield last;
}

/** Takes a byte order mark away, which only a first line should have. */
function decode(decoder: TextDecoder, line: Buffer, number: number): string {
  try {
    return decoder.decode(line);
  } catch {
    throw new ToolFailure("BINARY_FILE", `Line ${number} is not UTF-8 text; name a text file.`, { line: number });
  }
}
