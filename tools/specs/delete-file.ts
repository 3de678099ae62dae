/** What `builtin/delete-file` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";

const inputSchema = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      description: "File, link or folder to delete, relative to the resource's root. What a link leads to stays.",
    }),
    recursive: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Delete a folder with all in it, whatever its name; without this it has to be empty.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    path: Type.String({ description: "What was deleted, relative to the resource's root, with slashes." }),
    type: Type.Union(
      [Type.Literal("file"), Type.Literal("directory"), Type.Literal("symlink"), Type.Literal("other")],
      {
        description: "What it was.",
      },
    ),
    deleted: Type.Integer({ minimum: 1, description: "Files, links and folders that are gone." }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/delete-file`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/delete-file`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/delete-file`: deletes a file, a link or a folder. */
export const spec = {
  name: "builtin/delete-file",
  description: "Deletes a file, a link or an empty folder, or with recursive a folder and all in it.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: true, fs: { read: ["repo"], write: ["repo"] } },
} satisfies ToolSpec;
