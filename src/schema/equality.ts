/** Equality and arithmetic of JSON values, for the keywords where ajv is quadratic or inexact. */
import { countKeys, spend, spendText } from "./meter.js";
import { canonicalJson } from "./shape.js";

/**
 * Whether two JSON values are equal. `pattern` bounds the depth, so data of any depth is safe; a step is taken
 * for each object, and for each entry that is equal.
 *
 * @throws StepsSpent
 */
export function equalJson(value: unknown, pattern: unknown): boolean {
  if (value === pattern) return true;
  if (typeof value !== "object" || typeof pattern !== "object" || value === null || pattern === null) return false;
  spend(1);
  if (Array.isArray(value) !== Array.isArray(pattern)) return false;
  if (Array.isArray(value) && Array.isArray(pattern)) {
    return value.length === pattern.length && pattern.every((entry, index) => isSame(value[index], entry));
  }
  const keys = Object.keys(pattern);
  // The value may have far more keys than the pattern, so they are counted last.
  return (
    keys.every((key) => Object.hasOwn(value, key) && isSame(Reflect.get(value, key), Reflect.get(pattern, key))) &&
    countKeys(value) === keys.length
  );
}

function isSame(value: unknown, pattern: unknown): boolean {
  if (!equalJson(value, pattern)) return false;
  spend(1);
  return true;
}

interface Members {
  readonly scalars: ReadonlySet<unknown>;
  readonly objects: readonly unknown[];
}

const members = new WeakMap<readonly unknown[], Members>();

function membersOf(allowed: readonly unknown[]): Members {
  let known = members.get(allowed);
  if (known === undefined) {
    const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
    known = { scalars: new Set(allowed.filter((entry) => !isObject(entry))), objects: allowed.filter(isObject) };
    members.set(allowed, known);
  }
  return known;
}

/** Whether a value is in the list of an `enum`: one look-up, unless it is an object. */
export function isMember(value: unknown, allowed: readonly unknown[]): boolean {
  const { scalars, objects } = membersOf(allowed);
  if (typeof value !== "object" || value === null) return scalars.has(value);
  return objects.some((entry) => equalJson(value, entry));
}

/** The first item that equals an earlier one, with that one. Linear in the size of the items. */
export function firstDuplicate(items: readonly unknown[]): { earlier: number; later: number } | undefined {
  const scalars = new Map<unknown, number>();
  const objects = new Map<unknown, number>();
  for (let later = 0; later < items.length; later++) {
    spend(1);
    const item = items[later];
    const isObject = typeof item === "object" && item !== null;
    const key = isObject ? canonicalJson(item, spendText) : item;
    const seen = isObject ? objects : scalars;
    const earlier = seen.get(key);
    if (earlier !== undefined) return { earlier, later };
    seen.set(key, later);
  }
  return undefined;
}

/** A number's shortest decimal form as `digits * 10 ** exponent`. */
function decimal(value: number): { digits: bigint; exponent: number } {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Whether a number is a multiple in decimal, so that 19.99 is a multiple of 0.01. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value) || !Number.isFinite(divisor)) return false;
  const left = decimal(value);
  const right = decimal(divisor);
  const exponent = Math.min(left.exponent, right.exponent);
  // Hundreds of digits, where the two are far apart.
  spend(Math.floor(Math.abs(left.exponent - right.exponent) / 8));
  const scaled = ({ digits, exponent: own }: typeof left): bigint => digits * 10n ** BigInt(own - exponent);
  return scaled(left) % scaled(right) === 0n;
}
