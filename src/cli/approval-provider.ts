/** Who approves what a human has to, as the command line and the config say. */
import type { ApprovalProvider } from "../index.js";
import { APPROVE, folderOf } from "./approval-choice.js";
import { folderApprovals } from "./approval-folder.js";
import { ApprovalPrompt } from "./approval-prompt.js";
import { lineOf } from "./approval-question.js";
import type { Config } from "./config.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/**
 * The provider that is chosen.
 * @param option what the command line says
 * @param config whose wish counts only as far as there is somebody to ask
 * @throws UsageError
 */
export function approvalsOf(
  terminal: Terminal,
  option: string | undefined,
  config: Pick<Config, "approve" | "runtime">,
): ApprovalProvider | undefined {
  if (option !== undefined && !APPROVE.test(option)) {
    throw new UsageError(`--approve takes ask, none, all or folder:PATH, not "${lineOf(option)}".`);
  }
  if (option === "ask" && !terminal.canAsk) {
    throw new UsageError("--approve ask needs a terminal on stdin and stderr; --approve folder:PATH needs none.");
  }
  // A config that is a program may bring a provider of its own.
  if (option === undefined && config.approve === undefined && "approvals" in config.runtime) return undefined;
  const choice = option ?? config.approve ?? "ask";
  const folder = folderOf(choice, terminal.host.cwd);
  if (folder !== undefined) return folderApprovals(terminal, folder);
  if (choice === "all") return everything(terminal);
  if (choice === "ask" && terminal.canAsk) return new ApprovalPrompt(terminal);
  const why = choice === "none" ? "nobody is to be asked" : "there is no terminal to ask on";
  const how = "--approve folder:PATH lets somebody else decide, --approve all lets everything run";
  return {
    requestApproval: ({ approvalId }) => Promise.resolve({ approvalId, approved: false, reason: `${why}; ${how}` }),
  };
}

function everything(terminal: Terminal): ApprovalProvider {
  terminal.note('warning: approve is "all": calls that a human has to approve run, and nobody looks at them.');
  return {
    requestApproval: ({ approvalId }) => Promise.resolve({ approvalId, approved: true, decidedBy: "approve all" }),
  };
}
