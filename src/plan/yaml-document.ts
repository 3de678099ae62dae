/** The syntax of a plan file's text: one YAML document of JSON's types, nested no deeper than can be read in safety. */
import { Composer, Lexer, Parser, type Document, type CST, type LineCounter, type YAMLError } from "yaml";

/** Something that is wrong in a text. */
export interface TextFault {
  /** In UTF-16 units from the text's start. */
  readonly offset: number;
  readonly message: string;
}

/** Deepest nesting, aliases unfolded: what reads a value goes into it by recursion, and the stack's end can end the process. */
export const MAX_DEPTH = 200;
/** What is said of more. */
export const TOO_DEEP = `more than ${MAX_DEPTH} lists and objects stand in each other here`;

/** A text's document, and what keeps it from being one. */
export interface ParsedText {
  /** Absent where its end was not reached. */
  readonly document?: Document;
  readonly faults: readonly TextFault[];
}

/** Parses a text; line starts go to `lines`. */
export function parseText(text: string, lines: LineCounter): ParsedText {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let deepest: number | undefined;
  function* tokens(): Generator<CST.Token> {
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme);
      // The document itself is on the stack too.
      if (parser.stack.length <= MAX_DEPTH + 1) continue;
      deepest = parser.offset - lexeme.length;
      return;
    }
    yield* parser.end();
  }
  // Nothing but JSON's types: a plan means the same in both forms.
  const composer = new Composer({ schema: "core", resolveKnownTags: false, merge: false, prettyErrors: false });
  // A document is composed once its last token is there, so never where it is too deep.
  const [document, second] = composer.compose(tokens(), true, text.length);
  if (deepest !== undefined) return { faults: [{ offset: deepest, message: TOO_DEEP }] };
  const faults = [...(document?.errors ?? []), ...(document?.warnings ?? [])].map((error) => ({
    offset: error.pos[0],
    message: messageOf(error),
  }));
  if (second) {
    const message = "a second document starts here, and a file holds one; give it a file of its own";
    faults.push({ offset: second.range[0], message });
  }
  return { ...(document && { document }), faults };
}

function messageOf({ message }: YAMLError): string {
  const [, tag] = /^Unresolved tag: (.*)$/.exec(message) ?? [];
  if (tag === undefined) return message.split("\n", 1)[0]?.replace(/[:.]$/, "") ?? "";
  const written = tag.replace(/^tag:yaml\.org,2002:/, "!!");
  return `the tag ${written} cannot be used here, where values are of JSON's types; write the value without it, a text in quotes`;
}
