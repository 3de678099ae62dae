/** The tools that ship with toolcell. Their code is loaded in cells only. */
import { spec as listFiles } from "../../tools/specs/list-files.js";
import { spec as readFile } from "../../tools/specs/read-file.js";
import { spec as wordFrequency } from "../../tools/specs/word-frequency.js";
import { spec as writeFile } from "../../tools/specs/write-file.js";
import type { ToolSpec } from "../protocol/tool.js";
import type { ToolProvider, ToolProviderEntry } from "../runtime/tool-provider.js";

const TOOLS: readonly (readonly [ToolSpec, string])[] = [
  [listFiles, "list-files"],
  [readFile, "read-file"],
  [wordFrequency, "word-frequency"],
  [writeFile, "write-file"],
];

/**
 * The built-in tools.
 *
 * ```ts
 * await runtime.use(builtins());
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
