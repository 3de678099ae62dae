/** What `builtin/list-files` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { MAX_ENTRIES } from "../defaults.js";
import { unreadable, walkFields } from "./walk-fields.js";

const inputSchema = Type.Object(
  {
    path: Type.Optional(
      Type.String({ default: ".", description: "Folder to list, relative to the resource's root. Default: the root." }),
    ),
    glob: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          "Lists only what matches, by its path relative to the listed folder: * and ? within one name, ** over " +
          "folders, {a,b} for alternatives, \\ before a character to take it as it is. Example: src/**/*.{ts,js}",
      }),
    ),
    maxEntries: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, default: MAX_ENTRIES, description: "Entries given at most." }),
    ),
    includeHidden: walkFields.includeHidden,
    skipFolders: walkFields.skipFolders,
    useIgnoreFiles: walkFields.useIgnoreFiles,
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "Path relative to the resource's root, with slashes." }),
          size: Type.Integer({ minimum: 0, description: "Bytes of a file; 0 for folders and symlinks." }),
          type: Type.Union([Type.Literal("file"), Type.Literal("directory"), Type.Literal("symlink")], {
            description: "Symlinks are listed and not followed.",
          }),
        },
        { additionalProperties: false },
      ),
      { description: "Sorted name by name; a folder stands right before what it holds." },
    ),
    truncated: Type.Boolean({ description: "True when there is more than maxEntries; narrow the path or the glob." }),
    unreadable,
  },
  { additionalProperties: false },
);

/** Input of `builtin/list-files`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/list-files`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/list-files`: lists a folder and all below it. */
export const spec = {
  name: "builtin/list-files",
  description:
    "Lists the files, folders and symlinks below a folder, with sizes. Does not follow symlinks; leaves out what " +
    "ignore files say unless told otherwise.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
