/** The text of a file that is searched, chunk by chunk. The first is read when the file is opened. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { openFile } from "./open-file.js";
import type { Located } from "./paths.js";
import { markOf } from "./text-encoding.js";

const FIRST_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** A file that is open until all of it is read, or `close()`. */
export class SearchSource {
  /** Bytes read so far. */
  bytes = 0;
  readonly #handle: FileHandle;
  readonly #size: number;
  readonly #decoder: TextDecoder;
  readonly #wide: boolean;
  #first: Uint8Array | undefined;
  #closed = false;

  private constructor(handle: FileHandle, size: number, first: Uint8Array) {
    this.#handle = handle;
    this.#size = size;
    this.#first = first;
    this.#wide = markOf(first)?.encoding === "utf16le";
    this.#decoder = new TextDecoder(this.#wide ? "utf-16le" : "utf-8");
  }

  /** @throws ToolFailure `NOT_A_FILE`, and the system's errors */
  static async open(located: Located): Promise<SearchSource> {
    const { handle, size } = await openFile(located, constants.O_RDONLY);
    try {
      const buffer = Buffer.allocUnsafe(Math.min(size + 1, FIRST_BYTES));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      const source = new SearchSource(handle, size, buffer.subarray(0, bytesRead));
      if (bytesRead < buffer.length) await source.close();
      return source;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Bytes of the file when it was opened. */
  get size(): number {
    return this.#size;
  }

  /**
   * The text, chunk by chunk. Bytes that are no character count as U+FFFD. Ends with undefined where a NUL byte shows
   * that the file is binary.
   */
  async *chunks(): AsyncGenerator<string | undefined> {
    for (let chunk = this.#takeFirst(); chunk.length > 0; chunk = await this.#next()) {
      if (!this.#wide && chunk.includes(0)) {
        yield undefined;
        return;
      }
      this.bytes += chunk.length;
      yield this.#decoder.decode(chunk, { stream: true });
    }
    yield this.#decoder.decode();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  #takeFirst(): Uint8Array {
    const first = this.#first ?? new Uint8Array();
    this.#first = undefined;
    return first;
  }

  async #next(): Promise<Uint8Array> {
    if (this.#closed) return new Uint8Array();
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await this.#handle.read(buffer, 0, CHUNK_BYTES, this.bytes);
    return buffer.subarray(0, bytesRead);
  }
}
