/**
 * Paths as the bytes that they are. A name on disk need not be UTF-8, so a path is kept as a text of one character per
 * byte, which compares and sorts as the bytes do.
 */

/** A path, one character per byte. */
export type BytePath = string;

/** Reads a path from an ordinary text. */
export function bytePath(text: string): BytePath {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** A path for `node:fs`. */
export function onDisk(path: BytePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** A path for people. */
export function shown(path: BytePath): string {
  return JSON.stringify(onDisk(path).toString("utf8"));
}

/** A path below another one. */
export function below(folder: BytePath, name: BytePath): BytePath {
  if (folder === "") return name;
  return name === "" ? folder : `${folder}/${name}`;
}

/** A path as JSON: a text where it is one, else `{ base64 }`. */
export function toJson(path: BytePath): unknown {
  const bytes = onDisk(path);
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : { base64: bytes.toString("base64") };
}

/** @returns undefined where the value is no path */
export function fromJson(value: unknown): BytePath | undefined {
  if (typeof value === "string") return bytePath(value);
  const { base64 } = (value ?? {}) as { base64?: unknown };
  return typeof base64 === "string" ? Buffer.from(base64, "base64").toString("latin1") : undefined;
}
