/** What the tests of schemas ask. */
import { expect } from "chai";
import { ToolSchemaValidationError, type SchemaViolation } from "../../src/protocol/errors.js";
import type { JsonSchema } from "../../src/protocol/tool.js";
import { SchemaCache } from "../../src/schema/cache.js";

export const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
export const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";
export const DIALECTS = [DRAFT_07, DRAFT_2020];

export function check(schema: JsonSchema, value: unknown): readonly SchemaViolation[] | undefined {
  return new SchemaCache().compile(schema).check(value);
}

export function holds(schema: JsonSchema, value: unknown): boolean {
  return check(schema, value) === undefined;
}

/** The keywords that a value breaks. */
export function keywords(schema: JsonSchema, value: unknown): string[] {
  return (check(schema, value) ?? []).map(({ keyword }) => keyword);
}

/** Why a schema cannot be used. */
export function refusal(schema: unknown, trusted = true): ToolSchemaValidationError {
  try {
    new SchemaCache().compile(schema as JsonSchema, { trusted });
  } catch (error) {
    expect(error).to.be.instanceOf(ToolSchemaValidationError);
    return error as ToolSchemaValidationError;
  }
  throw new Error("the schema was accepted");
}

/** So many names. */
export function namesTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`);
}
