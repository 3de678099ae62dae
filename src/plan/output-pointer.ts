/** Whether a pointer into a step's output can lead anywhere, by what its tool says of its output. */
import type { ToolSpec } from "../index.js";
import { nearest } from "../nearest.js";
import type { PlanStep } from "./plan-file.js";

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly type?: unknown;
}

/** Keywords through which members may come that `properties` does not name. */
const OPENING = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "patternProperties",
  "dependentSchemas",
  "prefixItems",
];

/**
 * Looks at the forms that schemas of outputs commonly have; what it does not understand may lead anywhere.
 * @param keys what follows `/steps/ID/output`
 * @returns what is wrong
 */
export function checkOutputPointer(
  step: PlanStep,
  spec: ToolSpec | undefined,
  keys: readonly string[],
): string | undefined {
  let rest = keys;
  if (step.forEach && rest.length > 0) {
    const [place = "", ...below] = rest;
    if (!/^(0|[1-9]\d*)$/.test(place))
      return `the output of "${step.id}" is a list, one member for each item; "${place}" is no place in it`;
    rest = below;
  }
  let schema: unknown = spec?.outputSchema;
  for (const key of rest) {
    if (
      typeof schema !== "object" ||
      schema === null ||
      OPENING.some((keyword) => Object.hasOwn(schema as object, keyword))
    )
      return undefined;
    const { properties = {}, additionalProperties, items, type } = schema as ObjectSchema;
    if (type === "array") schema = items;
    else if (Object.hasOwn(properties, key)) schema = properties[key];
    else if (type === "object" && additionalProperties === false) {
      const names = Object.keys(properties);
      const meant = nearest(key, names);
      return `the output of "${step.id}" (${step.tool}) has no \`${key}\`; ${meant === undefined ? `it has ${names.join(", ")}` : `did you mean \`${meant}\`?`}`;
    } else return undefined;
  }
  return undefined;
}
