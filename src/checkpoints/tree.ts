/** What a folder or a file was, entry by entry; one line of JSON for each. */
import type { BigIntStats } from "node:fs";
import { fromJson, toJson, type BytePath } from "./byte-path.js";

/** A regular file. */
export interface FileEntry {
  readonly kind: "file";
  readonly path: BytePath;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly size: number;
  /** SHA-256 of the content, in hex. */
  readonly digest: string;
  /** What tells that it is still the same, where that can be told: see {@link seenOf}. */
  readonly seen: string | undefined;
}

/** What there was under a path, relative to the root; the root itself is "". */
export type TreeEntry =
  | FileEntry
  | { readonly kind: "folder"; readonly path: BytePath; readonly mode: number; readonly mtimeNs: bigint }
  | { readonly kind: "link"; readonly path: BytePath; readonly target: BytePath; readonly mtimeNs: bigint }
  /** There was nothing; said of a root alone. */
  | { readonly kind: "absent"; readonly path: BytePath };

/** Permission bits, those of set-user-id and the like included. */
export function modeOf({ mode }: BigIntStats): number {
  return Number(mode & 0o7777n);
}

/** Whether two looks at a path saw the same, unchanged. */
export function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.mode === other.mode &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}

/** A file system that counts whole seconds may be as coarse as two; others tick at least every 10 ms. */
const COARSE_NS = 2_000_000_000n;
const FINE_NS = 50_000_000n;

/**
 * What a file's content hangs on: as long as it is the same, so is the content. The time of the last change of the file's
 * own record is part of it, since a program can set the other one.
 * @param lookedAt epoch nanoseconds just before the content was read
 * @returns undefined where a change right after could have got the same time
 */
export function seenOf(info: BigIntStats, lookedAt: bigint): string | undefined {
  const tick = info.ctimeNs % 1_000_000_000n === 0n ? COARSE_NS : FINE_NS;
  return info.ctimeNs + tick <= lookedAt ? identityOf(info) : undefined;
}

/** Whether a file is as it was when its content was read. */
export function isUnchanged({ seen, size, mtimeNs }: FileEntry, info: BigIntStats): boolean {
  return BigInt(size) === info.size && mtimeNs === info.mtimeNs && seen === identityOf(info);
}

function identityOf({ dev, ino, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}`;
}

/** An entry as a line. */
export function lineOf(entry: TreeEntry): string {
  const { kind } = entry;
  const path = toJson(entry.path);
  if (kind === "absent") return `${JSON.stringify({ kind, path })}\n`;
  const mtimeNs = String(entry.mtimeNs);
  if (kind === "link") return `${JSON.stringify({ kind, path, mtimeNs, target: toJson(entry.target) })}\n`;
  const { mode } = entry;
  if (kind === "folder") return `${JSON.stringify({ kind, path, mode, mtimeNs })}\n`;
  const { size, digest, seen } = entry;
  return `${JSON.stringify({ kind, path, mode, mtimeNs, size, digest, seen })}\n`;
}

/**
 * Reads a line.
 * @returns undefined where it is none, or leads out of its root
 */
export function entryOf(line: string): TreeEntry | undefined {
  const fields = fieldsOf(line);
  const path = fromJson(fields["path"]);
  if (path === undefined || !staysInside(path)) return undefined;
  const { kind, mode, size, digest, seen } = fields;
  if (kind === "absent") return path === "" ? { kind, path } : undefined;
  const mtimeNs = nanoseconds(fields["mtimeNs"]);
  if (mtimeNs === undefined) return undefined;
  if (kind === "link") {
    const target = fromJson(fields["target"]);
    return target === undefined ? undefined : { kind, path, target, mtimeNs };
  }
  if (!isWhole(mode) || mode > 0o7777) return undefined;
  if (kind === "folder") return { kind, path, mode, mtimeNs };
  if (kind !== "file" || !isWhole(size) || !isDigest(digest)) return undefined;
  return { kind, path, mode, mtimeNs, size, digest, seen: typeof seen === "string" ? seen : undefined };
}

/** Whether a value is a SHA-256 in hex. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function staysInside(path: BytePath): boolean {
  return (
    path === "" || path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"))
  );
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    return (JSON.parse(line) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function nanoseconds(value: unknown): bigint | undefined {
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
