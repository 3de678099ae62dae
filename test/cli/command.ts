/** Runs the command in this process, over streams of its own. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommand } from "../../src/cli/run-command.js";
import { Terminal } from "../../src/cli/terminal.js";

/** What a run left. */
export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where and how to run. */
export interface CommandOptions {
  readonly cwd: string;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the command with the words that follow its name. */
export async function command(
  words: readonly string[],
  { cwd, stdin = "", env = {} }: CommandOptions,
): Promise<CommandRun> {
  const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  input.end(stdin);
  const read = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommand(new Terminal({ cwd, stdin: input, stdout, stderr, env }), words);
  stdout.end();
  stderr.end();
  const [out, err] = await read;
  return { code, stdout: out, stderr: err };
}

/** What `--json` printed. */
export function jsonOf({ stdout }: CommandRun): unknown {
  return JSON.parse(stdout) as unknown;
}
