/** What `builtin/hash-files` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { HASH_CONCURRENCY, MAX_HASHED } from "../defaults.js";
import { unreadable, walkFields } from "./walk-fields.js";

const path = Type.String({ minLength: 1, description: "The path, spelled as in paths or as list-files gives it." });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** An algorithm's digest in hexadecimal digits. */
const digest = (name: string, bytes: number) =>
  Type.Optional(
    Type.String({ pattern: `^[0-9A-Fa-f]{${2 * bytes}}$`, description: `Digest by ${name}, hexadecimal digits.` }),
  );

const digests = Type.Object(
  {
    md5: digest("MD5, which only tells accidents apart", 16),
    sha1: digest("SHA-1, which only tells accidents apart", 20),
    sha256: digest("SHA-256", 32),
    sha512: digest("SHA-512", 64),
    blake2b512: digest("BLAKE2b-512", 64),
  },
  { additionalProperties: false, description: "Digests by algorithm." },
);

const inputSchema = Type.Object(
  {
    paths: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 100_000,
        description: "Files to hash, relative to the resource's root. Without it, the files below path.",
      }),
    ),
    path: Type.Optional(
      Type.String({
        default: ".",
        description: "Folder whose files are hashed, those that include matches, where no paths are given.",
      }),
    ),
    ...walkFields,
    algorithms: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Literal("sha256"),
          Type.Literal("sha512"),
          Type.Literal("blake2b512"),
          Type.Literal("sha1"),
          Type.Literal("md5"),
        ]),
        {
          minItems: 1,
          maxItems: 5,
          description:
            "Algorithms, all in one pass over each file, besides those of expected. Default: those, else sha256.",
        },
      ),
    ),
    expected: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path,
            size: Type.Optional(Type.Integer({ minimum: 0, description: "Bytes that the file shall have." })),
            digests,
            verified: Type.Optional(
              Type.Boolean({ description: "Not looked at, so that files of an answer can be given as they are." }),
            ),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 100_000,
          description:
            "What files shall be; the files of an earlier answer will do. Where neither paths nor path are given, " +
            "these are the files to hash.",
        },
      ),
    ),
    maxFiles: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, default: MAX_HASHED, description: "Files hashed at most." }),
    ),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 32, default: HASH_CONCURRENCY, description: "Files read at once, at most." }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The path as it was given, or as list-files gives it." }),
          size: Type.Integer({ minimum: 0, description: "Bytes hashed." }),
          digests,
          verified: Type.Optional(
            Type.Boolean({ description: "Whether the file is what was expected; absent where nothing was." }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: "In the order of paths, or of list-files." },
    ),
    errors: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The path as it was given, or as list-files gives it." }),
          code: Type.String({
            description: "Why: NOT_FOUND, ACCESS_DENIED, NOT_A_FILE, OUTSIDE_RESOURCE, CHANGED, NOT_SELECTED, …",
          }),
          message: Type.String({ description: "The same in words." }),
        },
        { additionalProperties: false },
      ),
      { description: "Files that could not be hashed, the first 1,000." },
    ),
    failed: count("Files that could not be hashed, all of them."),
    mismatched: count("Files that are not what was expected."),
    bytes: count("Bytes read."),
    truncated: Type.Boolean({ description: "True when there are more files than maxFiles; narrow the globs." }),
    unreadable,
  },
  { additionalProperties: false },
);

/** Input of `builtin/hash-files`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/hash-files`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/hash-files`: digests of files. */
export const spec = {
  name: "builtin/hash-files",
  description:
    "Hashes files with one or several algorithms and compares them with what is expected. A file that cannot be read " +
    "is an entry in errors and does not end the call.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
