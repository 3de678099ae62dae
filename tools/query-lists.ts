/** Functions of the query language on lists, in time that does not grow with the square of their length. */
import { createHash } from "node:crypto";
import { checkJson } from "./json-length.js";
import type { QueryGuard } from "./query-guard.js";
import { fault, isFunction, isSequence, type Functions } from "./query-language.js";

/** A longer key is replaced by its digest, so that keys take no more room than values. */
const KEY_LENGTH = 256;

type Comparator = (left: unknown, right: unknown) => unknown;

/** The functions, by their names. They take what the library's own take. */
export function listFunctions(guard: QueryGuard): Functions {
  return {
    distinct(list?: unknown) {
      if (!Array.isArray(list) || list.length <= 1) return list;
      const result = isSequence(list) ? this.createSequence() : [];
      const keys = new ValueKeys(guard);
      const seen = new Set<string>();
      for (const each of list as unknown[]) {
        guard.round();
        const key = keys.of(each);
        if (seen.has(key)) continue;
        seen.add(key);
        result.push(each);
      }
      return result;
    },

    async sort(list: unknown[] | undefined, comparator?: Comparator) {
      if (list === undefined || list.length <= 1) return list;
      if (comparator) return mergeSort(list, async (left, right) => Boolean(await comparator(left, right)), guard);
      for (const each of list) if (each === Infinity || each === -Infinity) throw fault("D1001", { value: each });
      const isNumber = (each: unknown): boolean => typeof each === "number" && !Number.isNaN(each);
      if (!list.every(isNumber) && !list.every((each) => typeof each === "string")) throw fault("D3070", { index: 1 });
      const values = [...list] as string[];
      return values.sort((left, right) => {
        guard.round();
        return left < right ? -1 : left > right ? 1 : 0;
      });
    },

    // The library hands all elements over as parameters, of which there can be some hundred thousand.
    max: (list?: readonly number[]) => reduced(list, Math.max, guard),
    min: (list?: readonly number[]) => reduced(list, Math.min, guard),

    spread(value: unknown) {
      const result = this.createSequence();
      const spread = (each: unknown): boolean => {
        guard.round();
        if (typeof each !== "object" || each === null || isFunction(each)) return false;
        if (Array.isArray(each)) {
          for (const item of each as unknown[]) if (!spread(item) && item !== undefined) result.push(item);
        } else {
          for (const [key, item] of Object.entries(each as Record<string, unknown>)) result.push(bare({ [key]: item }));
        }
        return true;
      };
      if (!spread(value)) return value;
      // What comes of a list stays one, also of a single element.
      return Array.isArray(value) && result.length > 0 ? Array.from(result) : result;
    },

    zip(...lists: unknown[]) {
      const lengths = lists.map((each) => (Array.isArray(each) ? each.length : 0));
      const length = Math.min(...lengths);
      guard.checkList("$zip", length * lists.length);
      return Array.from({ length }, (_, at) => lists.map((each) => (each as unknown[])[at]));
    },

    /** The operator `*`, on the context. */
    "operator *"() {
      const result = this.createSequence();
      const wrapped = this.input as (unknown[] & { readonly outerWrapper?: boolean }) | undefined;
      const input: unknown = Array.isArray(wrapped) && wrapped.outerWrapper === true ? wrapped[0] : wrapped;
      let lists = 0;
      const add = (each: unknown): void => {
        guard.round();
        if (!Array.isArray(each)) result.push(each);
        else {
          lists++;
          each.forEach(add);
        }
      };
      if (typeof input === "object" && input !== null && !isFunction(input)) Object.values(input).forEach(add);
      return lists > 0 ? Array.from(result) : result;
    },
  };
}

function reduced(
  list: readonly number[] | undefined,
  better: (one: number, other: number) => number,
  guard: QueryGuard,
): number | undefined {
  let best = list?.[0];
  for (const each of list ?? []) {
    guard.round();
    best = better(best ?? each, each);
  }
  return best;
}

/** Keys that are the same for what the query language's `=` takes as equal, and for nothing else. */
class ValueKeys {
  readonly #guard: QueryGuard;
  readonly #identities = new Map<unknown, number>();
  #lone = 0;

  constructor(guard: QueryGuard) {
    this.#guard = guard;
  }

  of(value: unknown): string {
    if (typeof value === "object" && value !== null) checkJson(value, "$distinct", this.#guard);
    const key = this.#keyOf(value);
    return key.length <= KEY_LENGTH ? key : `#${createHash("sha256").update(key, "utf16le").digest("base64")}`;
  }

  #keyOf(value: unknown): string {
    this.#guard.round();
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "number") return Number.isNaN(value) ? `NaN${this.#lone++}` : String(value);
    if (typeof value === "function" || isFunction(value)) return this.#identity(value);
    if (typeof value !== "object" || value === null) return String(value);
    if (Array.isArray(value)) return `[${value.map((each) => this.#keyOf(each)).join(",")}]`;
    const entries = Object.keys(value).sort();
    const of = value as Record<string, unknown>;
    return `{${entries.map((each) => `${JSON.stringify(each)}:${this.#keyOf(of[each])}`).join(",")}}`;
  }

  #identity(value: unknown): string {
    const known = this.#identities.get(value) ?? this.#identities.size;
    this.#identities.set(value, known);
    return `f${known}`;
  }
}

/** A stable sort; the library's own copies the rest of the list for each element. */
async function mergeSort(
  list: readonly unknown[],
  isAfter: (left: unknown, right: unknown) => Promise<boolean>,
  guard: QueryGuard,
): Promise<unknown[]> {
  if (list.length <= 1) return [...list];
  const middle = Math.floor(list.length / 2);
  const left = await mergeSort(list.slice(0, middle), isAfter, guard);
  const right = await mergeSort(list.slice(middle), isAfter, guard);
  const merged: unknown[] = [];
  let one = 0;
  let other = 0;
  while (one < left.length && other < right.length) {
    guard.round();
    merged.push((await isAfter(left[one], right[other])) ? right[other++] : left[one++]);
  }
  while (one < left.length) merged.push(left[one++]);
  while (other < right.length) merged.push(right[other++]);
  return merged;
}

/** Without a prototype, as the library makes objects: a key may be `__proto__`. */
function bare(entries: object): object {
  return Object.defineProperties(Object.create(null) as object, Object.getOwnPropertyDescriptors(entries));
}
