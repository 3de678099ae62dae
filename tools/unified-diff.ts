/** Unified diffs in bounded work and of bounded length. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff/lib/patch/create.js";
import type { CancellationView } from "../src/tool.js";

/** How two texts are compared. */
export interface DiffOptions {
  readonly names: readonly [left: string, right: string];
  readonly contextLines: number;
  /** UTF-16 units that the diff has at most. */
  readonly maxLength: number;
  readonly timeoutMs: number;
  /** What of a line counts; the line itself unless given. */
  readonly keyOf?: ((token: string) => string) | undefined;
}

/** A diff, and how much differs. */
export interface Diff {
  /** Whole lines; empty where nothing differs. */
  readonly diff: string;
  /** Whether the diff goes on after what is given. */
  readonly truncated: boolean;
  readonly added: number;
  readonly removed: number;
}

const COMPARISONS_PER_POLL = 4_096;
/** Bounds the memory of a comparison; time is up before it is reached. */
export const MAX_EDIT_LENGTH = 50_000;

/**
 * Compares two texts line by line.
 * @returns undefined where they differ too much to be compared in time
 */
export function unifiedDiff(
  left: string,
  right: string,
  options: DiffOptions,
  token: CancellationView,
): Diff | undefined {
  const [leftName, rightName] = options.names;
  const patch = structuredPatch(leftName, rightName, left, right, undefined, undefined, {
    context: options.contextLines,
    timeout: options.timeoutMs,
    maxEditLength: MAX_EDIT_LENGTH,
    ...comparing(token, options.keyOf),
  });
  if (!patch) return undefined;
  let added = 0;
  let removed = 0;
  for (const { lines } of patch.hunks) {
    for (const line of lines) {
      if (line.startsWith("+")) added++;
      else if (line.startsWith("-")) removed++;
    }
  }
  if (patch.hunks.length === 0) return { diff: "", truncated: false, added, removed };
  return { ...cut(formatPatch(patch, FILE_HEADERS_ONLY), options.maxLength), added, removed };
}

/**
 * The option by which the library compares two tokens. It is called all the time, so it looks at the cancellation
 * token as well: the library itself takes no signal.
 */
export function comparing(
  token: CancellationView,
  keyOf?: (value: string) => string,
): { comparator: (left: string, right: string) => boolean } {
  let comparisons = 0;
  const keys = new Map<string, string>();
  const keyed = (value: string): string => {
    let key = keys.get(value);
    if (key === undefined) keys.set(value, (key = keyOf?.(value) ?? value));
    return key;
  };
  return {
    comparator(left, right) {
      if (++comparisons % COMPARISONS_PER_POLL === 0) token.check();
      return left === right || (keyOf !== undefined && keyed(left) === keyed(right));
    },
  };
}

/** Cuts a text after a whole line. */
export function cut(text: string, maxLength: number): { diff: string; truncated: boolean } {
  if (text.length <= maxLength) return { diff: text, truncated: false };
  return { diff: text.slice(0, text.lastIndexOf("\n", maxLength - 1) + 1), truncated: true };
}
