/** Results go to stdout, all else to stderr. */
import { styleText } from "node:util";
import type { ExitCode } from "./exit-codes.js";
import { EXIT } from "./exit-codes.js";
import { printable } from "./printable.js";
import { Screen } from "./screen.js";

/** Where a command runs. */
export interface CommandHost {
  /** The current folder. */
  readonly cwd: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A style of `util.styleText`. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Width where the terminal does not tell its own. */
const DEFAULT_COLUMNS = 100;

/** What a command prints to. */
export class Terminal {
  readonly host: CommandHost;
  /** Aborts when nobody reads the results any more. */
  readonly gone: AbortSignal;
  /** What people see of stderr. */
  readonly screen: Screen;
  /** Whether a thread is left that cannot be ended, for which Node would wait for ever. */
  isStuck = false;
  readonly #gone = new AbortController();
  /** What went wrong with stdout, where not just its reader has left. */
  #fault: string | undefined;

  constructor(host: CommandHost) {
    this.host = host;
    this.gone = this.#gone.signal;
    this.screen = new Screen(host.stderr);
    host.stdout.on("error", this.#lost);
    // There is nowhere to say that nothing more can be said.
    host.stderr.on("error", () => undefined);
  }

  /** Whether a picture that changes can be shown. */
  get isLive(): boolean {
    const { stderr, env } = this.host;
    return stderr.isTTY === true && !isSet(env["CI"]) && env["TERM"] !== "dumb";
  }

  /** Whether there is a person who can be asked. */
  get canAsk(): boolean {
    const { stdin, stderr, env } = this.host;
    return stdin.isTTY === true && stderr.isTTY === true && !isSet(env["CI"]);
  }

  /** Columns of the terminal that people look at. */
  get columns(): number {
    const { stdout, stderr } = this.host;
    // A terminal that was given no size says 0.
    return [stderr.columns, stdout.columns].find((columns) => columns) ?? DEFAULT_COLUMNS;
  }

  /** Whether results go to a person. */
  get printsToPerson(): boolean {
    return this.host.stdout.isTTY === true;
  }

  /** Writes a result. Resolves when the pipe has taken it, or nothing takes it any more. */
  async print(text: string): Promise<void> {
    const error = await write(this.host.stdout, `${text}\n`);
    if (error) this.#lost(error);
  }

  /**
   * Writes what is no result: one entry, whatever it is made of. Control characters in it are written out, and its further
   * lines are indented, so that none of them passes for another entry.
   */
  note(text: string, style?: Style): void {
    const entry = printable(text.trimEnd()).replaceAll("\n", "\n  ");
    this.show(style === undefined ? entry : this.style(style, entry, "stderr"));
  }

  /** Writes to stderr what is laid out, and made {@link printable}, already. */
  show(text: string): void {
    this.screen.write(`${text}\n`);
  }

  /** Resolves when stderr has taken what was written. */
  async flush(): Promise<void> {
    await write(this.host.stderr, "");
  }

  /** Styles a text for one of the streams, where that shows colours. */
  style(style: Style | Style[], text: string, stream: "stdout" | "stderr" = "stdout"): string {
    return this.#hasColors(stream) ? styleText(style, text, { validateStream: false }) : text;
  }

  /** The code to end with: that nobody listens stands over what was to be said. */
  exitCode(code: ExitCode): ExitCode {
    if (this.#fault !== undefined) return EXIT.output;
    return this.gone.aborted ? EXIT.pipe : code;
  }

  readonly #lost = ({ code, message }: NodeJS.ErrnoException): void => {
    if (this.gone.aborted) return;
    if (code !== "EPIPE" && code !== "ERR_STREAM_DESTROYED") {
      this.#fault = code ?? message;
      this.note(`toolcell: the output cannot be written (${this.#fault}).`, "red");
    }
    this.#gone.abort();
  };

  #hasColors(stream: "stdout" | "stderr"): boolean {
    const { env } = this.host;
    if (isSet(env["NO_COLOR"])) return false;
    return isSet(env["FORCE_COLOR"]) || (this.host[stream].isTTY === true && env["TERM"] !== "dumb");
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}

function write(stream: NodeJS.WritableStream, text: string): Promise<Error | null | undefined> {
  return new Promise((resolve) => {
    stream.write(text, resolve);
  });
}
