/** One run of the command, from its words to its exit code. */
import { readFile } from "node:fs/promises";
import { CommanderError, type Command } from "commander";
import { EXIT, type ExitCode } from "./exit-codes.js";
import { Interrupted } from "./interrupts.js";
import { printable } from "./printable.js";
import { buildProgram } from "./program.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/**
 * Runs the command. Never rejects: what goes wrong is said on stderr.
 * @param words what follows the command's name
 */
export async function runCommand(terminal: Terminal, words: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = buildProgram(terminal, await version(), (ended) => (code = ended));
  for (const command of commandsOf(program)) speakThrough(command, terminal);
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    code = codeOf(error, terminal);
  }
  return terminal.exitCode(code);
}

function codeOf(error: unknown, terminal: Terminal): ExitCode {
  // Help and version were asked for; its other errors are told already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  // Whoever interrupted it knows.
  if (error instanceof Interrupted) return error.exitCode;
  const message = error instanceof Error ? error.message : String(error);
  terminal.note(`toolcell: ${message}`, "red");
  if (error instanceof UsageError) return EXIT.usage;
  terminal.note(
    `This is a fault of toolcell; please report it. ${(error as Error | undefined)?.stack?.split("\n")[1]?.trim() ?? ""}`,
  );
  return EXIT.internal;
}

function speakThrough(command: Command, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void terminal.print(text.trimEnd()),
    writeErr: (text) => {
      terminal.show(printable(text.trimEnd()));
    },
    outputError: (text) => {
      terminal.note(text.replace(/^error: /, "toolcell: "), "red");
    },
    getOutHelpWidth: () => terminal.columns,
    getErrHelpWidth: () => terminal.columns,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** The package's own version. */
async function version(): Promise<string> {
  for (let folder = new URL("./", import.meta.url); ; folder = new URL("../", folder)) {
    try {
      const { name, version: own } = JSON.parse(await readFile(new URL("package.json", folder), "utf8")) as Record<
        string,
        unknown
      >;
      if (name === "toolcell" && typeof own === "string") return own;
    } catch {
      // Not in this folder.
    }
    if (folder.pathname === "/") return "unknown";
  }
}
