/** `builtin/read-file`: reads a range of a file, never more of it into memory than the range. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { readRange } from "./byte-range.js";
import { READ_BYTES } from "./defaults.js";
import { answering } from "./failure.js";
import { firstLines, passLines } from "./line-range.js";
import { openFile } from "./open-file.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/read-file.js";
import { MARK_BYTES, markOf, textOf, type TextEncoding } from "./text-encoding.js";

/** Reads a file of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  return answering(input.path, async () => {
    const resource = await openResource(context, "repo");
    const located = await locate(resource, input.path);
    const { handle, size } = await openFile(located, constants.O_RDONLY);
    try {
      const mark = await markBytes(handle, input.encoding);
      const encoding = textEncodingOf(input.encoding, mark);
      const byLine = input.firstLine !== undefined || input.lineCount !== undefined;
      const range = await (byLine ? lineRange : byteRange)(handle, size, encoding, input, context);
      return toolResult({ output: { path: located.path, ...outputOf(range, size, encoding, mark, input) } });
    } finally {
      await handle.close();
    }
  });
}

/** A part of the file. */
interface Range {
  readonly offset: number;
  readonly bytes: Buffer;
  /** Absent where bytes were asked for. */
  readonly lines?: {
    readonly first: number;
    readonly count: number;
    /** Whether the range ends within its only line. */
    readonly cut: boolean;
  };
}

async function markBytes(handle: FileHandle, encoding: Input["encoding"]): Promise<ReturnType<typeof markOf>> {
  const first = Buffer.alloc(MARK_BYTES);
  await handle.read(first, 0, MARK_BYTES, 0);
  const mark = markOf(first);
  return encoding === undefined || encoding === "base64" || encoding === mark?.encoding ? mark : undefined;
}

/** What the bytes are read as, before it is known whether they are text. */
function textEncodingOf(encoding: Input["encoding"], mark: ReturnType<typeof markOf>): TextEncoding {
  return encoding === undefined || encoding === "base64" ? (mark?.encoding ?? "utf8") : encoding;
}

async function byteRange(
  handle: FileHandle,
  size: number,
  _encoding: TextEncoding,
  { offset = 0, length = READ_BYTES }: Input,
  context: ToolContext,
): Promise<Range> {
  return { offset, bytes: await readRange(handle, offset, Math.max(0, Math.min(length, size - offset)), context) };
}

/** Whole lines, as many as asked for and as fit. */
async function lineRange(
  handle: FileHandle,
  size: number,
  encoding: TextEncoding,
  input: Input,
  context: ToolContext,
): Promise<Range> {
  const { firstLine: first = 1, lineCount = Infinity, offset: from = 0 } = input;
  const offset = await passLines(handle, { offset: from, lines: first - 1, encoding, total: size }, context);
  const { bytes } = await byteRange(handle, size, encoding, { ...input, offset }, context);
  const found = firstLines(bytes, offset, lineCount, encoding);
  if (found.lines === lineCount) {
    return { offset, bytes: bytes.subarray(0, found.bytes), lines: { first, count: lineCount, cut: false } };
  }
  const ended = firstLines(bytes, offset, found.lines, encoding);
  const open = bytes.length > ended.bytes;
  const goesOn = offset + bytes.length < size;
  // The last line that does not fit is left for the next call, unless there is no other.
  if (goesOn && found.lines > 0) {
    return { offset, bytes: bytes.subarray(0, ended.bytes), lines: { first, count: found.lines, cut: false } };
  }
  return { offset, bytes, lines: { first, count: found.lines + (open ? 1 : 0), cut: goesOn && open } };
}

function outputOf(
  { offset, bytes, lines }: Range,
  size: number,
  encoding: TextEncoding,
  mark: ReturnType<typeof markOf>,
  { encoding: wanted }: Input,
): Omit<Output, "path"> {
  const marked = mark && offset === 0 ? Math.min(mark.bytes, bytes.length) : 0;
  const rest = { bytes: bytes.subarray(marked), offset: offset + marked, goesOn: offset + bytes.length < size };
  const text = wanted === "base64" ? undefined : textOf(rest, encoding);
  const start = offset + (text ? marked + text.skipped : 0);
  const end = start + (text?.bytes ?? bytes.length);
  const truncated = end < size;
  return {
    content: text?.content ?? bytes.toString("base64"),
    encoding: text ? encoding : "base64",
    size,
    offset: start,
    bytes: end - start,
    ...(text && mark && { bom: true }),
    // A file of nothing but a byte order mark has no line.
    ...(lines && { firstLine: lines.first, lineCount: text?.bytes === 0 ? 0 : lines.count }),
    truncated,
    ...(truncated && { nextOffset: end }),
    ...(truncated && lines && !lines.cut && { nextLine: lines.first + lines.count }),
  };
}
