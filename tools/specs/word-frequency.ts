/** What `builtin/word-frequency` takes, gives and may do. */
import { Type, type Static } from "@sinclair/typebox";
import type { ToolSpec } from "../../src/tool.js";
import { TOP_WORDS } from "../defaults.js";

const inputSchema = Type.Object(
  {
    path: Type.Optional(
      Type.String({ minLength: 1, description: "Text file, relative to the resource's root. This or text." }),
    ),
    text: Type.Optional(Type.String({ description: "The text itself. This or path." })),
    top: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        default: TOP_WORDS,
        description: "How many of the most frequent words, and of pairs of words, to list.",
      }),
    ),
    minLength: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 1,
        description: "Words with fewer characters are passed over as if they were not there.",
      }),
    ),
    caseSensitive: Type.Optional(Type.Boolean({ default: false, description: "Whether Word and word are two words." })),
  },
  { additionalProperties: false },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

const outputSchema = Type.Object(
  {
    words: count(
      "Words: letters, marks and digits of any script in a row, with apostrophes inside. Scripts without blanks " +
        "between words give one word a phrase; a row of more than 1,000 characters counts as several.",
    ),
    uniqueWords: count("Different words."),
    hapaxes: count("Words that occur once."),
    characters: count("Unicode characters (code points), of everything."),
    lines: count("Lines, the last one also without a line end."),
    bytes: count("Bytes of the text as UTF-8."),
    averageWordLength: Type.Number({ minimum: 0, description: "Mean characters a word." }),
    typeTokenRatio: Type.Number({ minimum: 0, maximum: 1, description: "uniqueWords divided by words." }),
    entropyBits: Type.Number({ minimum: 0, description: "Shannon entropy of the words, in bits a word." }),
    longestWord: Type.String({ description: "The first of the words with most characters." }),
    top: Type.Array(
      Type.Object(
        { word: Type.String({ description: "The word." }), count: count("How often.") },
        { additionalProperties: false },
      ),
      { description: "Most frequent words, most frequent first, equal ones in code unit order." },
    ),
    topBigrams: Type.Array(
      Type.Object(
        {
          words: Type.Array(Type.String(), { minItems: 2, maxItems: 2, description: "Two words in a row." }),
          count: count("How often."),
        },
        { additionalProperties: false },
      ),
      { description: "Most frequent pairs of words in a row, ordered as top is." },
    ),
    complete: Type.Boolean({
      description:
        "False where the text has more different words or pairs than are kept apart (1,000,000 and 2,000,000): those " +
        "that came later count in words alone, and uniqueWords, hapaxes, entropyBits and both lists leave them out.",
    }),
  },
  { additionalProperties: false },
);

/** Input of `builtin/word-frequency`. */
export type Input = Static<typeof inputSchema>;
/** Output of `builtin/word-frequency`. */
export type Output = Static<typeof outputSchema>;

/** `builtin/word-frequency`: statistics of a text. */
export const spec = {
  name: "builtin/word-frequency",
  description: "Counts the words of a text or text file: frequencies, pairs, entropy and other statistics.",
  version: "1.0.0",
  source: "builtin",
  inputSchema,
  outputSchema,
  capability: { writes: false, stateless: true, idempotent: true, fs: { read: ["repo"] } },
} satisfies ToolSpec;
