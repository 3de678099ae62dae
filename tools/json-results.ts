/** Results of a query, as JSON of bounded length. */
import { ToolFailure } from "./failure.js";
import { isFunction } from "./query-language.js";

/** A list of JSON values that takes no more than fits. */
export class JsonResults {
  readonly values: unknown[] = [];
  /** Whether a value did not fit. */
  truncated = false;
  readonly #maxResults: number;
  #lengthLeft: number;

  /** @param maxLength UTF-16 units of JSON */
  constructor(maxResults: number, maxLength: number) {
    this.#maxResults = maxResults;
    this.#lengthLeft = maxLength;
  }

  /** Adds a value, unless it is undefined or a function. Once one does not fit, none is added. */
  add(value: unknown): void {
    if (this.truncated) return;
    const json = jsonOf(value);
    if (json === undefined) return;
    if (this.values.length === this.#maxResults || json.length > this.#lengthLeft) {
      this.truncated = true;
      return;
    }
    this.#lengthLeft -= json.length + 1;
    this.values.push(JSON.parse(json));
  }
}

/**
 * A value as plain JSON, without functions and whatever else the library has put on it.
 * @returns undefined where nothing is left
 * @throws ToolFailure `TOO_LARGE`
 */
export function plainValue(value: unknown, maxLength: number): unknown {
  const json = jsonOf(value);
  if (json === undefined) return undefined;
  if (json.length <= maxLength) return JSON.parse(json) as unknown;
  throw new ToolFailure(
    "TOO_LARGE",
    `The result has ${json.length} characters of JSON, more than ${maxLength}; select less of it.`,
    { length: json.length },
  );
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A function holds what is in sight of it, itself included.
    if (error instanceof TypeError)
      return JSON.stringify(value, (_, each: unknown) => (isFunction(each) ? undefined : each));
    if (!(error instanceof RangeError)) throw error;
    throw new ToolFailure("TOO_LARGE", "The result is too large or nested too deeply to be given; select less of it.");
  }
}
