/**
 * Carries errors over a thread. Structured clone drops class, code, custom names and own
 * fields; this codec keeps them, bounded, and a field that cannot travel costs that field only.
 */
import { ERROR_CLASSES, ToolSchemaValidationError } from "./errors.js";
import { measurePayload, type PayloadLimits } from "./payload.js";

/** An error as plain data. */
export interface EncodedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly cause?: EncodedError;
  /** Members of an AggregateError. */
  readonly errors?: readonly EncodedError[];
  /** Set where something that is no Error was thrown. */
  readonly thrown?: unknown;
}

const MAX_TEXT = 65_536;
const MAX_DEPTH = 8;
/** Errors in one encoded error, causes and members together. */
const MAX_ERRORS = 64;
const MAX_MEMBERS = 16;
const MAX_FIELDS = 64;
const FIELD_LIMITS: PayloadLimits = { maxBytes: 1_048_576, maxDepth: 64, maxValues: 10_000 };
const OWN_KEYS = new Set(["name", "message", "stack", "cause", "code", "__proto__"]);

/** Encodes anything that can be thrown. Never throws. */
export function encodeError(thrown: unknown): EncodedError {
  return new Encoder().encode(thrown, 0);
}

class Encoder {
  #left = MAX_ERRORS;

  encode(thrown: unknown, depth: number): EncodedError {
    this.#left--;
    try {
      return isErrorLike(thrown) ? this.#error(thrown, depth) : other(thrown);
    } catch {
      return { name: "Error", message: "the thrown value cannot be read" };
    }
  }

  #error(error: Error, depth: number): EncodedError {
    const stack = read(error, "stack");
    const code = read(error, "code");
    const members = membersOf(error);
    const fields = ownFields(error, members !== undefined);
    const cause = read(error, "cause");
    const deeper = depth < MAX_DEPTH;
    return {
      name: text(read(error, "name"), "Error"),
      message: text(read(error, "message"), ""),
      ...(typeof stack === "string" && { stack: text(stack, "") }),
      ...(typeof code === "number" && { code }),
      ...(typeof code === "string" && { code: text(code, "") }),
      ...(fields && { fields }),
      ...(cause !== undefined && deeper && this.#left > 0 && { cause: this.encode(cause, depth + 1) }),
      ...(members && { errors: deeper ? this.#members(members, depth) : [] }),
    };
  }

  #members(members: readonly unknown[], depth: number): EncodedError[] {
    const encoded: EncodedError[] = [];
    for (let index = 0; index < members.length && encoded.length < MAX_MEMBERS && this.#left > 0; index++) {
      encoded.push(this.encode(members[index], depth + 1));
    }
    return encoded;
  }
}

function other(thrown: unknown): EncodedError {
  const message = typeof thrown === "string" ? text(thrown, "") : `threw a value that is no Error: ${kindOf(thrown)}`;
  const copy = cloneable(thrown);
  return { name: "Error", message, ...(copy !== undefined && { thrown: copy }) };
}

/** Restores an error: toolcell's own classes, the built-in ones, or an Error of the same name. */
export function decodeError(encoded: EncodedError): Error {
  return decode(encoded, 0);
}

function decode(encoded: Partial<EncodedError> | undefined, depth: number): Error {
  // What a cell sends may have any form.
  const { name, message, stack, code, fields, cause, errors, thrown } = encoded ?? {};
  const deeper = depth <= MAX_DEPTH;
  const because =
    typeof cause === "object" && (cause as unknown) !== null && deeper ? decode(cause, depth + 1) : undefined;
  const members =
    Array.isArray(errors) && deeper
      ? errors.slice(0, MAX_MEMBERS).map((member) => decode(member as EncodedError, depth + 1))
      : undefined;
  const error = construct(text(name, "Error"), text(message, ""), members, because);
  if (typeof stack === "string") define(error, "stack", stack, false);
  if (typeof fields === "object" && (fields as unknown) !== null) {
    for (const [key, value] of Object.entries(fields).slice(0, MAX_FIELDS))
      if (!OWN_KEYS.has(key)) define(error, key, value, true);
  }
  if (typeof code === "string" || typeof code === "number") define(error, "code", code, true);
  if (thrown !== undefined) define(error, "thrown", thrown, false);
  return error;
}

type ErrorConstructor = new (message: string, options?: ErrorOptions) => Error;

const CLASSES = new Map<string, ErrorConstructor>(
  Object.entries({ ...ERROR_CLASSES, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }),
);

function construct(name: string, message: string, members: Error[] | undefined, cause: Error | undefined): Error {
  const options = cause ? { cause } : undefined;
  const constructor = CLASSES.get(name);
  const error =
    members && !constructor
      ? new AggregateError(members, message, options)
      : new (constructor ?? Error)(message, options);
  if (error.name !== name) define(error, "name", name, false);
  return error;
}

function isErrorLike(value: unknown): value is Error {
  if (value instanceof Error) return true;
  // An Error of another realm, or a DOMException, is recognised by its shape.
  return (
    typeof value === "object" &&
    value !== null &&
    typeof read(value, "message") === "string" &&
    typeof read(value, "name") === "string"
  );
}

/** The members of an AggregateError; other errors may have an own field of that name. */
function membersOf(error: object): readonly unknown[] | undefined {
  if (error instanceof ToolSchemaValidationError) return undefined;
  const members = read(error, "errors");
  try {
    return Array.isArray(members) &&
      (error instanceof AggregateError || members.every((member) => member instanceof Error))
      ? (members as unknown[])
      : undefined;
  } catch {
    return undefined;
  }
}

function ownFields(error: object, hasMembers: boolean): Record<string, unknown> | undefined {
  let fields: Record<string, unknown> | undefined;
  let count = 0;
  for (const key of keysOf(error)) {
    if (OWN_KEYS.has(key) || (hasMembers && key === "errors")) continue;
    if (++count > MAX_FIELDS) break;
    const value = cloneable(read(error, key));
    if (value !== undefined) (fields ??= {})[key] = value;
  }
  return fields;
}

function keysOf(target: object): string[] {
  try {
    return Object.keys(target);
  } catch {
    return [];
  }
}

/** A copy that can travel, or undefined. Shared memory would change after it was checked, so it stays behind. */
function cloneable(value: unknown): unknown {
  if (typeof value === "string") return text(value, "");
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  }
  if (typeof measurePayload(value, FIELD_LIMITS) !== "number") return undefined;
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}

function read(target: object, key: string): unknown {
  try {
    return (target as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function text(value: unknown, missing: string): string {
  if (typeof value !== "string") return missing;
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)` : value;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, enumerable, writable: true, configurable: true });
}
