/** `toolcell approvals …`: what waits in a folder for a human's word, and the word. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { FolderApprovals, ToolRuntimeError, type ApprovalRequest } from "../../index.js";
import { folderOf } from "../approval-choice.js";
import { SHORT_ID } from "../approval-folder.js";
import { lineOf, questionText, timeLeft } from "../approval-question.js";
import { loadConfig } from "../config.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { table, type Column } from "../table.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** Options of the commands. */
export interface ApprovalsOptions {
  /** By default the config's. */
  readonly folder?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** What goes with a decision. */
export interface DecisionOptions extends ApprovalsOptions {
  readonly by?: string;
  readonly reason?: string;
}

/** Most letters of an input in a table. */
const INPUT_SHOWN = 60;

/** Lists what waits, or shows one request whole. */
export async function listApprovals(
  terminal: Terminal,
  id: string | undefined,
  options: ApprovalsOptions,
): Promise<ExitCode> {
  const approvals = await openFolder(terminal, options);
  const pending = await pendingOf(approvals);
  const wanted = id === undefined ? pending : [matching(pending, id, approvals)];
  if (options.json) await terminal.print(documentText(id === undefined ? wanted : wanted[0]));
  else if (id !== undefined) for (const request of wanted) await terminal.print(whole(request, terminal));
  else if (pending.length === 0) terminal.note(`Nothing waits in ${approvals.folder}.`);
  else
    await terminal.print(table(columnsFor(pending), pending, terminal.printsToPerson ? terminal.columns : undefined));
  return terminal.exitCode(EXIT.ok);
}

/** Answers a request. */
export async function decideApproval(
  terminal: Terminal,
  id: string,
  approved: boolean,
  options: DecisionOptions,
): Promise<ExitCode> {
  const approvals = await openFolder(terminal, options);
  // A whole id is taken as it is: the folder knows best why it cannot be answered.
  const request = id.length === 64 ? undefined : matching(await pendingOf(approvals), id, approvals);
  const approvalId = request?.approvalId ?? id;
  const { USER, USERNAME } = terminal.host.env;
  const decidedBy = options.by ?? USER ?? USERNAME;
  const verdict = {
    approved,
    ...(decidedBy !== undefined && { decidedBy }),
    ...(options.reason !== undefined && { reason: options.reason }),
  };
  await asUsage(approvals.decide(approvalId, verdict));
  if (options.json) await terminal.print(documentText({ approvalId, ...verdict }));
  else {
    const what = request ? ` (${request.toolName}, plan ${request.planId})` : "";
    terminal.note(lineOf(`${approved ? "approved" : "declined"} ${approvalId.slice(0, SHORT_ID)}${what}`));
  }
  return terminal.exitCode(EXIT.ok);
}

/** The ids that may be named, for completion: none where the folder cannot be read. */
export async function approvalIds(terminal: Terminal, options: ApprovalsOptions): Promise<string[]> {
  const approvals = await openFolder(terminal, options).catch(() => undefined);
  return (await approvals?.pending().catch(() => []))?.map(({ approvalId }) => approvalId) ?? [];
}

async function openFolder(terminal: Terminal, { folder, config }: ApprovalsOptions): Promise<FolderApprovals> {
  const { cwd } = terminal.host;
  const path = folder === undefined ? folderOf((await loadConfig(cwd, config)).approve, cwd) : resolve(cwd, folder);
  if (folder === "" || path === undefined) {
    throw new UsageError('Which folder? Name it with --folder PATH, or in the config as `approve: "folder:PATH"`.');
  }
  const kind = await stat(path).catch(() => undefined);
  if (kind?.isDirectory() !== true)
    throw new UsageError(`There is no folder ${path}; it is made when a call asks there.`);
  return new FolderApprovals(path, {
    onWarning: (message) => {
      terminal.note(lineOf(`warning: ${message}`));
    },
  });
}

async function pendingOf(approvals: FolderApprovals): Promise<ApprovalRequest[]> {
  try {
    return await approvals.pending();
  } catch (error) {
    throw new UsageError(
      `The folder ${approvals.folder} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`,
    );
  }
}

/** The one request whose id begins so. */
function matching(pending: readonly ApprovalRequest[], id: string, { folder }: FolderApprovals): ApprovalRequest {
  const found = pending.filter(({ approvalId }) => approvalId.startsWith(id.toLowerCase()));
  const [request] = found;
  if (!/^[0-9a-f]{1,64}$/i.test(id))
    throw new UsageError(`"${lineOf(id)}" is no id of a request, nor the beginning of one.`);
  if (!request) throw new UsageError(`No request in ${folder} that waits begins with "${id}".`);
  if (found.length === 1) return request;
  const ids = found.map(({ approvalId }) => approvalId.slice(0, Math.max(SHORT_ID, id.length + 4)));
  throw new UsageError(`"${id}" may be ${ids.slice(0, -1).join(", ")} or ${ids.at(-1)}; name more of it.`);
}

async function asUsage(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ToolRuntimeError) throw new UsageError(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`The decision cannot be written (${code}).`);
  }
}

function whole(request: ApprovalRequest, terminal: Terminal): string {
  return `${request.approvalId}\n${questionText(request, { columns: terminal.columns }).text}`;
}

function columnsFor(pending: readonly ApprovalRequest[]): Column<ApprovalRequest>[] {
  const input = (request: ApprovalRequest): string => {
    const text = lineOf(JSON.stringify(request.input));
    return text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN - 1)}…` : text;
  };
  const width = idWidth(pending);
  return [
    { title: "id", left: true, cell: ({ approvalId }) => approvalId.slice(0, width) },
    { title: "tool", left: true, cell: ({ toolName }) => lineOf(toolName) },
    { title: "plan", left: true, cell: ({ planId }) => lineOf(planId) },
    { title: "actor", left: true, cell: ({ actorName }) => lineOf(actorName ?? "") },
    { title: "expires in", cell: ({ expiresAt }) => timeLeft(expiresAt) },
    { title: "input", left: true, wraps: true, cell: input },
  ];
}

/** So many letters of an id as tell each from the others. */
function idWidth(pending: readonly ApprovalRequest[]): number {
  let width = SHORT_ID;
  const differ = (): boolean =>
    new Set(pending.map(({ approvalId }) => approvalId.slice(0, width))).size === pending.length;
  while (!differ()) width++;
  return width;
}
