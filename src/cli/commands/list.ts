/** `toolcell list`: the tools that are there. */
import type { ToolSpec } from "../../index.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { oneLine } from "../printable.js";
import { Session, type SessionOptions } from "../session.js";
import { clipEnd, table } from "../table.js";
import type { Terminal } from "../terminal.js";

/** Options of the command. */
export interface ListOptions extends SessionOptions {
  readonly json?: boolean;
  readonly namespace?: string;
}

export async function list(terminal: Terminal, options: ListOptions): Promise<ExitCode> {
  await using session = await Session.open(terminal, options, { spareCells: 0 });
  const filter = options.namespace === undefined ? undefined : { namespace: options.namespace };
  const tools = session.runtime.list(filter).sort((one, other) => (one.name < other.name ? -1 : 1));
  if (options.json) await terminal.print(documentText(tools));
  else if (tools.length === 0) terminal.note("There is no tool.");
  else await terminal.print(draw(terminal, tools));
  return session.exitCode(EXIT.ok);
}

function draw(terminal: Terminal, tools: readonly ToolSpec[]): string {
  const longest = Math.max(...tools.map(({ name }) => name.length));
  // In a pipe nothing is cut.
  const room = terminal.printsToPerson ? Math.max(20, terminal.columns - longest - 22) : Infinity;
  return table(
    [
      { title: "tool", left: true, cell: ({ name }) => name },
      { title: "writes", left: true, cell: ({ readOnly }) => (readOnly ? "no" : "yes") },
      { title: "source", left: true, cell: ({ source = "custom" }) => source },
      { title: "what it does", left: true, cell: ({ description }) => clipEnd(oneLine(description), room) },
    ],
    tools,
  );
}
