/** Looks through a value before it crosses into or out of a cell: how large, how deep, can it travel. */
import { types } from "node:util";

/** Bounds on one payload. */
export interface PayloadLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxValues: number;
}

/** Why a payload may not cross. */
export interface PayloadRefusal {
  readonly reason: "too_large" | "not_cloneable";
  /** Continues a sentence whose subject is the payload. */
  readonly message: string;
}

/**
 * Estimates a value's size in bytes: strings by length, numbers 8, binary data by `byteLength`,
 * keys included. Iterative, so depth cannot overflow it; a value met twice counts once. Never throws.
 * @returns the size, or why the value may not cross
 */
export function measurePayload(root: unknown, limits: PayloadLimits): number | PayloadRefusal {
  try {
    const quick = flatSize(root, limits);
    if (quick >= 0) return quick;
    const survey = new Survey(limits);
    survey.visit(root, undefined);
    return survey.refusal ?? survey.descend();
  } catch (error) {
    // Getters and proxies run code of whoever made the value.
    const message = error instanceof Error ? error.message : "it throws";
    return { reason: "not_cloneable", message: `holds a member that cannot be read: ${message}` };
  }
}

/**
 * Copies a value as a cell would get it.
 * @param flat whether `flatSize` has found it flat, which makes the copy ten times cheaper
 * @throws where it cannot be copied
 */
export function copyPayload(root: unknown, flat: boolean): unknown {
  if (!flat || types.isProxy(root)) return structuredClone(root);
  return typeof root === "object" && root !== null ? { ...root } : root;
}

/**
 * Most payloads are a primitive or a plain object of a few primitives.
 * @returns the size, or -1 where the payload needs a survey
 */
export function flatSize(root: unknown, limits: PayloadLimits): number {
  try {
    return measureFlat(root, limits);
  } catch {
    // A survey tells what it is that cannot be read.
    return -1;
  }
}

function measureFlat(root: unknown, limits: PayloadLimits): number {
  const own = primitiveSize(root);
  if (own >= 0) return own <= limits.maxBytes ? own : -1;
  if (typeof root !== "object" || root === null || Object.getPrototypeOf(root) !== Object.prototype) return -1;
  if (limits.maxDepth < 1) return -1;
  let bytes = 0;
  let left = Math.min(FLAT_FIELDS, limits.maxValues - 1);
  for (const key of Object.keys(root)) {
    const size = primitiveSize((root as Record<string, unknown>)[key]);
    if (size < 0 || --left < 0) return -1;
    bytes += key.length + size;
  }
  return bytes <= limits.maxBytes ? bytes : -1;
}

const FLAT_FIELDS = 32;

function primitiveSize(value: unknown): number {
  switch (typeof value) {
    case "string":
      return value.length;
    case "undefined":
      return 0;
    case "object":
      return value === null ? 4 : -1;
    case "function":
    case "symbol":
      return -1;
    default:
      return 8;
  }
}

class Survey {
  refusal: PayloadRefusal | undefined;
  readonly #limits: PayloadLimits;
  readonly #seen = new Set<object>();
  #bytes = 0;
  #values = 0;
  #next: object[] = [];

  constructor(limits: PayloadLimits) {
    this.#limits = limits;
  }

  descend(): number | PayloadRefusal {
    for (let depth = 1; this.#next.length > 0; depth++) {
      if (depth > this.#limits.maxDepth) return tooLarge(`is nested deeper than ${this.#limits.maxDepth} levels`);
      const level = this.#next;
      this.#next = [];
      for (const value of level) {
        this.#members(value);
        if (this.refusal) return this.refusal;
      }
    }
    return this.#bytes;
  }

  /** Takes one value; what it holds is looked at on the next level. @returns false when the survey is over */
  visit(value: unknown, key: string | undefined): boolean {
    this.#values++;
    switch (typeof value) {
      case "string":
        this.#bytes += value.length;
        break;
      case "object":
        if (value === null) this.#bytes += 4;
        else if (!this.#seen.has(value)) {
          this.#seen.add(value);
          this.#next.push(value);
        }
        break;
      case "function":
      case "symbol":
        this.refusal = notCloneable(`holds a ${typeof value}${key === undefined ? "" : ` at "${key.slice(0, 100)}"`}`);
        return false;
      case "undefined":
        break;
      default:
        this.#bytes += 8;
    }
    if (this.#values > this.#limits.maxValues)
      this.refusal = tooLarge(`holds more than ${this.#limits.maxValues} values`);
    else if (this.#bytes > this.#limits.maxBytes)
      this.refusal = tooLarge(`is larger than ${this.#limits.maxBytes} bytes`);
    return this.refusal === undefined;
  }

  #members(value: object): void {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) if (!this.visit(value[index], undefined)) return;
      return;
    }
    const prototype = Object.getPrototypeOf(value) as object | null;
    if (prototype === Object.prototype || prototype === null || isRoot(prototype)) this.#fields(value);
    else if (ArrayBuffer.isView(value)) this.visit(value.buffer, "buffer");
    else if (types.isArrayBuffer(value)) this.#add(value.byteLength);
    else if (types.isSharedArrayBuffer(value)) {
      this.refusal = notCloneable("holds a SharedArrayBuffer, which could change after it was checked");
    } else if (types.isMap(value)) {
      for (const [key, member] of value) if (!this.visit(key, undefined) || !this.visit(member, undefined)) return;
    } else if (types.isSet(value)) {
      for (const member of value) if (!this.visit(member, undefined)) return;
    } else if (types.isNativeError(value)) {
      const { message, stack = "" } = value;
      this.#add(message.length + stack.length);
    } else if (types.isBoxedPrimitive(value)) this.visit(value.valueOf(), undefined);
    else if (types.isRegExp(value)) this.#add(value.source.length);
    else if (types.isDate(value)) this.#add(16);
    // A class's instance arrives as a plain object of its own fields; one without any would
    // arrive as `{}`, and its content, kept in private state, would be lost without a word.
    else if (Object.keys(value).length === 0) {
      this.refusal = notCloneable(`holds a ${nameOf(prototype)} whose content cannot be copied`);
    } else this.#fields(value);
  }

  #fields(value: object): void {
    for (const key of Object.keys(value)) {
      this.#bytes += key.length;
      if (!this.visit((value as Record<string, unknown>)[key], key)) return;
    }
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxBytes) this.refusal = tooLarge(`is larger than ${this.#limits.maxBytes} bytes`);
  }
}

/** The root prototype of another realm, such as a `vm` context's. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}

function nameOf(prototype: object): string {
  const name = (prototype as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? name : "value";
}

function tooLarge(message: string): PayloadRefusal {
  return { reason: "too_large", message };
}

function notCloneable(message: string): PayloadRefusal {
  return { reason: "not_cloneable", message };
}
