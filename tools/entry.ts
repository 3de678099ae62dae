/** Entries of folders: what is moved or deleted is the name in its folder, never what a link of that name leads to. */
import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { errnoOf, shown, ToolFailure } from "./failure.js";
import { lexicalWay, locate, relativePath, type OpenResource } from "./paths.js";

/** A name in a folder. */
export interface Entry {
  /** The real path of the folder, inside the resource's root. */
  readonly folder: string;
  /** Whether the folder is there. */
  readonly hasFolder: boolean;
  /** The entry in the real folder. */
  readonly real: string;
  /** `real` relative to the root, with slashes. */
  readonly path: string;
  /** The entry itself, links not followed; undefined where there is none. */
  readonly info: Stats | undefined;
}

/**
 * Finds the entry that a caller names. Links on the way to its folder are followed and have to stay inside the root.
 * @throws ToolFailure `OUTSIDE_RESOURCE`, `INVALID_PATH` or `NOT_A_FOLDER`
 */
export async function locateEntry(resource: OpenResource, input: string): Promise<Entry> {
  const way = lexicalWay(resource, input);
  if (resource.isFile) {
    throw new ToolFailure("NOT_A_FOLDER", "The resource is a single file, which stays where it is; bind its folder.");
  }
  if (way === "") throw new ToolFailure("INVALID_PATH", "The root of the resource stays; name something in it.");
  const folder = await locate(resource, dirname(way));
  const real = join(folder.real, basename(way));
  const info = folder.exists ? await infoOf(real) : undefined;
  if (info && !info.isDirectory() && meansFolder(input)) {
    throw new ToolFailure("NOT_A_FOLDER", `${shown(input)} is no folder; leave the slash at its end out.`);
  }
  const path = relativePath(resource.root, real);
  return { folder: folder.real, hasFolder: folder.exists, real, path, info };
}

/** Whether a path ends with a slash, and so can only mean a folder. */
export function meansFolder(path: string): boolean {
  return path.endsWith("/") || path.endsWith(sep);
}

/** What kind of entry it is, in one word. */
export function kindOf(info: Stats): "file" | "directory" | "symlink" | "other" {
  if (info.isFile()) return "file";
  if (info.isDirectory()) return "directory";
  return info.isSymbolicLink() ? "symlink" : "other";
}

/** Whether there is an entry of that name, links not followed. */
export async function exists(path: string): Promise<boolean> {
  return (await infoOf(path)) !== undefined;
}

async function infoOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
