/** How bytes are text: encodings, byte order marks, and characters that a range cuts in half. */
import { TextDecoder } from "node:util";

/** An encoding of text. */
export type TextEncoding = "utf8" | "utf16le" | "latin1";

/** Bytes at a file's start that tell its byte order mark, at most. */
export const MARK_BYTES = 3;
/** A UTF-8 character has at most this many bytes after its first. */
const MAX_CONTINUATIONS = 3;

/** What a file's first bytes say of its encoding, and how many of them say so. */
export function markOf(first: Uint8Array): { encoding: TextEncoding; bytes: number } | undefined {
  if (first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf) return { encoding: "utf8", bytes: 3 };
  if (first[0] === 0xff && first[1] === 0xfe) return { encoding: "utf16le", bytes: 2 };
  return undefined;
}

/** A range of a file that may begin and end within a character. */
export interface CutRange {
  readonly bytes: Buffer;
  /** Where it starts in the file. */
  readonly offset: number;
  /** Whether the file goes on after it. */
  readonly goesOn: boolean;
}

/** The whole characters of a range. */
export interface Text {
  readonly content: string;
  /** Bytes passed over at the start of the range. */
  readonly skipped: number;
  /** Bytes that content stands for. */
  readonly bytes: number;
}

/**
 * The whole characters of a range, or undefined where it is not text. A character belongs to the
 * range that it starts in, and one that does not end there is left for the next range.
 */
export function textOf({ bytes, offset, goesOn }: CutRange, encoding: TextEncoding): Text | undefined {
  if (encoding === "latin1") return { content: bytes.toString("latin1"), skipped: 0, bytes: bytes.length };
  const [startsInside, endsInside] = encoding === "utf8" ? [continuationsAt, cutCharacterBytes] : [inUnits, cutUnits];
  const skipped = offset > 0 ? startsInside(bytes, offset) : 0;
  const end = goesOn ? bytes.length - endsInside(bytes, skipped) : bytes.length;
  // A range too short for a character comes as bytes: nothing at all would keep a caller asking for ever.
  if (bytes.length > 0 && end <= skipped) return undefined;
  const whole = bytes.subarray(skipped, end);
  // UTF-16 and most binary formats hold NUL bytes; UTF-8 text does not.
  if (encoding === "utf8" && whole.includes(0)) return undefined;
  try {
    const label = encoding === "utf8" ? "utf-8" : "utf-16le";
    const content = new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(whole);
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

/** The same for units of two bytes, counted from the file's start: half a unit, and the second unit of a pair. */
function inUnits(bytes: Buffer, offset: number): number {
  const half = offset % 2;
  return half + (isSecond(bytes[half + 1]) ? 2 : 0);
}

/** The same for units of two bytes: half a unit, and the first unit of a pair. */
function cutUnits(bytes: Buffer, skipped: number): number {
  const half = (bytes.length - skipped) % 2;
  return half + (isFirst(bytes[bytes.length - half - 1]) ? 2 : 0);
}

function isFirst(high: number | undefined): boolean {
  return high !== undefined && (high & 0xfc) === 0xd8;
}

function isSecond(high: number | undefined): boolean {
  return high !== undefined && (high & 0xfc) === 0xdc;
}
