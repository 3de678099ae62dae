/** What the query library hands to the functions of its language, and takes from them. */

/** A list that the library made: a single element counts as the element. */
export type Sequence = unknown[] & { readonly sequence?: boolean };

/** The variables that are in sight. */
export interface Environment {
  lookup(name: string): unknown;
}

/** `this` of a function. */
export interface Focus {
  readonly environment: Environment;
  readonly input?: unknown;
  createSequence(...one: unknown[]): Sequence;
}

/** A function that is built into the language. */
export interface Definition {
  readonly _jsonata_function: true;
  readonly implementation: (this: Focus, ...args: unknown[]) => unknown;
  readonly signature?: unknown;
}

/** Functions by their names. */
export type Functions = Readonly<Record<string, (this: Focus, ...args: never[]) => unknown>>;

/** Whether a value is a function of the language, whichever way it was made. */
export function isFunction(value: unknown): boolean {
  if (typeof value === "function") return true;
  if (typeof value !== "object" || value === null) return false;
  return isDefinition(value) || ("_jsonata_lambda" in value && value._jsonata_lambda === true);
}

/** Whether a value is a function that is built in. */
export function isDefinition(value: unknown): value is Definition {
  if (typeof value !== "object" || value === null) return false;
  return "_jsonata_function" in value && value._jsonata_function === true;
}

export function isSequence(list: Sequence): boolean {
  return list.sequence === true;
}

/** An error that the library has words for. */
export function fault(code: string, details: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(code), { code, ...details });
}
