/** Paths as the file system has them: a name is bytes, which need not be UTF-8. */
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Bytes only where the path is not UTF-8; a text says the same otherwise. */
export type RawPath = string | Buffer;

/** The path of a name in a folder. */
export function joinRaw(folder: RawPath, name: Buffer): RawPath {
  if (typeof folder === "string" && isText(name)) return join(folder, name.toString());
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
}

/** Whether a path leads through no link. */
export async function isReal(path: RawPath): Promise<boolean> {
  if (typeof path === "string") return (await realpath(path)) === path;
  return (await realpath(path, { encoding: "buffer" })).equals(path);
}

/** The names of a folder that are UTF-8 and hold a text; others may look like them. */
export async function namesWith(text: string, folder: string): Promise<Set<string>> {
  const names = await readdir(folder, { encoding: "buffer" });
  return new Set(
    names
      .filter(isText)
      .map(String)
      .filter((name) => name.includes(text)),
  );
}

/** Whether a name is UTF-8. */
function isText(name: Buffer): boolean {
  return Buffer.from(name.toString()).equals(name);
}
