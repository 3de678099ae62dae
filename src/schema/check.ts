/** Runs a compiled schema over data that may be hostile. */
import type { SchemaViolation } from "../protocol/errors.js";
import { messageOf } from "./fault.js";
import { MAX_DATA_DEPTH, METER, STEP_LIMIT, stepLimit, StepsSpent, TooDeep } from "./meter.js";
import { toViolations, wholeViolation, type RawViolation } from "./violations.js";

/** A function that ajv compiled, as far as it is used. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly RawViolation[] | null;
  /** By reference, the subschemas that became functions of their own. */
  readonly schemaEnv: { readonly refs: Readonly<Record<string, unknown>> };
}

function isCompiled(reference: unknown): reference is { readonly validate: Validator } {
  return (
    typeof reference === "object" &&
    reference !== null &&
    "validate" in reference &&
    typeof reference.validate === "function"
  );
}

/** The check of a compiled schema, which bounds its work and catches whatever hostile data can do to it. */
export function checkOf(
  validate: Validator,
  pointers: ReadonlyMap<object, string>,
): (value: unknown) => readonly SchemaViolation[] | undefined {
  const functions = [validate];
  for (const reference of Object.values(validate.schemaEnv.refs)) {
    if (isCompiled(reference)) functions.push(reference.validate);
  }

  const run = (value: unknown, limit: number): readonly SchemaViolation[] | undefined => {
    const outer = METER.left;
    METER.left = limit;
    try {
      return validate(value) ? undefined : toViolations(validate.errors ?? [], pointers);
    } finally {
      METER.left = outer;
      // They would keep the value alive until the next check.
      for (const each of functions) each.errors = null;
    }
  };

  return (value) => {
    try {
      try {
        return run(value, STEP_LIMIT);
      } catch (error) {
        const limit = error instanceof StepsSpent ? stepLimit(value) : 0;
        if (limit <= STEP_LIMIT) throw error;
        return run(value, limit);
      }
    } catch (error) {
      if (error instanceof StepsSpent) return wholeViolation("work", "takes too much work to check against the schema");
      if (error instanceof TooDeep)
        return wholeViolation("depth", `must NOT be nested deeper than ${MAX_DATA_DEPTH} levels`);
      if (error instanceof RangeError) return wholeViolation("depth", "is nested too deeply or too large to check");
      return wholeViolation("value", `cannot be read: ${messageOf(error)}`);
    }
  };
}
