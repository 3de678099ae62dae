/** `toolcell run PLAN`: runs a plan file; its result is one JSON document on stdout. */
import { resolve } from "node:path";
import { DirectoryCheckpoints, ToolRuntimeError } from "../../index.js";
import { checkPlan, loadPlan, runPlan, type LoadedPlan, type PlanEvent, type Problem } from "../../plan/index.js";
import { keepApart, type LentPath } from "../approval-folder.js";
import { ApprovalPrompt } from "../approval-prompt.js";
import { planDisplay } from "../display/plan-display.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { Session, type SessionOptions } from "../session.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** Options of the command. */
export interface RunOptions extends Omit<SessionOptions, "write" | "bind"> {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly dryRun?: boolean;
  /** Folder for the checkpoints of a plan that requires them. */
  readonly checkpoints?: string;
  /** `name=value`; a value that is JSON is read as such. */
  readonly set?: readonly string[];
}

export async function run(terminal: Terminal, file: string, options: RunOptions): Promise<ExitCode> {
  let loaded: LoadedPlan;
  try {
    loaded = await loadPlan(file, terminal.host.cwd);
  } catch (error) {
    const problems = problemsOf(error);
    if (problems) return await reportProblems(terminal, file, problems, options);
    throw usageError(error);
  }
  const params = paramsOf(options.set ?? []);
  const { checkpoints: folder } = options;
  const checkpoints = folder && new DirectoryCheckpoints({ folder: resolve(terminal.host.cwd, folder) });
  await using session = await Session.open(terminal, options, checkpoints ? { checkpoints } : {}, true);
  const { runtime, signal } = session;
  const problems = checkPlan(loaded, runtime, Object.keys(params));
  if (problems.length > 0) return await reportProblems(terminal, file, problems, options);
  if (options.dryRun === true) return await reportDryRun(terminal, loaded, options);
  const { approvals } = session;
  await keepApart(approvals, lentBy(loaded));
  const display = options.quiet ? undefined : planDisplay(terminal, runtime, loaded.planId, loaded.plan);
  const onEvent = (event: PlanEvent): void => {
    if (approvals instanceof ApprovalPrompt) approvals.follow(event);
    display?.event(event);
  };
  try {
    const report = await runPlan(runtime, loaded, { params, signal, onEvent });
    display?.end(report);
    // A person who watched has seen the table; a pipe gets the document.
    if (options.json === true || !terminal.printsToPerson) await terminal.print(documentText(report));
    return session.exitCode(report.outcome === "ok" ? EXIT.ok : EXIT.failed);
  } catch (error) {
    display?.end(undefined);
    throw usageError(error);
  }
}

async function reportProblems(
  terminal: Terminal,
  file: string,
  problems: readonly Problem[],
  { json }: RunOptions,
): Promise<ExitCode> {
  if (json) await terminal.print(documentText({ file, problems }));
  else for (const { line, column, message } of problems) terminal.note(`${file}:${line}:${column} ${message}`);
  return EXIT.usage;
}

async function reportDryRun(terminal: Terminal, { file, plan }: LoadedPlan, { json }: RunOptions): Promise<ExitCode> {
  const { length } = plan.steps;
  if (json) await terminal.print(documentText({ file, problems: [] }));
  else
    terminal.note(
      `${file}: ${length} ${length === 1 ? "step" : "steps"}, nothing is wrong that can be known beforehand.`,
    );
  return EXIT.ok;
}

/** What a plan file lends to its tools. */
function lentBy({ plan, folder }: LoadedPlan): LentPath[] {
  return Object.entries(plan.resources ?? {}).map(([slotName, { path, access }]) => ({
    slotName,
    path: resolve(folder, path),
    access,
  }));
}

/** The problems that keep a plan from being read; undefined where it is not that. */
function problemsOf(error: unknown): readonly Problem[] | undefined {
  const { problems } = error instanceof ToolRuntimeError ? error.details : {};
  return Array.isArray(problems) ? (problems as readonly Problem[]) : undefined;
}

/** What is wrong with the file is the user's to mend. */
function usageError(error: unknown): unknown {
  const isPlans = error instanceof ToolRuntimeError && error.code === "INVALID_PLAN";
  return isPlans ? new UsageError(error.message) : error;
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
