/** Limits and defaults of the built-in tools, apart from their specs so that a cell loads no schema library for them. */

/** Entries that `list-files` gives at most unless asked for another number. */
export const MAX_ENTRIES = 10_000;
/** Folders that no tool enters unless asked to. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];
/** Matches that `search-files` gives unless asked for another number. */
export const MAX_MATCHES = 1_000;
/** Bytes of text that `search-files` gives unless told otherwise. */
export const MATCH_BYTES = 1024 * 1024;
/** Files that `hash-files` hashes unless asked for another number. */
export const MAX_HASHED = 10_000;
/** Files that `hash-files` reads at once unless told otherwise. */
export const HASH_CONCURRENCY = 4;
/** Bytes that `read-file` reads unless told otherwise. */
export const READ_BYTES = 1024 * 1024;
/** Bytes that `read-file` reads at most in one call. */
export const MAX_READ_BYTES = 32 * 1024 * 1024;
/** Words and pairs of words that `word-frequency` lists unless told otherwise. */
export const TOP_WORDS = 10;
/** Bytes of a file that `edit-file` edits at most, before and after. */
export const MAX_EDIT_BYTES = 10 * 1024 * 1024;
/** Edits that `edit-file` takes at most in one call. */
export const MAX_EDITS = 1_000;
/** UTF-16 units of the diff that `edit-file` gives. */
export const EDIT_DIFF_LENGTH = 64 * 1024;
/** Milliseconds that `edit-file` spends on its diff before it leaves it out. */
export const EDIT_DIFF_TIMEOUT_MS = 2_000;
/** UTF-16 units of the diff that `diff-text` gives unless told otherwise. */
export const DIFF_LENGTH = 256 * 1024;
/** Bytes of each text that `diff-text` compares at most. */
export const MAX_DIFF_BYTES = 10 * 1024 * 1024;
/** Unchanged lines around each change in a diff unless told otherwise. */
export const CONTEXT_LINES = 3;
/** Milliseconds that a comparison of `diff-text` may take unless told otherwise. */
export const DIFF_TIMEOUT_MS = 5_000;
/** Bytes of a JSON document that `query-json` loads at most. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Bytes of one line that `query-json` takes at most. */
export const MAX_JSON_LINE_BYTES = 8 * 1024 * 1024;
/** Results that `query-json` gives unless asked for another number. */
export const MAX_RESULTS = 1_000;
/** UTF-16 units of JSON that `query-json` gives unless told otherwise. */
export const RESULT_LENGTH = 1024 * 1024;
/** Milliseconds that a query may take unless told otherwise. */
export const QUERY_TIMEOUT_MS = 10_000;
