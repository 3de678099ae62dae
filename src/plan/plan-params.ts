/** The values of a plan's parameters. */
import { ToolRuntimeError } from "../index.js";
import type { LoadedPlan } from "./load.js";
import { violationsOf } from "./schema-check.js";

/**
 * What is given, and else the defaults.
 * @throws ToolRuntimeError `INVALID_PLAN` where a value that is given breaks its schema
 */
export function paramsOf(
  { plan, file }: LoadedPlan,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = Object.entries(plan.params ?? {});
  for (const [name, { schema }] of known) {
    if (schema === undefined || !Object.hasOwn(given, name)) continue;
    const [violation] = violationsOf(name, schema, given[name]);
    if (!violation) continue;
    const { instancePath, message } = violation;
    throw new ToolRuntimeError(
      `The parameter "${name}" of plan ${file} cannot be used: ${instancePath === "" ? "value" : instancePath} ${message}`,
      { code: "INVALID_PLAN" },
    );
  }
  return Object.fromEntries(
    known.flatMap(([name, { default: fallback }]) => {
      if (Object.hasOwn(given, name)) return [[name, given[name]]];
      return fallback === undefined ? [] : [[name, fallback]];
    }),
  );
}
