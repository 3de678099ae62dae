/** Whole text files, as tools that change or compare them need them. */
import { createHash } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { TextDecoder } from "node:util";
import type { ToolContext } from "../src/tool.js";
import { readRange } from "./byte-range.js";
import { shown, ToolFailure } from "./failure.js";
import { openFile } from "./open-file.js";
import type { Located } from "./paths.js";

const BYTE_ORDER_MARK = "\ufeff";

/** A file's text, and what tells whether the file is still the same. */
export class TextFile {
  /** Without a byte order mark. */
  readonly text: string;
  readonly sha256: string;
  readonly #mark: string;
  readonly #located: Located;
  readonly #info: BigIntStats;

  private constructor(located: Located, bytes: Buffer, info: BigIntStats) {
    const text = decode(bytes, located.path);
    this.#mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    this.text = text.slice(this.#mark.length);
    this.sha256 = sha256(bytes);
    this.#located = located;
    this.#info = info;
  }

  /**
   * Reads a file of UTF-8 text.
   * @throws ToolFailure `TOO_LARGE` or `BINARY_FILE`
   */
  static async read(located: Located, maxBytes: number, context: ToolContext): Promise<TextFile> {
    const { handle, size } = await openFile(located, constants.O_RDONLY);
    try {
      if (size > maxBytes) throw tooLarge(shown(located.path), maxBytes);
      const info = await handle.stat({ bigint: true });
      return new TextFile(located, await readRange(handle, 0, size, context), info);
    } finally {
      await handle.close();
    }
  }

  /** The bytes that the file shall have for another text; its byte order mark stays. */
  bytesOf(text: string): Buffer {
    return Buffer.from(this.#mark + text, "utf8");
  }

  /**
   * Makes sure that the file is the one that was read, unchanged.
   * @throws ToolFailure `CHANGED`
   */
  async checkUnchanged(): Promise<void> {
    const now = await lstat(this.#located.real, { bigint: true });
    const { ino, size, mtimeNs, ctimeNs } = this.#info;
    if (now.ino === ino && now.size === size && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs) return;
    throw new ToolFailure(
      "CHANGED",
      `${shown(this.#located.path)} was changed by somebody else meanwhile; read it again.`,
    );
  }
}

/** The SHA-256 of bytes, in hexadecimal. */
export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The failure for content over a bound. */
export function tooLarge(what: string, maxBytes: number): ToolFailure {
  return new ToolFailure("TOO_LARGE", `${what} has more than the ${maxBytes} bytes that are allowed here.`, {
    maxBytes,
  });
}

function decode(bytes: Buffer, path: string): string {
  try {
    // UTF-16 and most binary formats hold NUL bytes; text does not.
    if (!bytes.includes(0)) return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8 either.
  }
  throw new ToolFailure("BINARY_FILE", `${shown(path)} is not UTF-8 text; name a text file.`);
}
