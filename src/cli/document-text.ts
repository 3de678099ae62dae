/** JSON for everything that a tool may answer: what JSON has no form for is given one, or marked, never dropped. */
import { types } from "node:util";
import { printable } from "./printable.js";

/** Levels that a document may have; JSON.stringify itself runs out of stack a few thousand later. */
const MAX_DEPTH = 1_000;

/** A value on the way to where the document is being written. */
interface Level {
  readonly key: string;
  readonly value: unknown;
  /** What is written in its place, the holder of the next level. */
  readonly written: unknown;
}

/**
 * Writes a value as JSON. A BigInt is its digits, a Date ISO 8601, NaN and infinity their names, a RegExp its source;
 * a Map, a Set, an Error, bytes (base64) and typed arrays are objects of one field that names what they are. A
 * cycle is the text `[circular: pointer]`.
 * @param indent 0: all in one line
 */
export function documentText(value: unknown, indent = 2): string {
  const path: Level[] = [];
  const text = JSON.stringify(
    value,
    function (this: unknown, key: string, shown: unknown) {
      while (path.length > 0 && path.at(-1)?.written !== this) path.pop();
      // Dates have turned into text already; one that is no date into null.
      const own = (this as Record<string, unknown>)[key];
      const actual = own instanceof Date ? own : shown;
      if (typeof actual !== "object" || actual === null || actual instanceof Date) return scalar(actual);
      const at = path.findIndex((level) => level.value === actual);
      if (at >= 0) return `[circular: ${pointerOf(path.slice(1, at + 1))}]`;
      if (path.length > MAX_DEPTH) return `[deeper than ${MAX_DEPTH} levels]`;
      const written = plain(actual);
      if (typeof written === "object" && written !== null) path.push({ key, value: actual, written });
      return written;
    },
    indent,
  ) as string | undefined;
  // JSON leaves C1 as it is, and a terminal obeys it. Here it can only stand within a text.
  return printable(text ?? "null");
}

function scalar(value: unknown): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  return value;
}

/** An object in a form that JSON has. */
function plain(value: object): unknown {
  if (Array.isArray(value)) return value;
  if (types.isMap(value)) return { Map: [...value] };
  if (types.isSet(value)) return { Set: [...value] };
  if (types.isRegExp(value) || types.isBigIntObject(value)) return value.toString();
  if (types.isAnyArrayBuffer(value)) return { ArrayBuffer: base64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) return { [kindOf(value)]: viewed(value) };
  if (types.isNativeError(value)) return { [kindOf(value)]: errorFields(value) };
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  // What has no fields of its own, and is no plain object, says by its kind alone that there was something.
  return isPlain || types.isBoxedPrimitive(value) || Object.keys(value).length > 0 ? value : `[${kindOf(value)}]`;
}

function viewed(view: ArrayBufferView): unknown {
  if (types.isTypedArray(view) && !types.isUint8Array(view) && !types.isUint8ClampedArray(view)) return [...view];
  return base64(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function errorFields({ name, message, stack, cause, ...own }: Error): object {
  return { name, message, ...own, ...(cause !== undefined && { cause }), stack };
}

function kindOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } };
  return typeof constructor?.name === "string" ? constructor.name : "object";
}

/** A JSON Pointer in the document as it is written. */
function pointerOf(levels: readonly Level[]): string {
  const keys = levels.map(({ key }) => key.replaceAll("~", "~0").replaceAll("/", "~1"));
  return keys.length === 0 ? "the whole" : `/${keys.join("/")}`;
}
