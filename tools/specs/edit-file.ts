/** What `builtin/edit-file` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { MAX_EDITS, MAX_EDIT_BYTES } from "../defaults.js";

const edit = Type.Object(
  {
    oldText: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Text to replace, exactly as it stands in the file. Refused where it occurs several times.",
      }),
    ),
    newText: Type.Optional(
      Type.String({ maxLength: MAX_EDIT_BYTES, description: "What takes its place; may be empty." }),
    ),
    all: Type.Optional(Type.Boolean({ default: false, description: "Replace every occurrence of oldText." })),
    line: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Line on which the occurrence starts that is meant, as earlier edits of the list leave the file.",
      }),
    ),
    patch: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_EDIT_BYTES,
        description:
          "In place of oldText and newText: a unified diff of this file. Where its header names files, with a slash or a " +
          "dot in the name, one of them must end in this file's name; labels such as original and modified are passed " +
          "over, and so are folders. One that deletes the file is refused: use delete-file.",
      }),
    ),
    fuzz: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3,
        default: 0,
        description: "Lines of context that may differ in a hunk of the patch. Default: none.",
      }),
    ),
  },
  { additionalProperties: false },
);

const inputSchema = Type.Object(
  {
    path: Type.String({ minLength: 1, description: "Text file to edit, relative to the resource's root." }),
    edits: Type.Array(edit, {
      minItems: 1,
      maxItems: MAX_EDITS,
      description: "Edits, applied in this order: all of them or, where one does not apply, none.",
    }),
    dryRun: Type.Optional(Type.Boolean({ default: false, description: "Give the diff and leave the file as it is." })),
    expectedSha256: Type.Optional(
      Type.String({
        pattern: "^[0-9a-fA-F]{64}$",
        description: "SHA-256 of the file as it was read; a file that is another by now is refused.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    path: Type.String({ description: "The file's path relative to the resource's root, with slashes." }),
    changed: Type.Boolean({ description: "Whether the edits make a difference." }),
    replacements: Type.Integer({ minimum: 0, description: "Texts replaced and hunks applied." }),
    addedLines: Type.Optional(
      Type.Integer({ minimum: 0, description: "Lines that are new; absent where too much differs to be compared." }),
    ),
    removedLines: Type.Optional(
      Type.Integer({ minimum: 0, description: "Lines that are gone; absent where too much differs to be compared." }),
    ),
    bytes: Type.Integer({ minimum: 0, description: "Bytes of the file after the edits." }),
    sha256: Type.String({ description: "SHA-256 of the file after the edits, in hexadecimal." }),
    diff: Type.String({ description: "Unified diff of what changed, with line feeds alone at the ends of lines." }),
    diffTruncated: Type.Boolean({
      description: "True when the diff is cut off after a line, or left out where too much differs to be compared.",
    }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/edit-file`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/edit-file`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/edit-file`: changes parts of a text file. */
export const spec = {
  name: "builtin/edit-file",
  description:
    "Changes parts of a text file of up to 10 MiB, by exact replacement or by unified diff, all edits or none. " +
    "The file's line ends, byte order mark and permissions stay.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: true, fs: { read: ["repo"], write: ["repo"] } },
} satisfies ToolSpec;
