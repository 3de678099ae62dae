/** `toolcell run PLAN`: runs a plan file; its result is one JSON document on stdout. */
import { ToolRuntimeError } from "../../index.js";
import { checkPlan, loadPlan, runPlan, type LoadedPlan } from "../../plan/index.js";
import { planDisplay } from "../display/plan-display.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { Session, type SessionOptions } from "../session.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** Options of the command. */
export interface RunOptions extends Omit<SessionOptions, "write" | "bind"> {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly dryRun?: boolean;
  /** `name=value`; a value that is JSON is read as such. */
  readonly set?: readonly string[];
}

export async function run(terminal: Terminal, file: string, options: RunOptions): Promise<ExitCode> {
  const loaded = await usage(() => loadPlan(file, terminal.host.cwd));
  const params = paramsOf(options.set ?? []);
  await using session = await Session.open(terminal, options);
  const { runtime, signal } = session;
  const problems = checkPlan(loaded, runtime, Object.keys(params));
  if (options.dryRun === true || problems.length > 0) return await reportProblems(terminal, loaded, problems, options);
  const display = options.quiet ? undefined : planDisplay(terminal, runtime, loaded.planId, loaded.plan);
  try {
    const report = await usage(() =>
      runPlan(runtime, loaded, { params, signal, ...(display && { onEvent: display.event.bind(display) }) }),
    );
    display?.end(report);
    // A person who watched has seen the table; a pipe gets the document.
    if (options.json === true || !terminal.printsToPerson) await terminal.print(JSON.stringify(report, undefined, 2));
    return session.exitCode(report.outcome === "ok" ? EXIT.ok : EXIT.failed);
  } catch (error) {
    display?.end(undefined);
    throw error;
  }
}

async function reportProblems(
  terminal: Terminal,
  { file, plan }: LoadedPlan,
  problems: ReturnType<typeof checkPlan>,
  { json }: RunOptions,
): Promise<ExitCode> {
  if (json) await terminal.print(JSON.stringify({ file, problems }, undefined, 2));
  else for (const { line, column, message } of problems) terminal.note(`${file}:${line}:${column} ${message}`);
  if (problems.length > 0) return EXIT.usage;
  if (!json)
    terminal.note(
      `${file}: ${plan.steps.length} ${plan.steps.length === 1 ? "step" : "steps"}, nothing is wrong that can be known beforehand.`,
    );
  return EXIT.ok;
}

/** What is wrong with the file is the user's to mend. */
async function usage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolRuntimeError && error.code === "INVALID_PLAN") throw new UsageError(error.message);
    throw error;
  }
}

function paramsOf(texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === undefined) throw new UsageError(`--set takes name=value, not "${text}".`);
      return [name, parsed(value)];
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
