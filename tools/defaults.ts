/** Limits and defaults of the built-in tools, apart from their specs so that a cell loads no schema library for them. */

/** Entries that `list-files` gives at most unless asked for another number. */
export const MAX_ENTRIES = 10_000;
/** Folders that `list-files` does not enter unless asked to. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];
/** Bytes that `read-file` reads unless told otherwise. */
export const READ_BYTES = 1024 * 1024;
/** Bytes that `read-file` reads at most in one call. */
export const MAX_READ_BYTES = 32 * 1024 * 1024;
/** Words and pairs of words that `word-frequency` lists unless told otherwise. */
export const TOP_WORDS = 10;
