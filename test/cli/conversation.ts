/** Runs the command in this process, at a terminal with a person. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { runCommand } from "../../src/cli/run-command.js";
import { Terminal } from "../../src/cli/terminal.js";
import type { CommandOptions, CommandRun } from "./command.js";

/** What the terminal is. */
interface TerminalSize {
  readonly columns?: number;
  readonly rows?: number;
}

/** One run, and what is typed meanwhile. */
export class Conversation {
  /** What stands on stderr so far, without colours and movements of the cursor. */
  said = "";
  readonly ended: Promise<CommandRun>;
  readonly #stdin = new PassThrough();
  #heard: () => void = () => undefined;

  constructor(
    words: readonly string[],
    { cwd, env = {}, columns = 100, rows = 40 }: Omit<CommandOptions, "stdin"> & TerminalSize,
  ) {
    const stdin = Object.assign(this.#stdin, { isTTY: true });
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
    const stdout = new PassThrough();
    const out = text(stdout);
    stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.said += stripVTControlCharacters(chunk);
      this.#heard();
    });
    this.ended = runCommand(new Terminal({ cwd, stdin, stdout, stderr, env }), words).then(async (code) => {
      stdout.end();
      return { code, stdout: await out, stderr: this.said };
    });
  }

  /** Resolves when a text stands there for the n-th time. */
  async hears(wanted: string, times = 1): Promise<void> {
    while (this.said.split(wanted).length <= times) {
      const more = new Promise<void>((resolve) => (this.#heard = resolve));
      const over = this.ended.then(({ code }) => {
        if (this.said.split(wanted).length > times) return;
        throw new Error(`it ended with ${code} without "${wanted}":\n${this.said}`);
      });
      await Promise.race([more, over]);
    }
  }

  type(line: string): void {
    this.#stdin.write(line);
  }

  /** Ctrl-D */
  hangUp(): void {
    this.#stdin.end();
  }
}
