/** Resources that may be changed, and the folders in which changes happen. */
import { lstat, mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { ToolContext } from "../src/tool.js";
import { exists } from "./entry.js";
import { errnoOf, shown, ToolFailure } from "./failure.js";
import { openResource, relativePath, type OpenResource } from "./paths.js";

/**
 * Looks up a bound resource that is to be changed.
 * @throws ToolFailure `READ_ONLY` where it is not bound for that
 */
export async function openWritable(context: ToolContext, slot: string): Promise<OpenResource> {
  const resource = await openResource(context, slot);
  if (resource.bound.access === "read_write") return resource;
  throw new ToolFailure("READ_ONLY", 'The resource is bound read-only; bind it with access "read_write" to write.');
}

/**
 * Makes sure that a folder is there and is still the one that was resolved.
 * @param path what the caller named, in that folder
 * @throws ToolFailure `NOT_FOUND` or `OUTSIDE_RESOURCE`
 */
export async function checkFolder(folder: string, path: string): Promise<void> {
  const now = await realpath(folder).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new ToolFailure("NOT_FOUND", `The folder of ${shown(path)} does not exist; set createFolders to true.`);
  });
  if (now === folder) return;
  throw new ToolFailure("OUTSIDE_RESOURCE", `The folder of ${shown(path)} became a link just now; try again.`);
}

/**
 * Makes a folder and those above it that are missing, one after the other: each is looked at before anything is put
 * into it.
 * @param folder real path inside the resource
 * @returns the real paths of the folders that are new
 */
export async function makeFolders(resource: OpenResource, folder: string, context: ToolContext): Promise<string[]> {
  const missing: string[] = [];
  for (let each = folder; each !== resource.root && !(await exists(each)); each = dirname(each)) missing.unshift(each);
  const made: string[] = [];
  const { resourceId } = resource.bound;
  for (const each of missing) {
    const path = relativePath(resource.root, each);
    await checkFolder(dirname(each), path);
    if (!(await makeFolder(each))) continue;
    made.push(each);
    // Recorded here, not with the answer: the folder is there even if what it is for fails.
    context.recordChange({ operation: "create", resourceId, path });
  }
  return made;
}

/** @returns whether it is new; somebody else may have made it meanwhile */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" && (await lstat(folder)).isDirectory()) return false;
    throw error;
  }
}
