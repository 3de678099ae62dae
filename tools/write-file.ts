/** `builtin/write-file`: writes a whole file, so that nobody ever sees half of it. */
import { dirname } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { refuseFolderName } from "./open-file.js";
import { locate } from "./paths.js";
import { modeOfReplaceable, overwriteInPlace, replaceFile } from "./replace-file.js";
import type { Input, Output } from "./specs/write-file.js";
import { checkFolder, makeFolders, openWritable } from "./writable.js";

/**
 * Writes a file of the resource in slot `repo`.
 *
 * In a folder the new content is written beside the old file and takes its place at once; the
 * permission bits stay, owner, hard links and extended attributes do not. A resource that is a
 * single file has no folder of its own to write in, so there the file itself is overwritten, and a
 * call that is killed meanwhile can leave a part of it.
 */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, content, encoding = "utf8", createFolders = false, overwrite = true } = input;
  return answering(path, async () => {
    const resource = await openWritable(context, "repo");
    const { resourceId } = resource.bound;
    const bytes = bytesOf(content, encoding);
    const located = await locate(resource, path);
    refuseFolderName(located);
    if (located.exists && !overwrite) {
      throw new ToolFailure("ALREADY_EXISTS", `${shown(path)} exists; set overwrite to true or choose another path.`);
    }
    const mode = located.exists ? await modeOfReplaceable(located) : undefined;
    context.cancellationToken.check();
    if (resource.isFile) {
      await overwriteInPlace(located, bytes);
    } else {
      const folder = dirname(located.real);
      if (createFolders) await makeFolders(resource, folder, context);
      await checkFolder(folder, located.path);
      await replaceFile(located.real, bytes, { mode, exclusive: !overwrite }, context.cancellationToken);
    }
    return toolResult({
      output: { path: located.path, bytes: bytes.length, created: mode === undefined },
      changes: [{ operation: mode === undefined ? "create" : "modify", resourceId, path: located.realPath }],
    });
  });
}

/** The bytes that a content stands for, exactly: one that would be changed on its way to the disk is refused. */
function bytesOf(content: string, encoding: "utf8" | "base64"): Buffer {
  if (encoding === "utf8") {
    if (/\p{Cs}/u.test(content)) {
      throw new ToolFailure(
        "INVALID_CONTENT",
        "The content holds half a surrogate pair, which UTF-8 cannot; remove it.",
      );
    }
    return Buffer.from(content, "utf8");
  }
  const bytes = Buffer.from(content, "base64");
  if (bytes.toString("base64") !== content) {
    throw new ToolFailure(
      "INVALID_CONTENT",
      "The content is not base64; use A–Z a–z 0–9 + / and = padding, no blanks.",
    );
  }
  return bytes;
}
