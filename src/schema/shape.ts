/** A schema as plain data: copied once, bounded, and read as the dialect that it declares. */
import type { JsonSchema } from "../protocol/tool.js";
import { SchemaFault } from "./fault.js";

/** Deepest nesting of objects and arrays in a schema, and of values that are compared as a whole. */
const MAX_JSON_DEPTH = 1_000;
/** Most objects, arrays and array entries in a schema. */
const MAX_SCHEMA_NODES = 100_000;
/** Most UTF-16 units that all keys and strings of a schema have together. */
const MAX_SCHEMA_TEXT = 8_000_000;

/** An object of the copied schema. It has no prototype, so that no key is ever found on one. */
export type SchemaNode = Record<string, unknown>;

/** The dialects that toolcell knows. */
export type Dialect = "2020-12" | "draft-07";

/** Whether a value is an object that can hold keywords. */
export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One segment of a JSON Pointer, with its slash. */
export function segment(key: string | number): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * Copies a schema as JSON would carry it. The caller may change its own object afterwards, and getters,
 * prototypes and Symbol keys of schema libraries stay outside.
 *
 * @throws SchemaFault when it is no schema, holds what JSON cannot, refers to itself, or is too deep or too large
 */
export function copySchema(schema: unknown): SchemaNode | boolean {
  if (typeof schema === "boolean") return schema;
  if (!isNode(schema)) throw new SchemaFault("a schema must be an object or a boolean");
  const ancestors = new Set<object>();
  let nodes = 0;
  let text = 0;

  const countText = (value: string, pointer: string): string => {
    if ((text += value.length) > MAX_SCHEMA_TEXT) {
      throw new SchemaFault(`the schema is too large: more than ${MAX_SCHEMA_TEXT} characters`, pointer);
    }
    return value;
  };
  const countNode = (pointer: string): void => {
    if (++nodes <= MAX_SCHEMA_NODES) return;
    throw new SchemaFault(`the schema is too large: more than ${MAX_SCHEMA_NODES} nodes`, pointer);
  };

  const copy = (value: unknown, pointer: string): unknown => {
    if (typeof value === "string") return countText(value, pointer);
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value;
      throw new SchemaFault(`${value} is not a JSON number`, pointer);
    }
    if (typeof value === "bigint") throw new SchemaFault("a bigint is not a JSON value", pointer);
    if (typeof value !== "object") return undefined;
    return copyObject(value, pointer);
  };

  const copyObject = (value: object, pointer: string): unknown => {
    if (ancestors.has(value)) throw new SchemaFault("the schema contains itself; use $ref to recurse", pointer);
    if (ancestors.size >= MAX_JSON_DEPTH) {
      throw new SchemaFault(`the schema is too deep: more than ${MAX_JSON_DEPTH} levels`);
    }
    countNode(pointer);
    ancestors.add(value);
    try {
      const toJSON: unknown = Reflect.get(value, "toJSON");
      if (typeof toJSON === "function") return copy(Reflect.apply(toJSON, value, []), pointer);
      return Array.isArray(value) ? copyList(value, pointer) : copyMap(value, pointer);
    } finally {
      ancestors.delete(value);
    }
  };

  const copyList = (list: readonly unknown[], pointer: string): unknown[] => {
    const result: unknown[] = [];
    for (let index = 0; index < list.length; index++) {
      const entry = list[index];
      if (typeof entry !== "object" || entry === null) countNode(pointer);
      result.push(copy(entry, pointer + segment(index)) ?? null);
    }
    return result;
  };

  const copyMap = (map: object, pointer: string): SchemaNode => {
    const result = Object.create(null) as SchemaNode;
    for (const key of Object.keys(map)) {
      const entry = copy(Reflect.get(map, key), pointer + segment(countText(key, pointer)));
      if (entry !== undefined) result[key] = entry;
    }
    return result;
  };

  const copied = copy(schema, "");
  if (isNode(copied) || typeof copied === "boolean") return copied;
  throw new SchemaFault("a schema must be an object or a boolean");
}

const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/**
 * The dialect that a schema declares; 2020-12 when it declares none.
 *
 * @throws SchemaFault for any dialect that toolcell does not know
 */
export function dialectOf(schema: JsonSchema): Dialect {
  if (typeof schema === "boolean" || schema["$schema"] === undefined) return "2020-12";
  const declared = schema["$schema"];
  if (typeof declared === "string") {
    if (DRAFT_2020.test(declared)) return "2020-12";
    if (DRAFT_07.test(declared)) return "draft-07";
  }
  const shown = JSON.stringify(declared).slice(0, 200);
  throw new SchemaFault(`unknown dialect ${shown}; 2020-12 and draft-07 are known`, "/$schema", "$schema");
}

/**
 * JSON text that is the same for equal values: keys are sorted, `1.0` is `1`, `-0` is `0`.
 *
 * @param visit - called with the length of each key and string and with 1 for any other value; may throw to stop
 * @throws RangeError when the value is deeper than 1,000 levels
 */
export function canonicalJson(value: unknown, visit: (size: number) => void = () => {}, depth = 0): string {
  if (typeof value === "string") {
    visit(value.length);
    return JSON.stringify(value);
  }
  visit(1);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : String(value);
  if (depth > MAX_JSON_DEPTH) throw new RangeError("too deep to compare");
  if (Array.isArray(value)) return `[${value.map((entry) => canonicalJson(entry, visit, depth + 1)).join()}]`;
  const entries: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const entry: unknown = Reflect.get(value, key);
    if (entry === undefined) continue;
    visit(key.length);
    entries.push(`${JSON.stringify(key)}:${canonicalJson(entry, visit, depth + 1)}`);
  }
  return `{${entries.join()}}`;
}
