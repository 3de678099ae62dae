/** Values held against schemas, and schemas that cannot be used told apart from values that break one. */
import { ToolSchemaValidationError, validateToolInput, type JsonSchema, type SchemaViolation } from "../index.js";

/** How a value breaks a schema. @throws ToolSchemaValidationError where the schema cannot be used */
export function violationsOf(name: string, schema: object | boolean, value: unknown): readonly SchemaViolation[] {
  try {
    validateToolInput({ name, inputSchema: schema as JsonSchema }, value);
    return [];
  } catch (error) {
    if (!(error instanceof ToolSchemaValidationError) || isUnusable(error)) throw error;
    return error.errors;
  }
}

/** Why a schema cannot be used, with the keys in it that lead to the fault as a JSON Pointer. */
export function schemaProblem(schema: object | boolean): { pointer: string; message: string } | undefined {
  try {
    violationsOf("schema", schema, undefined);
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolSchemaValidationError)) throw error;
    const [first] = error.errors;
    return { pointer: first?.schemaPath ?? "", message: first?.message ?? error.message };
  }
}

/** Only what kept a schema from being compiled has a cause. */
function isUnusable(error: ToolSchemaValidationError): boolean {
  return error.cause !== undefined;
}
