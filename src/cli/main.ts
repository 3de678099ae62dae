#!/usr/bin/env node
/** The command `toolcell`. */
import { EXIT } from "./exit-codes.js";
import { runCommand } from "./run-command.js";
import { Terminal } from "./terminal.js";

const { stdin, stdout, stderr, env } = process;
const cwd = currentFolder();
const terminal = new Terminal({ cwd: cwd ?? "/", stdin, stdout, stderr, env });
if (cwd === undefined)
  terminal.note("toolcell: The current folder is gone, or closed to you; change to another.", "red");
const code = cwd === undefined ? EXIT.usage : await runCommand(terminal, process.argv.slice(2));
await terminal.flush();
if (terminal.isStuck) process.kill(process.pid, "SIGKILL");
// All that was written is out. What a config or stdin has left open keeps nobody waiting.
process.exit(code);

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
