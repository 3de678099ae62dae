/** What `builtin/write-file` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";

const inputSchema = Type.Object(
  {
    path: Type.String({ minLength: 1, description: "File to write, relative to the resource's root." }),
    content: Type.String({ description: "What the file shall hold: text, or base64 of bytes." }),
    encoding: Type.Optional(
      Type.Union([Type.Literal("utf8"), Type.Literal("base64")], {
        default: "utf8",
        description: "How content is written.",
      }),
    ),
    createFolders: Type.Optional(Type.Boolean({ default: false, description: "Create the folders that are missing." })),
    overwrite: Type.Optional(Type.Boolean({ default: true, description: "Replace the file if it exists." })),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    path: Type.String({ description: "The file's path relative to the resource's root, with slashes." }),
    bytes: Type.Integer({ minimum: 0, description: "Bytes the file now has." }),
    created: Type.Boolean({ description: "Whether the file is new." }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/write-file`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/write-file`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/write-file`: writes a whole file. */
export const spec = {
  name: "builtin/write-file",
  description: "Writes a whole file: afterwards it holds either all of the new content or what it held before.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: true, idempotent: true, fs: { read: ["repo"], write: ["repo"] } },
} satisfies ToolSpec;
