/** Checks what goes into a tool and what comes out of it against the tool's specification. */
import { ToolRuntimeError, ToolSchemaValidationError } from "../protocol/errors.js";
import type { JsonSchema, ToolSpec } from "../protocol/tool.js";
import { SchemaCache } from "./cache.js";
import { describeViolations } from "./violations.js";

const shared = new SchemaCache();

function validate(title: string, tool: string, schema: JsonSchema, value: unknown): void {
  const errors = shared.compile(schema).check(value);
  if (errors === undefined) return;
  const message = `${title} validation failed for tool "${tool}": ${describeViolations(errors)}`;
  throw new ToolSchemaValidationError(message, { errors, schema, details: { tool } });
}

/**
 * Checks an input against the tool's schema.
 * @throws ToolSchemaValidationError whose message starts `Input validation failed`
 * @example
 * ```ts
 * import { validateToolInput } from "toolcell";
 *
 * try {
 *   validateToolInput({ name: "acme/count", inputSchema: { type: "object", required: ["path"] } }, {});
 * } catch (error) {
 *   console.log((error as Error).message);
 *   // → Input validation failed for tool "acme/count": value must have required property 'path'
 * }
 * ```
 */
export function validateToolInput(spec: Pick<ToolSpec, "name" | "inputSchema">, input: unknown): void {
  assertSpec(spec);
  validate("Input", spec.name, spec.inputSchema, input);
}

/**
 * Checks an output against the tool's schema; a tool without one may answer anything.
 * @throws ToolSchemaValidationError whose message starts `Output validation failed`
 * @example
 * ```ts
 * import { validateToolOutput } from "toolcell";
 *
 * try {
 *   validateToolOutput({ name: "acme/count", outputSchema: { type: "integer" } }, "7");
 * } catch (error) {
 *   console.log((error as Error).message); // → Output validation failed for tool "acme/count": value must be integer
 * }
 * ```
 */
export function validateToolOutput(spec: Pick<ToolSpec, "name" | "outputSchema">, output: unknown): void {
  assertSpec(spec);
  if (spec.outputSchema !== undefined) validate("Output", spec.name, spec.outputSchema, output);
}

function assertSpec(spec: unknown): void {
  if (typeof spec === "object" && spec !== null) return;
  throw new ToolRuntimeError("A value is checked against a specification, which must be an object.", {
    code: "INVALID_ARGUMENT",
  });
}
