/** What a program's text says that it prints: `console.log(…); // → this`. */
import type { Line } from "./block.js";

/** Lines that a program promises to print, in their order. */
export interface Promised {
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Whether it prints to stdout also what it does not say: figures that differ from run to run. */
  readonly more: boolean;
}

/** Reads what a program promises. */
export function promisedBy(lines: readonly Line[]): Promised {
  const stdout: string[] = [];
  const stderr: string[] = [];
  let calls = 0;
  let toStderr = false;
  for (const { text } of lines) {
    const call = /\bconsole\.(\w+)\(/.exec(text);
    if (call) toStderr = call[1] === "error" || call[1] === "warn";
    if (call && !toStderr) calls++;
    const said = /\/\/ → (.*)$/.exec(text)?.[1];
    if (said !== undefined) (toStderr ? stderr : stdout).push(said);
  }
  return { stdout, stderr, more: calls > stdout.length };
}

/** Whether all that is promised was printed, in its order. */
export function holds({ stdout, more }: Promised, printed: readonly string[]): boolean {
  if (!more) return printed.length === stdout.length && stdout.every((line, index) => line === printed[index]);
  let at = 0;
  for (const line of printed) if (line === stdout[at]) at++;
  return at === stdout.length;
}
