/** JSON Pointers (RFC 6901). */

/**
 * Splits a pointer into its keys.
 * @returns undefined where it is no pointer
 */
export function keysOf(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes keys as a pointer. */
export function pointerTo(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** What a pointer leads to; `found` is false where it leads nowhere. */
export interface Lookup {
  readonly found: boolean;
  readonly value?: unknown;
  /** How many keys led somewhere. */
  readonly depth: number;
}

/** Follows keys through own members. */
export function lookup(document: unknown, keys: readonly string[]): Lookup {
  let value = document;
  for (const [depth, key] of keys.entries()) {
    const isList = Array.isArray(value);
    const missing =
      typeof value !== "object" ||
      value === null ||
      !Object.hasOwn(value, key) ||
      (isList && !/^(0|[1-9]\d*)$/.test(key));
    if (missing) return { found: false, depth };
    value = Reflect.get(value as object, key);
  }
  return { found: true, value, depth: keys.length };
}
