/** `toolcell call TOOL …`: one call, its output on stdout. */
import {
  ToolCancelledError,
  ToolRuntimeError,
  type ToolExecutionTrace,
  type ToolFailure,
  type ToolResult,
} from "../../index.js";
import { keepApart } from "../approval-folder.js";
import { readInput } from "../call-input.js";
import { documentText } from "../document-text.js";
import { ProgressLine } from "../display/progress-line.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { printable } from "../printable.js";
import { Session, type SessionOptions } from "../session.js";
import { milliseconds } from "../table.js";
import type { Terminal } from "../terminal.js";
import { findTool } from "../tool-name.js";
import { UsageError } from "../usage-error.js";

/** Options of the command. */
export interface CallOptions extends SessionOptions {
  readonly json?: boolean;
  readonly raw?: boolean;
  readonly trace?: boolean;
  readonly quiet?: boolean;
  readonly timeout?: number;
}

export async function call(
  terminal: Terminal,
  name: string,
  words: readonly string[],
  options: CallOptions,
): Promise<ExitCode> {
  await using session = await Session.open(terminal, options, { spareCells: 0 }, true);
  const { runtime } = session;
  await keepApart(session.approvals, session.resources);
  const spec = findTool(runtime, name);
  const input = await session.unlessInterrupted(readInput(spec, words, terminal.host));
  const progress = options.quiet ? undefined : showEvents(terminal, session);
  const context = session.context("call");
  try {
    const result = await runtime.execute(spec.name, input, context, {
      signal: session.signal,
      ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
    });
    progress?.end();
    return session.exitCode(await report(terminal, result, options));
  } catch (error) {
    progress?.end();
    const [trace] = context.traces.slice(-1);
    return session.exitCode(await reportError(terminal, error, trace, options));
  }
}

async function report(terminal: Terminal, result: ToolResult, options: CallOptions): Promise<ExitCode> {
  if (options.json) await terminal.print(documentText(result));
  if (!result.success) return fail(terminal, result, options);
  if (!options.json) {
    const { output, changes } = result;
    if (output !== undefined) await terminal.print(textOf(terminal, output, options));
    if (!options.quiet)
      for (const { operation, resourceId, path } of changes) terminal.note(`${operation} ${path ?? resourceId}`);
  }
  if (options.trace) terminal.note(traceLine(result.trace));
  return EXIT.ok;
}

function fail(terminal: Terminal, { error, trace }: ToolFailure, options: CallOptions): ExitCode {
  if (trace.outcome === "invalid_input") throw new UsageError(error.message);
  terminal.note(`${error.code}: ${error.message}`, "red");
  if (options.trace) terminal.note(traceLine(trace));
  return EXIT.failed;
}

async function reportError(
  terminal: Terminal,
  error: unknown,
  trace: ToolExecutionTrace | undefined,
  options: CallOptions,
): Promise<ExitCode> {
  if (!(error instanceof ToolRuntimeError || error instanceof ToolCancelledError)) throw error;
  if (options.json) {
    const { code, message, details } = error;
    await terminal.print(documentText({ success: false, error: { code, message, details }, trace }));
  }
  terminal.note(`${error.code}: ${error.message}`, "red");
  if (options.trace && trace) terminal.note(traceLine(trace));
  return EXIT.failed;
}

/** What a tool logs, and how far it is, on stderr. */
function showEvents(terminal: Terminal, { runtime }: Session): ProgressLine | undefined {
  const line = terminal.isLive ? new ProgressLine(terminal) : undefined;
  runtime.on("log", ({ level, message, data }) => {
    // The bar is drawn anew below; it would else be taken for one that stands under the line.
    line?.clear();
    terminal.note(`${level}: ${message}${data === undefined ? "" : ` ${documentText(data, 0)}`}`);
  });
  if (!line) return undefined;
  runtime.on("progress", (event) => {
    line.draw(event);
  });
  return line;
}

/** An output. A raw one is given on as it is, but to a terminal, which would do what it says. */
function textOf(terminal: Terminal, output: unknown, { raw }: CallOptions): string {
  if (!raw || typeof output !== "string") return documentText(output);
  return terminal.printsToPerson ? printable(output) : output;
}

function traceLine({ outcome, cell, phases, durationMs }: ToolExecutionTrace): string {
  const parts = Object.entries(phases).map(([name, time]) => `${name} ${milliseconds(time)}`);
  return `${outcome} in ${milliseconds(durationMs)} ms, cell ${cell?.id ?? "none"}: ${parts.join(", ")}`;
}
