/** Turns what ajv reports into violations that a person, or a model, can act on. */
import type { SchemaViolation } from "../protocol/errors.js";
import { segment } from "./shape.js";

/** Most violations that are reported. */
export const MAX_VIOLATIONS = 100;
/** Violations that a message names; the rest are counted. */
const NAMED = 3;
const MESSAGE_LENGTH = 300;
const PATH_LENGTH = 120;

/** What ajv reports, as far as it is used. */
export interface RawViolation {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly parentSchema?: unknown;
}

/** One line of bounded length, whatever the text holds. */
function oneLine(text: string, length: number): string {
  const short = text.length > length ? `${text.slice(0, length)}…` : text;
  return short.replace(/[\p{Cc}\u2028\u2029]/gu, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function messageOf(violation: RawViolation): string {
  const { keyword, params, message } = violation;
  if (keyword === "type" && Array.isArray(params["type"])) return `must be ${params["type"].join(" or ")}`;
  return `${message ?? "must be valid"}${detailOf(violation)}`;
}

function detailOf({ keyword, params }: RawViolation): string {
  const named = params["additionalProperty"] ?? params["unevaluatedProperty"] ?? params["propertyName"];
  if (typeof named === "string") return ` (${JSON.stringify(named.slice(0, PATH_LENGTH))})`;
  if (keyword === "const") return ` (${JSON.stringify(params["allowedValue"])})`;
  if (keyword !== "enum" || !Array.isArray(params["allowedValues"])) return "";
  const values: readonly unknown[] = params["allowedValues"];
  const shown = values.slice(0, 20).map((value) => JSON.stringify(value));
  return ` (${shown.join(", ")}${values.length > shown.length ? ", …" : ""})`;
}

/** ajv writes a URI fragment, relative to the subschema that it compiled as a function of its own. */
function pointerOf(raw: RawViolation, pointers: ReadonlyMap<object, string>): string {
  const { parentSchema, keyword, schemaPath } = raw;
  const parent = typeof parentSchema === "object" && parentSchema !== null ? pointers.get(parentSchema) : undefined;
  if (parent !== undefined) return parent + segment(keyword);
  return decodeURIComponent(schemaPath.slice(schemaPath.indexOf("#") + 1).replace(/\/false schema$/, ""));
}

/** The first violations, with pointers into the whole schema. */
export function toViolations(
  raw: readonly RawViolation[],
  pointers: ReadonlyMap<object, string>,
): readonly SchemaViolation[] {
  return raw.slice(0, MAX_VIOLATIONS).map((violation) => ({
    instancePath: violation.instancePath,
    schemaPath: pointerOf(violation, pointers),
    keyword: violation.keyword,
    message: oneLine(messageOf(violation), MESSAGE_LENGTH),
  }));
}

/** A violation that stands for the check as a whole. */
export function wholeViolation(keyword: string, message: string): readonly SchemaViolation[] {
  return [{ instancePath: "", schemaPath: "", keyword, message: oneLine(message, MESSAGE_LENGTH) }];
}

/**
 * Violations as one short line: `/path must be string; /limit must be <= 10; and 4 more`.
 */
export function describeViolations(violations: readonly SchemaViolation[]): string {
  const parts = violations.slice(0, NAMED).map(({ instancePath, message }) => {
    return `${instancePath === "" ? "value" : oneLine(instancePath, PATH_LENGTH)} ${message}`;
  });
  const rest = violations.length - parts.length;
  if (rest > 0) parts.push(`and ${violations.length >= MAX_VIOLATIONS ? "at least " : ""}${rest} more`);
  return parts.join("; ");
}
