/** What is wrong with a plan, and where in it. */
import type { SchemaViolation } from "../index.js";
import { nearest } from "../nearest.js";
import { keysOf, lookup } from "./pointer.js";

/** A fault and where in the plan it stands. */
export interface Fault {
  readonly keys: readonly (string | number)[];
  readonly message: string;
}

/** Which of the known names was probably meant, as the end of a message. */
export function hint(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

/** A field that is not known stands at itself rather than at what holds it, and was probably meant to be another. */
export function unknownField(
  { instancePath, schemaPath, keyword, message }: SchemaViolation,
  schema: object | boolean,
  where: string,
): Fault | undefined {
  const [, quoted] = keyword === "additionalProperties" ? (/\((".*")\)$/.exec(message) ?? []) : [];
  if (quoted === undefined) return undefined;
  const field = String(JSON.parse(quoted));
  const holder = lookup(schema, (keysOf(schemaPath) ?? []).slice(0, -1)).value as { properties?: object } | undefined;
  const known = Object.keys(holder?.properties ?? {});
  const meant = nearest(field, known);
  const suggestion = meant === undefined ? `known are ${known.join(", ")}` : `did you mean "${meant}"?`;
  return {
    keys: [...(keysOf(instancePath) ?? []), field],
    message: `${where} has no field "${field}" here; ${suggestion}`,
  };
}
