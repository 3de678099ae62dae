/** What `builtin/diff-text` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { CONTEXT_LINES, DIFF_LENGTH, DIFF_TIMEOUT_MS, MAX_DIFF_BYTES } from "../defaults.js";

const side = (description: string) =>
  Type.Object(
    {
      text: Type.Optional(Type.String({ maxLength: MAX_DIFF_BYTES, description: "The text itself. This or path." })),
      path: Type.Optional(
        Type.String({ minLength: 1, description: "Text file, relative to the resource's root. This or text." }),
      ),
    },
    { additionalProperties: false, description },
  );

const inputSchema = Type.Object(
  {
    left: side("What there was before."),
    right: side("What there is after."),
    by: Type.Optional(
      Type.Union([Type.Literal("line"), Type.Literal("word")], {
        default: "line",
        description: "line gives a unified diff; word marks [-what is gone-] and {+what is new+} in the lines.",
      }),
    ),
    contextLines: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: CONTEXT_LINES,
        description: "Unchanged lines to show around each change.",
      }),
    ),
    ignoreWhitespace: Type.Optional(
      Type.Boolean({
        default: false,
        description: "White space at the ends of a line does not count, and any other counts as one blank.",
      }),
    ),
    ignoreCase: Type.Optional(Type.Boolean({ default: false, description: "Upper and lower case are the same." })),
    maxLength: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_DIFF_BYTES,
        default: DIFF_LENGTH,
        description: "UTF-16 units that the diff has at most; it is cut off after a line.",
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600_000,
        default: DIFF_TIMEOUT_MS,
        description: "Milliseconds after which the comparison gives up.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    identical: Type.Boolean({ description: "Whether nothing differs, but for what is ignored." }),
    complete: Type.Boolean({
      description: "False when the comparison gave up because too much differs; then there is no diff.",
    }),
    diff: Type.String({ description: "The diff; empty where nothing differs." }),
    truncated: Type.Boolean({ description: "True when the diff goes on after what is given." }),
    added: Type.Optional(Type.Integer({ minimum: 0, description: "Lines or words that are new, when complete." })),
    removed: Type.Optional(Type.Integer({ minimum: 0, description: "Lines or words that are gone, when complete." })),
  },
  { additionalProperties: false },
);

/** Input of `builtin/diff-text`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/diff-text`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/diff-text`: tells how two texts differ. */
export const spec = {
  name: "builtin/diff-text",
  description: "Compares two texts or text files of up to 10 MiB each, by lines or by words.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
