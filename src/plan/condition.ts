/** Whether a step's `when` holds. */
import type { StepCondition } from "./plan-file.js";
import { keysOf, lookup } from "./pointer.js";
import { violationsOf } from "./schema-check.js";

/** What is not there holds nothing. @throws ToolSchemaValidationError where `matches` is no schema that can be used */
export function holds({ $from, matches, not = false }: StepCondition, scope: unknown): boolean {
  const { found, value } = lookup(scope, keysOf($from) ?? []);
  const held =
    found && (matches === undefined ? isSomething(value) : violationsOf("when", matches, value).length === 0);
  return held !== not;
}

function isSomething(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
