/** What `builtin/move-file` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";

const inputSchema = Type.Object(
  {
    from: Type.String({ minLength: 1, description: "File, link or folder to move, relative to the resource's root." }),
    to: Type.String({
      minLength: 1,
      description: "Its new path, name included, relative to the resource's root. A folder there is not moved into.",
    }),
    overwrite: Type.Optional(
      Type.Boolean({ default: false, description: "Replace a file that has the name. Folders are never replaced." }),
    ),
    createFolders: Type.Optional(Type.Boolean({ default: false, description: "Create the folders that are missing." })),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    from: Type.String({ description: "Where it was, relative to the resource's root, with slashes." }),
    to: Type.String({ description: "Where it is, relative to the resource's root, with slashes." }),
    type: Type.Union(
      [Type.Literal("file"), Type.Literal("directory"), Type.Literal("symlink"), Type.Literal("other")],
      {
        description: "What was moved.",
      },
    ),
    overwritten: Type.Boolean({ description: "Whether it took the place of a file." }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/move-file`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/move-file`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/move-file`: gives a file or folder another name or another folder. */
export const spec = {
  name: "builtin/move-file",
  description: "Moves or renames a file, a link or a folder with all in it. Refuses to overwrite unless told to.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: true, fs: { read: ["repo"], write: ["repo"] } },
} satisfies ToolSpec;
