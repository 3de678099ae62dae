/** What `builtin/read-file` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { MAX_READ_BYTES, READ_BYTES } from "../defaults.js";

const encoding = [Type.Literal("utf8"), Type.Literal("utf16le"), Type.Literal("latin1"), Type.Literal("base64")];

const inputSchema = Type.Object(
  {
    path: Type.String({ description: "File to read, relative to the resource's root." }),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description:
          "Byte to start at; give nextOffset of the last answer to read on. Lines are counted from there: 1 is the " +
          "line, or what is left of it, at offset.",
      }),
    ),
    length: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_READ_BYTES,
        default: READ_BYTES,
        description: "Bytes to read at most. Default: 1 MiB.",
      }),
    ),
    firstLine: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "Line to start at, counted from 1; give nextLine of the last answer to read on. Gives whole lines.",
      }),
    ),
    lineCount: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Lines to read at most, fewer where more do not fit into length. Gives whole lines.",
      }),
    ),
    encoding: Type.Optional(
      Type.Union(encoding, {
        description:
          "How content is wanted. Default: what the file's byte order mark says, else utf8. What is not valid UTF-8 " +
          "or UTF-16 text comes as base64 in any case; latin1 takes any bytes for text.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    path: Type.String({ description: "The file's path relative to the resource's root, with slashes." }),
    content: Type.String({ description: "Text, or base64 of the bytes; encoding says which." }),
    encoding: Type.Union(encoding, { description: "How content is written." }),
    size: Type.Integer({ minimum: 0, description: "Bytes of the whole file." }),
    offset: Type.Integer({
      minimum: 0,
      description:
        "Byte at which content starts; after the one asked for when that is inside a character or a byte order mark.",
    }),
    bytes: Type.Integer({ minimum: 0, description: "Bytes of the file that content holds." }),
    bom: Type.Optional(
      Type.Literal(true, { description: "The file starts with a byte order mark, which content leaves out." }),
    ),
    firstLine: Type.Optional(Type.Integer({ minimum: 1, description: "The line asked for, when lines were." })),
    lineCount: Type.Optional(
      Type.Integer({ minimum: 0, description: "Lines that content holds, when lines were asked for; 0 past the end." }),
    ),
    truncated: Type.Boolean({ description: "True when the file goes on after content." }),
    nextOffset: Type.Optional(Type.Integer({ minimum: 0, description: "Where to read on, when truncated." })),
    nextLine: Type.Optional(
      Type.Integer({
        minimum: 2,
        description:
          "The line to read on at, when truncated; absent where content ends within a line that does not fit into length.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Input of `builtin/read-file`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/read-file`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/read-file`: reads a file or a range of its bytes or lines. */
export const spec = {
  name: "builtin/read-file",
  description: "Reads a file, or a range of its bytes or lines, as text or base64. Reads 1 MiB unless asked for more.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
