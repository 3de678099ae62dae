/** What of a step's input is wrong already, whatever its stand-ins come to. */
import type { SchemaViolation, ToolSpec } from "../index.js";
import { unknownField, type Fault } from "./fault.js";
import { knownInput, type UnknownValue } from "./known-input.js";
import type { PlanStep } from "./plan-file.js";
import { keysOf, pointerTo } from "./pointer.js";
import { violationsOf } from "./schema-check.js";

/** Keywords that look at an object's names or at a list's length, not at the values in it. */
const OF_SHAPE = [
  "type",
  "required",
  "additionalProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "minItems",
  "maxItems",
];

/** @returns what is wrong; keys start at the step */
export function checkInput({ input = {} }: PlanStep, spec: ToolSpec): Fault[] {
  const { value, unknown } = knownInput(input);
  return violationsOf(spec.name, spec.inputSchema, value)
    .filter((violation) => isCertain(violation, spec.inputSchema, unknown))
    .map((violation) => {
      const { instancePath } = violation;
      const { keys, message } = unknownField(violation, spec.inputSchema, `the input of "${spec.name}"`) ?? {
        keys: keysOf(instancePath) ?? [],
        message: `the input of "${spec.name}"${instancePath === "" ? "" : ` at ${instancePath}`} ${violation.message}`,
      };
      return { keys: ["input", ...keys], message };
    });
}

/** Whether no value that is still unknown can make a violation go away. */
function isCertain(
  { instancePath, schemaPath, keyword }: SchemaViolation,
  schema: object | boolean,
  unknown: readonly UnknownValue[],
): boolean {
  if (unknown.length === 0) return true;
  const isUnknownBelow = (at: string): boolean =>
    unknown.some(({ pointer }) => pointer === at || pointer.startsWith(`${at}/`));
  const inside = unknown.find(({ pointer }) => instancePath === pointer || instancePath.startsWith(`${pointer}/`));
  if (inside && !(inside.isText && inside.pointer === instancePath && keyword === "type")) return false;
  if (!OF_SHAPE.includes(keyword) && isUnknownBelow(instancePath)) return false;
  const place = branchPlace(schemaPath, instancePath, schema);
  return place === undefined || !isUnknownBelow(place);
}

/** How many keys of a schema's path a keyword takes that always applies, and how many of the value's path. */
const PLAIN: Readonly<Record<string, readonly [schema: number, value: number]>> = {
  properties: [2, 1],
  patternProperties: [2, 1],
  prefixItems: [2, 1],
  items: [1, 1],
  additionalItems: [1, 1],
  additionalProperties: [1, 1],
  propertyNames: [1, 0],
  allOf: [2, 0],
};

/** Keywords under which a subschema applies, or not, by what a value is. */
const BRANCHING = new Set([
  ...["if", "then", "else", "anyOf", "oneOf", "not", "contains", "dependentSchemas", "dependencies"],
  ...["unevaluatedProperties", "unevaluatedItems", "$dynamicRef"],
]);

/** The value by which the outermost branch is chosen through which a schema's path leads; undefined where there is none. */
function branchPlace(schemaPath: string, instancePath: string, schema: object | boolean): string | undefined {
  const keys = keysOf(schemaPath) ?? [];
  const places = keysOf(instancePath) ?? [];
  let depth = 0;
  for (let at = 0; at < keys.length - 1;) {
    const plain = PLAIN[keys[at] ?? ""];
    if (!plain) {
      // A subschema that is referred to is named by where it stands, which does not say what led there.
      const isReferred = !BRANCHING.has(keys[at] ?? "");
      return isReferred && !hasBranches(schema) ? undefined : pointerTo(places.slice(0, isReferred ? 0 : depth));
    }
    // Before 2020-12 the `items` of a tuple are a list.
    const isListed = keys[at] === "items" && /^\d+$/.test(keys[at + 1] ?? "");
    at += isListed ? 2 : plain[0];
    depth += plain[1];
  }
  return undefined;
}

/** Whether a keyword that branches occurs anywhere; a property of such a name counts too, which only hides a fault. */
function hasBranches(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).some(([key, member]) => BRANCHING.has(key) || hasBranches(member));
}
