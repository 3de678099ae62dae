/** `builtin/edit-file`: changes parts of a text file, all of the edits or none. */
import { dirname } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { CONTEXT_LINES, EDIT_DIFF_LENGTH, EDIT_DIFF_TIMEOUT_MS, MAX_EDIT_BYTES } from "./defaults.js";
import { replaceExactly, type Edited } from "./exact-edit.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { unifyLineEndings } from "./line-endings.js";
import { refuseFolderName } from "./open-file.js";
import { replaceByPatch } from "./patch-edit.js";
import { locate, openResource, type Located, type OpenResource } from "./paths.js";
import { modeOfReplaceable, overwriteInPlace, replaceFile } from "./replace-file.js";
import type { Input, Output } from "./specs/edit-file.js";
import { sha256, TextFile, tooLarge } from "./text-file.js";
import { unifiedDiff } from "./unified-diff.js";
import { checkFolder, openWritable } from "./writable.js";

type Edit = Input["edits"][number];

/**
 * Edits a file of the resource in slot `repo`. The file is replaced as `write-file` replaces one. Its line ends and its
 * byte order mark stay; edits need not know them.
 */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path, edits, dryRun = false, expectedSha256 } = input;
  return answering(path, async () => {
    const resource = await (dryRun ? openResource : openWritable)(context, "repo");
    const located = await locate(resource, path);
    refuseFolderName(located);
    const file = await TextFile.read(located, MAX_EDIT_BYTES, context);
    if (expectedSha256 !== undefined && expectedSha256.toLowerCase() !== file.sha256) {
      throw new ToolFailure(
        "CHANGED",
        `${shown(path)} is not what expectedSha256 says: its SHA-256 is ${file.sha256}; read it again.`,
        { sha256: file.sha256 },
      );
    }
    const unified = unifyLineEndings(file.text);
    const edited = applyAll(unified.text, edits, unified.enter, located, context);
    const bytes = file.bytesOf(unified.leave(edited.text));
    if (bytes.length > MAX_EDIT_BYTES) throw tooLarge(`${shown(path)} after the edits`, MAX_EDIT_BYTES);
    const names = [`a/${located.realPath}`, `b/${located.realPath}`] as const;
    const options = {
      names,
      contextLines: CONTEXT_LINES,
      maxLength: EDIT_DIFF_LENGTH,
      timeoutMs: EDIT_DIFF_TIMEOUT_MS,
    };
    const diff = unifiedDiff(unified.text, edited.text, options, context.cancellationToken);
    const changed = edited.text !== unified.text;
    if (changed && !dryRun) await write(resource, located, file, bytes, context);
    const { resourceId } = resource.bound;
    return toolResult({
      output: {
        path: located.path,
        changed,
        replacements: edited.replacements,
        ...(diff && { addedLines: diff.added, removedLines: diff.removed }),
        bytes: bytes.length,
        sha256: sha256(bytes),
        diff: diff?.diff ?? "",
        diffTruncated: diff?.truncated ?? true,
      },
      changes: changed && !dryRun ? [{ operation: "modify", resourceId, path: located.realPath }] : [],
    });
  });
}

/** Applies edits one after the other, each to what those before it left. */
function applyAll(
  text: string,
  edits: readonly Edit[],
  enter: (text: string) => string,
  located: Located,
  context: ToolContext,
): Edited {
  let edited: Edited = { text, replacements: 0 };
  for (const [index, edit] of edits.entries()) {
    context.cancellationToken.check();
    const { replacements } = edited;
    try {
      edited = apply(edited.text, edit, enter, located, context);
      if (edited.text.length > MAX_EDIT_BYTES) throw tooLarge("The file after it", MAX_EDIT_BYTES);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      const which = index + 1;
      const message = edits.length > 1 ? `Edit ${which} of ${edits.length}: ${error.message}` : error.message;
      throw new ToolFailure(error.code, message, { ...error.details, edit: which });
    }
    edited = { text: edited.text, replacements: replacements + edited.replacements };
    context.progress(index + 1, edits.length);
  }
  return edited;
}

function apply(
  text: string,
  edit: Edit,
  enter: (text: string) => string,
  located: Located,
  context: ToolContext,
): Edited {
  const { oldText, newText, all, line, patch, fuzz = 0 } = edit;
  const token = context.cancellationToken;
  if (
    patch !== undefined &&
    oldText === undefined &&
    newText === undefined &&
    all === undefined &&
    line === undefined
  ) {
    return replaceByPatch(text, checked(enter(patch)), fuzz, token, [located.path, located.realPath]);
  }
  if (patch !== undefined || oldText === undefined || newText === undefined || edit.fuzz !== undefined) {
    throw new ToolFailure("INVALID_INPUT", "Give either oldText and newText, with all or line, or patch, with fuzz.");
  }
  if (all && line !== undefined) throw new ToolFailure("INVALID_INPUT", "Give either all or line, one of the two.");
  const exact = { oldText: checked(enter(oldText)), newText: checked(enter(newText)), all, line };
  if (exact.oldText === exact.newText) {
    throw new ToolFailure("INVALID_INPUT", "oldText and newText are the same; line ends stay those of the file.");
  }
  return replaceExactly(text, exact, MAX_EDIT_BYTES, token);
}

/** A text that UTF-8 can hold; half a pair could also tear a whole one in the file apart. */
function checked(text: string): string {
  if (!/\p{Cs}/u.test(text)) return text;
  throw new ToolFailure("INVALID_CONTENT", "An edit holds half a surrogate pair, which UTF-8 cannot; remove it.");
}

async function write(
  resource: OpenResource,
  located: Located,
  file: TextFile,
  bytes: Buffer,
  context: ToolContext,
): Promise<void> {
  const token = context.cancellationToken;
  const mode = await modeOfReplaceable(located);
  token.check();
  if (resource.isFile) {
    await file.checkUnchanged();
    await overwriteInPlace(located, bytes);
    return;
  }
  await checkFolder(dirname(located.real), located.path);
  await replaceFile(located.real, bytes, { mode, ready: () => file.checkUnchanged() }, token);
}
