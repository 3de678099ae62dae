/** Ctrl-C and SIGTERM, as long as something of toolcell's has to be ended in order. */
import { EXIT, type ExitCode } from "./exit-codes.js";

/** A signal came before anything had begun that has an end of its own. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: ExitCode;

  constructor(signal: NodeJS.Signals, exitCode: ExitCode) {
    super(`${signal} was received`);
    this.exitCode = exitCode;
  }
}

/** Listens until `stop`. */
export class Interrupts {
  /** Aborts at the first signal, with an {@link Interrupted}. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #heard: (name: NodeJS.Signals, isFirst: boolean) => void;
  #endedBy: ExitCode | undefined;

  /** @param heard is told of each signal, of the first one before `signal` aborts */
  constructor(heard: (name: NodeJS.Signals, isFirst: boolean) => void) {
    this.#heard = heard;
    this.signal = this.#controller.signal;
    process.on("SIGINT", this.#received);
    process.on("SIGTERM", this.#received);
  }

  /** The code that the first signal wants; undefined where none came. */
  get endedBy(): ExitCode | undefined {
    return this.#endedBy;
  }

  stop(): void {
    process.off("SIGINT", this.#received);
    process.off("SIGTERM", this.#received);
  }

  readonly #received = (name: NodeJS.Signals): void => {
    const isFirst = this.#endedBy === undefined;
    const code = name === "SIGTERM" ? EXIT.terminated : EXIT.interrupted;
    this.#endedBy ??= code;
    this.#heard(name, isFirst);
    if (isFirst) this.#controller.abort(new Interrupted(name, code));
  };
}
