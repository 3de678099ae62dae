/**
 * Paths that stay inside a bound resource. What a caller names is resolved to a real path, links
 * and all, before anything is opened, and that real path has to lie inside the resource's real
 * root. Nothing above the root is looked at: a cell has no permission there.
 *
 * Between the check and the use another process can still exchange a folder for a link. Files are
 * opened without following a link in the last component and folders are checked again where they
 * are used, which narrows that gap; a resource that hostile processes write to needs a tier that
 * the operating system holds.
 */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import type { BoundResource, ToolContext } from "../src/tool.js";
import { errnoOf, shown, ToolFailure } from "./failure.js";

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

/** A bound resource, looked at once at the start of a call. */
export interface OpenResource {
  readonly bound: BoundResource;
  /** The real path of the folder or file. */
  readonly root: string;
  /** The path as it was bound; differs from `root` where that leads through links. */
  readonly given: string;
  /** Whether the resource is a single file. */
  readonly isFile: boolean;
}

/** Where a caller's path leads. */
export interface Located {
  /** Real path, inside the resource's root. */
  readonly real: string;
  /** The caller's path without dots, relative to the root, with slashes; `.` is the root. */
  readonly path: string;
  /** `real` relative to the root, with slashes; differs from `path` where that leads through links. */
  readonly realPath: string;
  /** Whether something is there. */
  readonly exists: boolean;
  /** Whether the caller's path ends with a slash, and so can only mean a folder. */
  readonly meansFolder: boolean;
}

/**
 * Whether a path is a folder or lies below it, by whole segments: `/work2` is not inside `/work`.
 * Both are taken as written; links are not looked at.
 */
export function isInside(folder: string, candidate: string): boolean {
  const way = relative(folder, candidate);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A path below a folder as callers see it: relative, with slashes, `.` for the folder itself. */
export function relativePath(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/") || ".";
}

/**
 * Looks up a bound resource and its real root.
 * @throws ToolFailure `NO_PATH` where the resource is not a file or folder
 */
export async function openResource(context: ToolContext, slot: string): Promise<OpenResource> {
  const bound = context.resource(slot);
  if (bound.path === undefined) {
    throw new ToolFailure("NO_PATH", `The resource in slot "${slot}" has no path; bind a folder or a file.`, { slot });
  }
  const given = resolve(bound.path);
  try {
    const root = await realpath(given);
    return { bound, root, given, isFile: !(await stat(root)).isDirectory() };
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new ToolFailure("NOT_FOUND", `The resource in slot "${slot}" does not exist; bind one that does.`, { slot });
  }
}

/**
 * Finds where a caller's path leads. It may be relative to the root or an absolute path inside it,
 * and what it names need not exist yet. A single-file resource is named by `.` or by its own name.
 * `..` is taken as written, before links are followed.
 * @throws ToolFailure `OUTSIDE_RESOURCE`, `INVALID_PATH` or `SYMLINK_LOOP`
 */
export async function locate(resource: OpenResource, input: string): Promise<Located> {
  const way = lexicalWay(resource, input);
  const target = join(resource.root, way);
  let found: { real: string; exists: boolean };
  try {
    found = { real: await realpath(target), exists: true };
    // A root that was exchanged for a link since it was looked up is caught here too.
    if (!isInside(resource.root, found.real)) throw outside(input);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    found = await walk(resource, way.split(sep), input);
  }
  const name = resource.isFile ? basename(resource.given) : undefined;
  return {
    ...found,
    path: name ?? relativePath(resource.root, target),
    realPath: name ?? relativePath(resource.root, found.real),
    meansFolder: input.endsWith("/") || input.endsWith(sep),
  };
}

/**
 * The way from the root to what the caller names, as written; empty for the root itself.
 * @throws ToolFailure `OUTSIDE_RESOURCE` or `INVALID_PATH`
 */
export function lexicalWay(resource: OpenResource, input: string): string {
  if (input.includes("\0")) throw new ToolFailure("INVALID_PATH", "A path cannot hold a NUL character; remove it.");
  if (resource.isFile) {
    const named = normalize(input || ".") === "." ? resource.given : resolve(dirname(resource.given), input);
    if (named === resource.given || named === resource.root) return "";
    const name = shown(basename(resource.given));
    throw new ToolFailure("OUTSIDE_RESOURCE", `The resource is a single file; name it by "." or by ${name}.`);
  }
  for (const base of [resource.root, resource.given]) {
    const named = resolve(base, input);
    if (isInside(base, named)) return relative(base, named);
  }
  // The folder may have been bound by a link: the resource has its real path alone, so names by the link lead elsewhere.
  if (isAbsolute(input)) {
    const where = `the folder's real path is ${shown(resource.root)}`;
    throw new ToolFailure(
      "OUTSIDE_RESOURCE",
      `${shown(input)} is not in the resource: ${where}; give a path relative to it.`,
    );
  }
  throw outside(input);
}

/**
 * Follows a path that `realpath` cannot, because its end does not exist, one segment at a time from
 * the root downward. It never leaves the root, not even to look, so that a dangling link out of
 * the resource is refused like any other.
 */
async function walk(
  resource: OpenResource,
  segments: readonly string[],
  input: string,
): Promise<{ real: string; exists: boolean }> {
  const ahead = segments.toReversed();
  let here = resource.root;
  let links = 0;
  for (let segment = ahead.pop(); segment !== undefined; segment = ahead.pop()) {
    if (segment === "" || segment === ".") continue;
    const next = join(here, segment);
    if (!isInside(resource.root, next)) throw outside(input);
    const info = await lstat(next).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    });
    if (info === undefined) {
      // What lies below a missing folder cannot be a link. A link's `..` back out of it leads nowhere.
      const rest = ahead.toReversed();
      if (rest.includes("..")) throw new ToolFailure("NOT_FOUND", `${shown(input)} is a link that leads nowhere.`);
      return { real: join(next, ...rest), exists: false };
    }
    if (!info.isSymbolicLink()) {
      here = next;
      continue;
    }
    if (++links > MAX_LINKS) {
      throw new ToolFailure("SYMLINK_LOOP", `${shown(input)} leads through too many links; name its target.`);
    }
    const target = await readlink(next);
    if (!isAbsolute(target)) {
      ahead.push(...target.split(sep).reverse());
      continue;
    }
    const base = [resource.root, resource.given].find((each) => target === each || target.startsWith(join(each, sep)));
    if (base === undefined) throw outside(input);
    ahead.push(...target.slice(base.length).split(sep).reverse());
    here = resource.root;
  }
  return { real: here, exists: true };
}

function outside(input: string): ToolFailure {
  return new ToolFailure(
    "OUTSIDE_RESOURCE",
    `${shown(input)} leads out of the resource; give a path relative to its root.`,
  );
}
