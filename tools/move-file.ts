/** `builtin/move-file`: gives a file or folder another name or another folder. */
import { constants } from "node:fs";
import { access, rename } from "node:fs/promises";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { kindOf, locateEntry, meansFolder, type Entry } from "./entry.js";
import { answering, errnoOf, failureOf, shown, ToolFailure } from "./failure.js";
import { moveAcross } from "./move-across.js";
import { canBeOneEntry, isSameEntry, isTwin, moveTwin } from "./move-twin.js";
import { isInside, type OpenResource } from "./paths.js";
import { takeFreeName } from "./replace-file.js";
import type { Input, Output } from "./specs/move-file.js";
import { checkFolder, makeFolders, openWritable } from "./writable.js";

/**
 * Moves what the resource in slot `repo` holds. On one file system the move happens at once; between two, a file is copied
 * beside its new place first. Where nothing may be overwritten, a file has both names for a moment. Where both names show
 * one file already, it has a third one for a moment.
 */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { from, to, overwrite = false, createFolders = false } = input;
  return answering(from, async () => {
    const resource = await openWritable(context, "repo");
    const source = await locateEntry(resource, from);
    const target = await locating(resource, to);
    const kind = checkSource(source, target, from);
    await checkTarget(source, target, to, overwrite);
    context.cancellationToken.check();
    if (!target.hasFolder && createFolders) await makeFolders(resource, target.folder, context);
    await checkFolder(target.folder, to);
    await checkFolder(source.folder, from);
    const overwritten = await move(source, target, to, overwrite, context);
    const { resourceId } = resource.bound;
    return toolResult({
      output: { from: source.path, to: target.path, type: kind, overwritten },
      changes: [
        { operation: "delete", resourceId, path: source.path },
        { operation: overwritten ? "modify" : "create", resourceId, path: target.path },
      ],
    });
  });
}

/** The failure of a path other than the first one names it. */
async function locating(resource: OpenResource, path: string): Promise<Entry> {
  try {
    return await locateEntry(resource, path);
  } catch (error) {
    const failure = failureOf(error, path);
    throw failure ? new ToolFailure(failure.code, failure.message, { ...failure.details, path }) : error;
  }
}

function checkSource({ info, real }: Entry, target: Entry, from: string): ReturnType<typeof kindOf> {
  if (!info) throw new ToolFailure("NOT_FOUND", `${shown(from)} does not exist; list the folder to see what does.`);
  if (real === target.real) throw new ToolFailure("INVALID_INPUT", "from and to are the same; give another name.");
  if (info.isDirectory() && isInside(real, target.real)) {
    throw new ToolFailure("INVALID_PATH", `${shown(from)} cannot be moved into itself; choose another folder.`);
  }
  return kindOf(info);
}

async function checkTarget(source: Entry, target: Entry, to: string, overwrite: boolean): Promise<void> {
  const { info, real } = target;
  if (!info) {
    if (!meansFolder(to) || source.info?.isDirectory()) return;
    throw new ToolFailure("NOT_A_FILE", `${shown(to)} means a folder; name a file, without a slash at its end.`);
  }
  if (isTwin(source, target)) {
    if (await isSameEntry(source, target)) {
      throw new ToolFailure("INVALID_INPUT", "from and to lead to one and the same name; give another name.");
    }
    if (!overwrite && !canBeOneEntry(source, target)) throw taken(to);
    return;
  }
  if (!overwrite) throw taken(to);
  if (info.isDirectory() || source.info?.isDirectory()) {
    throw new ToolFailure("NOT_A_FILE", `Only a file can take the place of a file; delete ${shown(to)} first.`);
  }
  // A rename asks for no permission on what it replaces, so a file that is closed to writing is asked about here.
  if (info.isFile()) await access(real, constants.W_OK);
}

/** @returns whether something else had the name, and is gone */
async function move(
  source: Entry,
  target: Entry,
  to: string,
  overwrite: boolean,
  context: ToolContext,
): Promise<boolean> {
  try {
    if (isTwin(source, target)) return await moveTwin(source, target, overwrite, context);
    if (!target.info && source.info?.isFile()) await takeFreeName(source.real, target.real);
    else await rename(source.real, target.real);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST" || errno === "ENOTEMPTY") throw taken(to);
    if (errno !== "EXDEV") throw error;
    await moveAcross(source, target, context);
  }
  return target.info !== undefined;
}

function taken(to: string): ToolFailure {
  return new ToolFailure("ALREADY_EXISTS", `${shown(to)} exists; set overwrite to true or choose another name.`, {
    path: to,
  });
}
