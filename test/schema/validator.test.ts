import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import { ToolSchemaValidationError } from "../../src/protocol/errors.js";
import { validateToolInput, validateToolOutput } from "../../src/schema/validator.js";
import { namesTo } from "./questions.js";

describe("schema/validator", () => {
  describe("validateToolInput()", () => {
    const spec = { name: "acme/read", inputSchema: Type.Object({ path: Type.String(), limit: Type.Integer() }) };

    it("validateToolInput() passes a valid input and names tool and violations otherwise", () => {
      validateToolInput(spec, { path: "a", limit: 1 });
      expect(() => validateToolInput(spec, { path: 1, limit: 1 }))
        .to.throw(ToolSchemaValidationError, /^Input validation failed for tool "acme\/read": \/path must be string$/)
        .that.deep.includes({
          code: "SCHEMA_VALIDATION_FAILED",
          schema: spec.inputSchema,
          errors: [
            { instancePath: "/path", schemaPath: "/properties/path/type", keyword: "type", message: "must be string" },
          ],
        });
    });

    it("validateToolInput() reports the whole value and counts what it does not name", () => {
      const inputSchema = Type.Object(Object.fromEntries(namesTo(6).map((name) => [name, Type.String()])));
      expect(() => validateToolInput({ name: "acme/x", inputSchema }, {})).to.throw(
        "Input validation failed for tool \"acme/x\": value must have required property 'p0'; " +
          "value must have required property 'p1'; value must have required property 'p2'; and 3 more",
      );
    });
  });

  describe("validateToolOutput()", () => {
    it("validateToolOutput() checks the output schema, and passes anything without one", () => {
      validateToolOutput({ name: "acme/x" }, { any: 1 });
      validateToolOutput({ name: "acme/x", outputSchema: { type: "integer" } }, 7);
      expect(() => validateToolOutput({ name: "acme/x", outputSchema: { type: "integer" } }, "7")).to.throw(
        ToolSchemaValidationError,
        /^Output validation failed for tool "acme\/x": value must be integer$/,
      );
    });
  });
});
