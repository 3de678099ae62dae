/** What `builtin/make-folder` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";

const inputSchema = Type.Object(
  {
    path: Type.String({ minLength: 1, description: "Folder to make, relative to the resource's root." }),
    createFolders: Type.Optional(
      Type.Boolean({ default: false, description: "Create the folders above it that are missing." }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    path: Type.String({ description: "The folder's path relative to the resource's root, with slashes." }),
    created: Type.Boolean({ description: "Whether the folder is new; false where it was there." }),
    folders: Type.Array(Type.String(), { description: "The folders that are new, from above." }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/make-folder`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/make-folder`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/make-folder`: makes a folder. */
export const spec = {
  name: "builtin/make-folder",
  description: "Makes a folder. One that is there already is left as it is.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: true, idempotent: true, fs: { read: ["repo"], write: ["repo"] } },
} satisfies ToolSpec;
