/** `builtin/make-folder`: makes a folder. */
import { lstat } from "node:fs/promises";
import { dirname } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { locate, relativePath } from "./paths.js";
import type { Input, Output } from "./specs/make-folder.js";
import { checkFolder, makeFolders, openWritable } from "./writable.js";

/** Makes a folder in the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, createFolders = false } = input;
  return answering(path, async () => {
    const resource = await openWritable(context, "repo");
    const located = await locate(resource, path);
    if (located.exists) {
      if ((await lstat(located.real)).isDirectory()) {
        return toolResult({ output: { path: located.path, created: false, folders: [] } });
      }
      throw new ToolFailure("ALREADY_EXISTS", `${shown(path)} exists and is no folder; choose another name.`);
    }
    context.cancellationToken.check();
    if (!createFolders) await checkFolder(dirname(located.real), path);
    const made = await makeFolders(resource, located.real, context);
    const folders = made.map((folder) => relativePath(resource.root, folder));
    return toolResult({ output: { path: located.path, created: folders.length > 0, folders } });
  });
}
