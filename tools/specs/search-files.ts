/** What `builtin/search-files` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { MATCH_BYTES, MAX_MATCHES } from "../defaults.js";
import { walkFields, unreadable } from "./walk-fields.js";

const lines = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 50, default: 0, description }));
const count = (description: string) => Type.Integer({ minimum: 0, description });

const inputSchema = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 4_000,
      description:
        "Regular expression in the syntax of RE2, without lookaround and back references; it is held against each " +
        "line by itself, ^ and $ are the line's ends.",
    }),
    literal: Type.Optional(
      Type.Boolean({ default: false, description: "Take pattern as a text to look for, not as an expression." }),
    ),
    caseSensitive: Type.Optional(Type.Boolean({ default: true, description: "Whether Word and word are two words." })),
    wholeWord: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Only matches with no letter, mark, digit or underscore of any script right before or after them.",
      }),
    ),
    path: Type.Optional(
      Type.String({
        default: ".",
        description: "Folder or file to search, relative to the resource's root. Default: the root.",
      }),
    ),
    ...walkFields,
    before: lines("Lines given before each match."),
    after: lines("Lines given after each match."),
    maxMatches: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, default: MAX_MATCHES, description: "Lines with matches at most." }),
    ),
    maxBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 32 * 1024 * 1024,
        default: MATCH_BYTES,
        description: "Bytes of text after which no more matches are given. Default: 1 MiB.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    matches: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The file's path relative to the resource's root, with slashes." }),
          line: Type.Integer({ minimum: 1, description: "Number of the line." }),
          column: Type.Integer({ minimum: 1, description: "Where the line's first match starts, in UTF-16 units." }),
          text: Type.String({ description: "The line without its end; a part of it where clipped says so." }),
          match: Type.String({ description: "What matched, the first 500 UTF-16 units." }),
          clipped: Type.Optional(
            Type.Literal(true, { description: "The line is longer than text: 500 UTF-16 units about the match." }),
          ),
          before: Type.Optional(
            Type.Array(Type.String(), { description: "Lines before, when asked for, each clipped to 500 units." }),
          ),
          after: Type.Optional(
            Type.Array(Type.String(), { description: "Lines after, when asked for, each clipped to 500 units." }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: "One for each line that matches, files in the order of list-files." },
    ),
    files: count("Text files searched."),
    filesWithMatches: count("Files that matches are from."),
    bytes: count("Bytes searched."),
    binaryFiles: count("Files passed over because they hold NUL bytes; UTF-16 with a byte order mark is text."),
    clippedLines: count("Lines of which only the first 262,144 UTF-16 units were searched."),
    truncated: Type.Boolean({
      description: "True when a limit ended the search, so that there may be more; narrow the pattern or the paths.",
    }),
    limit: Type.Optional(
      Type.Union([Type.Literal("maxMatches"), Type.Literal("maxBytes")], {
        description: "The limit that was reached, when truncated.",
      }),
    ),
    unreadable,
  },
  { additionalProperties: false },
);

/** Input of `builtin/search-files`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/search-files`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/search-files`: finds a pattern in the lines of files. */
export const spec = {
  name: "builtin/search-files",
  description:
    "Searches the text files below a folder for a regular expression or a text, line by line, with lines of context. " +
    "Time grows with the text, whatever the expression. Does not follow symlinks.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
