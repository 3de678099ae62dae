/** `builtin/diff-text`: tells how two texts or files differ. */
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { CONTEXT_LINES, DIFF_LENGTH, DIFF_TIMEOUT_MS, MAX_DIFF_BYTES } from "./defaults.js";
import { answering, failureOf, ToolFailure } from "./failure.js";
import { locate, openResource } from "./paths.js";
import type { Input, Output } from "./specs/diff-text.js";
import { TextFile, tooLarge } from "./text-file.js";
import { unifiedDiff } from "./unified-diff.js";
import { wordDiff } from "./word-diff.js";

type Side = Input["left"];

/** Compares two texts, each given or in a file of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { left, right, by = "line", contextLines = CONTEXT_LINES, timeoutMs = DIFF_TIMEOUT_MS } = input;
  const { ignoreCase = false, ignoreWhitespace = false, maxLength = DIFF_LENGTH } = input;
  return answering(left.path ?? right.path, async () => {
    const before = await textOf(left, "left", context);
    context.progress(1, 3);
    const after = await textOf(right, "right", context);
    context.progress(2, 3);
    const names = [left.path ?? "left", right.path ?? "right"] as const;
    const keyOf = ignoreCase || ignoreWhitespace ? keyFor(ignoreCase, ignoreWhitespace) : undefined;
    const options = { names, contextLines, maxLength, timeoutMs, keyOf };
    const compare = by === "word" ? wordDiff : unifiedDiff;
    const diff = before === after ? EQUAL : compare(before, after, options, context.cancellationToken);
    context.progress(3, 3);
    return toolResult({
      output: diff
        ? { ...diff, complete: true, identical: diff.added === 0 && diff.removed === 0 && diff.diff === "" }
        : { diff: "", truncated: true, complete: false, identical: false },
    });
  });
}

const EQUAL = { diff: "", truncated: false, added: 0, removed: 0 };

async function textOf({ text, path }: Side, side: string, context: ToolContext): Promise<string> {
  if (text !== undefined && path === undefined) {
    if (Buffer.byteLength(text) > MAX_DIFF_BYTES) throw tooLarge(`The text of ${side}`, MAX_DIFF_BYTES);
    return text;
  }
  if (path === undefined || text !== undefined) {
    throw new ToolFailure("INVALID_INPUT", `Give ${side} either a text or a path, one of the two.`);
  }
  try {
    const located = await locate(await openResource(context, "repo"), path);
    return (await TextFile.read(located, MAX_DIFF_BYTES, context)).text;
  } catch (error) {
    // Of two files the failure says which.
    const failure = failureOf(error, path);
    throw failure ? new ToolFailure(failure.code, failure.message, { ...failure.details, path }) : error;
  }
}

function keyFor(ignoreCase: boolean, ignoreWhitespace: boolean): (token: string) => string {
  return (token) => {
    const spaced = ignoreWhitespace ? token.trim().replace(/\s+/g, " ") : token;
    return ignoreCase ? spaced.toLowerCase() : spaced;
  };
}
