/** Results go to stdout, all else to stderr. */
import { styleText } from "node:util";
import type { ExitCode } from "./exit-codes.js";
import { EXIT } from "./exit-codes.js";

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
  /** Whether a thread is left that cannot be ended, for which Node would wait for ever. */
  isStuck = false;
  readonly #gone = new AbortController();

  constructor(host: CommandHost) {
    this.host = host;
    this.gone = this.#gone.signal;
    for (const stream of [host.stdout, host.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
        if (stream === host.stdout) this.#gone.abort();
      });
    }
  }

  /** Whether a picture that changes can be shown. */
  get isLive(): boolean {
    const { stderr, env } = this.host;
    return stderr.isTTY === true && !isSet(env["CI"]) && env["TERM"] !== "dumb";
  }

  /** Columns of the terminal that people look at. */
  get columns(): number {
    const { stdout, stderr } = this.host;
    return stderr.columns ?? stdout.columns ?? DEFAULT_COLUMNS;
  }

  /** Whether results go to a person. */
  get printsToPerson(): boolean {
    return this.host.stdout.isTTY === true;
  }

  /** Writes a result. Resolves when the pipe has taken it. */
  print(text: string): Promise<void> {
    return write(this.host.stdout, `${text}\n`);
  }

  /** Writes what is no result. */
  note(text: string): void {
    this.host.stderr.write(`${text}\n`);
  }

  /** Styles a text for one of the streams, where that shows colours. */
  style(style: Style | Style[], text: string, stream: "stdout" | "stderr" = "stdout"): string {
    return this.#hasColors(stream) ? styleText(style, text, { validateStream: false }) : text;
  }

  /** The code to end with: that nobody listens stands over what was to be said. */
  exitCode(code: ExitCode): ExitCode {
    return this.gone.aborted ? EXIT.pipe : code;
  }

  #hasColors(stream: "stdout" | "stderr"): boolean {
    const { env } = this.host;
    if (isSet(env["NO_COLOR"])) return false;
    return isSet(env["FORCE_COLOR"]) || (this.host[stream].isTTY === true && env["TERM"] !== "dumb");
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}

function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    // Whether it was written or nobody reads: the error event tells the latter.
    stream.write(text, () => {
      resolve();
    });
  });
}
