/** Approvals that wait in a folder for somebody to decide with `toolcell approvals`. */
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { FolderApprovals, type ApprovalProvider } from "../index.js";
import { lineOf } from "./approval-question.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Letters of an id that people type. */
export const SHORT_ID = 12;

/** The folder, as a command that asks there uses it. */
export function folderApprovals(terminal: Terminal, folder: string): ApprovalProvider {
  return new FolderApprovals(folder, {
    onRequest: ({ approvalId, toolName }) => {
      const command = `toolcell approvals approve ${approvalId.slice(0, SHORT_ID)} --folder ${folder}`;
      terminal.note(lineOf(`${toolName} waits for approval: ${command}`));
    },
    onWarning: (message) => {
      terminal.note(lineOf(`warning: ${message}`));
    },
  });
}

/** What tools are given. */
export interface LentPath {
  readonly slotName: string;
  readonly path?: string | undefined;
  readonly access?: "read_only" | "read_write" | undefined;
}

/**
 * Makes sure that no tool can answer for itself.
 * @throws UsageError
 */
export async function keepApart(approvals: ApprovalProvider | undefined, lent: readonly LentPath[]): Promise<void> {
  if (!(approvals instanceof FolderApprovals)) return;
  const folder = await realOf(approvals.folder);
  for (const { slotName, path, access } of lent) {
    if (path === undefined || access !== "read_write") continue;
    const way = relative(await realOf(path), folder);
    if (way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way) continue;
    throw new UsageError(
      `The approvals in ${approvals.folder} could be written by the tools that ask for them: the slot "${slotName}" lets them. ` +
        `Use a folder outside of ${path}.`,
    );
  }
}

/** The real path, also of what does not exist yet. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), relative(parent, path));
  }
}
