#!/usr/bin/env node
/** The command `toolcell`. */
import { runCommand } from "./run-command.js";
import { Terminal } from "./terminal.js";

const { stdin, stdout, stderr, env } = process;
const cwd = process.cwd();
const terminal = new Terminal({ cwd, stdin, stdout, stderr, env });
process.exitCode = await runCommand(terminal, process.argv.slice(2));
// What was written is out: each write was waited for, and stderr of a process does not buffer.
if (terminal.isStuck) process.kill(process.pid, "SIGKILL");
