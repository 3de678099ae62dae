/** The commands `toolcell approvals …`, and the option that names who approves. */
import { Option, type Command } from "commander";
import { decideApproval, listApprovals, type ApprovalsOptions, type DecisionOptions } from "./commands/approvals.js";
import { lineOf } from "./approval-question.js";
import type { ExitCode } from "./exit-codes.js";
import { nearest } from "../nearest.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

const COMMANDS = ["list", "approve", "decline"];

/** The option of commands that call tools. */
export function approveOption(): Option {
  return new Option(
    "--approve <who>",
    "who approves what a human has to: ask (on the terminal), none, all (nobody looks), folder:PATH",
  );
}

/** Adds the commands. */
export function addApprovals(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const approvals = program.command("approvals").description("list and answer calls that wait for a human's word");
  inFolder(approvals.command("list", { isDefault: true }).description("list what waits, or show one request whole"))
    .argument("[id]", "the beginning of its id")
    .allowExcessArguments()
    .action(async (id: string | undefined, options: ApprovalsOptions, { args }: Command) => {
      // What is no command's name is taken for an id.
      if (id !== undefined && args.length > 1) throw new UsageError(noCommand(id));
      done(await listApprovals(terminal, id, options));
    });
  for (const [name, approved, description] of [
    ["approve", true, "let a call run"],
    ["decline", false, "refuse a call"],
  ] as const) {
    inFolder(approvals.command(name).description(description))
      .argument("<id>", "the beginning of its id, as list shows it")
      .option("--by <name>", "who decides (default: the user)")
      .option("--reason <text>", "why, for whoever made the call")
      .action(async (id: string, options: DecisionOptions) => {
        done(await decideApproval(terminal, id, approved, options));
      });
  }
}

function noCommand(word: string): string {
  const meant = nearest(word, COMMANDS);
  return `There is no "toolcell approvals ${lineOf(word)}"; ${meant === undefined ? `there are ${COMMANDS.join(", ")}` : `did you mean ${meant}?`}`;
}

function inFolder(command: Command): Command {
  return command
    .option("--json", "print JSON")
    .option("--folder <path>", "where requests wait (default: the config's)")
    .option("--config <file>", "instead of the nearest toolcell.config.{json,yaml,js}");
}
