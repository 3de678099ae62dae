/** What the command's exit status says; documented in `docs/command-line.md`. */

/** Exit codes. From 128 on as shells have it: 128 and the signal's number. */
export const EXIT = {
  ok: 0,
  /** The tool or the plan failed. */
  failed: 1,
  /** The command line, a file it names or an input is wrong; nothing ran. */
  usage: 2,
  /** toolcell itself failed. */
  internal: 70,
  /** The results could not be written, as on a full disk. */
  output: 74,
  /** SIGINT */
  interrupted: 130,
  /** SIGPIPE: whoever read the output has gone. */
  pipe: 141,
  /** SIGTERM */
  terminated: 143,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
