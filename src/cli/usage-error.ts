/** A mistake of the user's: one clear line, no stack. */

/** The command line, a file it names or an input is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
