/** What `builtin/query-json` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { MAX_RESULTS, QUERY_TIMEOUT_MS, RESULT_LENGTH } from "../defaults.js";

const inputSchema = Type.Object(
  {
    expression: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: "JSONata expression, e.g. orders[total > 100].{id: id, sum: $sum(items.price)}.",
    }),
    path: Type.Optional(
      Type.String({ minLength: 1, description: "File to query, relative to the resource's root. This or value." }),
    ),
    value: Type.Optional(Type.Unknown({ description: "JSON value to query. This or path." })),
    format: Type.Optional(
      Type.Union([Type.Literal("json"), Type.Literal("jsonl")], {
        description:
          "json is one document of up to 16 MiB. jsonl is a document on each line of up to 8 MiB, in a file of any size: the " +
          "expression is evaluated for each, with the line's number in $line. Default: by the file's ending.",
      }),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Values for the expression, by name without the dollar sign.",
      }),
    ),
    maxResults: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: MAX_RESULTS,
        description: "Elements of the result that are given at most.",
      }),
    ),
    maxLength: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 16 * 1024 * 1024,
        default: RESULT_LENGTH,
        description: "UTF-16 units that the result has at most, as JSON.",
      }),
    ),
    invalidLines: Type.Optional(
      Type.Union([Type.Literal("fail"), Type.Literal("skip")], {
        default: "fail",
        description: "What to do with a line that is not JSON: fail, or pass over and count it.",
      }),
    ),
    timeoutMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600_000,
        default: QUERY_TIMEOUT_MS,
        description:
          "Milliseconds after which the query is stopped. The clock is looked at between steps and within functions, so " +
          "one operator on a large value can outlast it: ^ on tens of thousands of elements, for which $sort with a " +
          "function is better, and = or a field's name on lists that hold one list millions of times.",
      }),
    ),
  },
  { additionalProperties: false },
);

const outputSchema = Type.Object(
  {
    result: Type.Optional(
      Type.Unknown({
        description:
          "What the expression gives, functions left out; absent where it gives nothing. For jsonl an array of what it " +
          "gives for each line, without those for which it gives nothing.",
      }),
    ),
    truncated: Type.Boolean({ description: "True when the result is an array that goes on after what is given." }),
    total: Type.Optional(
      Type.Integer({ minimum: 0, description: "Elements of the whole array, when truncated; not for jsonl." }),
    ),
    lines: Type.Optional(Type.Integer({ minimum: 0, description: "Lines that the result stands for; for jsonl." })),
    invalidLines: Type.Optional(
      Type.Integer({ minimum: 1, description: "Lines passed over because they are not JSON; absent for none." }),
    ),
  },
  { additionalProperties: false },
);

/** Input of `builtin/query-json`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/query-json`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/query-json`: evaluates a JSONata expression. */
export const spec = {
  name: "builtin/query-json",
  description:
    "Selects, filters, groups and computes over JSON or JSON Lines with a JSONata expression. Numbers are doubles: " +
    "integers beyond 2^53 lose digits. Regular expressions are matched in linear time, without looking ahead or behind and " +
    "without references back. A text that a query makes has at most 16 Mi characters, a list 1,000,000 elements.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
