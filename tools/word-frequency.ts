/** `builtin/word-frequency`: statistics of a text, in one pass over its bytes. */
import { constants } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { TextDecoder } from "node:util";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { TOP_WORDS } from "./defaults.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { openFile } from "./open-file.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/word-frequency.js";
import { WordTally } from "./word-tally.js";

/** Bytes between two turns of the event loop: a few milliseconds of work. */
const CHUNK_BYTES = 64 * 1024;
const PROGRESS_EVERY_MS = 50;
const MAX_WORDS = 1_000_000;
const MAX_PAIRS = 2_000_000;

/** Counts the words of a file of the resource in slot `repo`, or of the text given. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, text, top = TOP_WORDS, minLength = 1, caseSensitive = false } = input;
  return answering(path, async () => {
    if ((path === undefined) === (text === undefined)) {
      throw new ToolFailure("INVALID_INPUT", "Give either path or text, one of the two.");
    }
    const options = { minLength, caseSensitive, maxWords: MAX_WORDS, maxPairs: MAX_PAIRS };
    const tally = new WordTally(options, context.cancellationToken);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const source = path === undefined ? bytesOfText(text ?? "") : bytesOfFile(path, context);
    let bytes = 0;
    let nextProgress = 0;
    for await (const { chunk, total } of source) {
      bytes += chunk.length;
      tally.push(decode(decoder, chunk, path));
      if (performance.now() < nextProgress && bytes < total) continue;
      nextProgress = performance.now() + PROGRESS_EVERY_MS;
      context.progress(bytes, total);
    }
    tally.push(decode(decoder, undefined, path));
    return toolResult({ output: { ...tally.finish(top), bytes } });
  });
}

interface Piece {
  readonly chunk: Uint8Array;
  /** Bytes of the whole. */
  readonly total: number;
}

/** The chunks of a file. Each read gives the event loop its turn, so that progress and cancel travel. */
async function* bytesOfFile(path: string, context: ToolContext): AsyncGenerator<Piece> {
  const resource = await openResource(context, "repo");
  const { handle, size } = await openFile(await locate(resource, path), constants.O_RDONLY);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let at = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return;
      const chunk = buffer.subarray(0, bytesRead);
      // UTF-16 and most binary formats hold NUL bytes; text does not.
      if (chunk.includes(0)) throw binary(path);
      at += bytesRead;
      // A log may grow while it is read.
      yield { chunk, total: Math.max(size, at) };
    }
  } finally {
    await handle.close();
  }
}

/** The chunks of a text, with a turn of the event loop after each. */
async function* bytesOfText(text: string): AsyncGenerator<Piece> {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield { chunk: bytes.subarray(at, at + CHUNK_BYTES), total: bytes.length };
    await setImmediate();
  }
}

function decode(decoder: TextDecoder, chunk: Uint8Array | undefined, path: string | undefined): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw binary(path ?? "The text");
  }
}

function binary(path: string): ToolFailure {
  return new ToolFailure("BINARY_FILE", `${shown(path)} is not UTF-8 text; name a text file.`);
}
