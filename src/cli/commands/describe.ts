/** `toolcell describe TOOL`: what it takes and gives, what it may do here, and what holds it to that. */
import wrapAnsi from "wrap-ansi";
import type { JsonSchema, ToolDescriptor } from "../../index.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { oneLine, printable } from "../printable.js";
import { Session, type SessionOptions } from "../session.js";
import { table } from "../table.js";
import type { Terminal } from "../terminal.js";
import { findTool } from "../tool-name.js";

/** Options of the command. */
export interface DescribeOptions extends SessionOptions {
  readonly json?: boolean;
}

export async function describe(terminal: Terminal, name: string, options: DescribeOptions): Promise<ExitCode> {
  await using session = await Session.open(terminal, options, { spareCells: 0 });
  const { name: found } = findTool(session.runtime, name);
  const descriptor = await session.runtime.discover(found, session.context("describe", !options.write));
  await terminal.print(options.json ? documentText(descriptor) : draw(terminal, descriptor));
  return session.exitCode(EXIT.ok);
}

function draw(terminal: Terminal, descriptor: ToolDescriptor): string {
  const { name, version, source, description, inputSchema, outputSchema, isolation, readOnly, enforcement } =
    descriptor;
  const width = terminal.printsToPerson ? terminal.columns - 3 : Infinity;
  const bold = (text: string): string => terminal.style("bold", text);
  const yes = (value: boolean | undefined): string => (value === undefined ? "says nothing" : value ? "yes" : "no");
  const parts = [
    `${bold(oneLine(name))}${version === undefined ? "" : ` ${oneLine(version)}`}  ${terminal.style("dim", oneLine(source))}`,
    indent(width === Infinity ? printable(description) : wrapAnsi(printable(description), width, { hard: true })),
    "",
    bold("Input"),
    fields(inputSchema, width),
    "",
    bold("Output"),
    outputSchema === undefined ? "  anything" : fields(outputSchema, width),
    "",
    bold("Isolation"),
    `  needs ${isolation.required}, gets ${isolation.granted ?? terminal.style("red", "nothing: this host cannot run it")}`,
    `  read-only: claims ${yes(readOnly.claimed)}, trusted ${yes(readOnly.trusted)}, enforced ${yes(readOnly.enforced)}`,
    "",
    bold("Grant"),
    indent(
      table(
        [
          { title: "what", left: true, cell: ({ subject }) => subject },
          { title: "granted", left: true, wraps: true, cell: ({ granted }) => granted },
          { title: "held by", left: true, wraps: true, cell: ({ enforcedBy }) => enforcedBy },
          {
            title: "holds",
            left: true,
            cell: ({ holds }) => (holds ? "yes" : "no"),
            paint: (text, { holds }) => terminal.style(holds ? "green" : "red", text),
          },
        ],
        enforcement,
        width,
      ),
    ),
  ];
  return parts.join("\n");
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly wanted: string;
  readonly about: string;
}

interface ObjectSchema {
  readonly properties?: Readonly<
    Record<string, { readonly description?: unknown; readonly default?: unknown } & object>
  >;
  readonly required?: readonly string[];
}

/** A schema's fields, where it is one of an object; else the schema as it is. */
function fields(schema: JsonSchema, width: number): string {
  const { properties, required = [] } = (typeof schema === "object" ? schema : {}) as ObjectSchema;
  if (!properties || Object.keys(properties).length === 0) return `  ${oneLine(typeOf(schema))}`;
  const rows = Object.entries(properties).map(([name, field]): Field => ({
    name,
    type: typeOf(field),
    wanted: required.includes(name)
      ? "required"
      : field.default === undefined
        ? ""
        : `default ${JSON.stringify(field.default)}`,
    about: typeof field.description === "string" ? field.description : "",
  }));
  return indent(
    table(
      [
        { title: "field", left: true, cell: (row) => row.name },
        { title: "type", left: true, wraps: true, cell: (row) => row.type },
        { title: "", left: true, cell: (row) => row.wanted },
        { title: "", left: true, wraps: true, cell: (row) => row.about },
      ],
      rows,
      width,
    ),
  );
}

function typeOf(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return schema === false ? "nothing" : "anything";
  const { type, enum: values, const: only, items, anyOf, oneOf } = schema as Record<string, unknown>;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (only !== undefined) return JSON.stringify(only);
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return branches.map(typeOf).join(" | ");
  if (type === "array") return `list of ${typeOf(items ?? true)}`;
  if (Array.isArray(type)) return type.join(" | ");
  return typeof type === "string" ? type : "anything";
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
