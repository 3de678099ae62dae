/** Objects of named fields that callers hand in: checked by a schema, with a hint where a name is misspelt. */
import type { SchemaViolation } from "../protocol/errors.js";
import type { CompiledSchema } from "../schema/compiler.js";
import { describeViolations } from "../schema/violations.js";
import { isObject, unknownField } from "./arguments.js";

/** What is wrong with such an object. */
export interface FieldProblem {
  /** Continues a sentence, and has no full stop. */
  readonly text: string;
  readonly errors: readonly SchemaViolation[];
}

/** @param known the fields that there are */
export function fieldProblem(check: CompiledSchema, known: object, value: unknown): FieldProblem | undefined {
  const errors = check.check(value);
  if (!errors) return undefined;
  const unknown = isObject(value) ? unknownField(value, Object.keys(known)) : undefined;
  return { text: unknown ?? describeViolations(errors), errors };
}
