/** The tools that ship with toolcell. Their code is loaded in cells only. */
import { spec as deleteFile } from "../../tools/specs/delete-file.js";
import { spec as diffText } from "../../tools/specs/diff-text.js";
import { spec as editFile } from "../../tools/specs/edit-file.js";
import { spec as hashFiles } from "../../tools/specs/hash-files.js";
import { spec as listFiles } from "../../tools/specs/list-files.js";
import { spec as makeFolder } from "../../tools/specs/make-folder.js";
import { spec as moveFile } from "../../tools/specs/move-file.js";
import { spec as queryJson } from "../../tools/specs/query-json.js";
import { spec as readFile } from "../../tools/specs/read-file.js";
import { spec as searchFiles } from "../../tools/specs/search-files.js";
import { spec as wordFrequency } from "../../tools/specs/word-frequency.js";
import { spec as writeFile } from "../../tools/specs/write-file.js";
import type { ToolSpec } from "../protocol/tool.js";
import type { ToolProvider, ToolProviderEntry } from "../runtime/tool-provider.js";

const TOOLS: readonly (readonly [ToolSpec, string])[] = [
  [deleteFile, "delete-file"],
  [diffText, "diff-text"],
  [editFile, "edit-file"],
  [hashFiles, "hash-files"],
  [listFiles, "list-files"],
  [makeFolder, "make-folder"],
  [moveFile, "move-file"],
  [queryJson, "query-json"],
  [readFile, "read-file"],
  [searchFiles, "search-files"],
  [wordFrequency, "word-frequency"],
  [writeFile, "write-file"],
];

/**
 * The tools that ship, for {@link ToolRuntime.use}: files, texts and JSON, all on the slot `repo`.
 * @example
 * ```ts
 * import { builtins, ToolRuntime } from "toolcell";
 *
 * await using runtime = new ToolRuntime();
 * await runtime.use(builtins());
 * for (const { name, description } of runtime.list({ namespace: "builtin" })) console.log(name, description);
 * ```
 */
export function builtins(): ToolProvider {
  return {
    name: "builtins",
    tools: () =>
      TOOLS.map(([spec, file]): ToolProviderEntry => ({
        spec,
        executor: { module: new URL(`../../tools/${file}.js`, import.meta.url) },
      })),
  };
}
