/** Schemas that are compiled once and found again. */
import { createHash } from "node:crypto";
import { ToolSchemaValidationError } from "../protocol/errors.js";
import type { JsonSchema } from "../protocol/tool.js";
import { compileSchema, type CompiledSchema } from "./compiler.js";
import { toFault } from "./fault.js";
import { canonicalJson, copySchema, dialectOf } from "./shape.js";

/** Options of {@link SchemaCache.compile}. */
export interface CompileOptions {
  /** Whether a pattern that the linear engine cannot express may run natively. Default true. */
  readonly trusted?: boolean;
}

/**
 * Compiled schemas by content: two schemas of equal content share one, two of one `$id` do not for that, and the
 * one used least recently makes room.
 *
 * ```ts
 * const schema = new SchemaCache().compile({ type: "object", required: ["path"] });
 * schema.check({}); // [{ instancePath: "", keyword: "required", … }]
 * ```
 */
export class SchemaCache {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, CompiledSchema>();

  /** @param options - `maxEntries`: most compiled schemas that are kept, default 1,000 */
  constructor(options: { readonly maxEntries?: number } = {}) {
    this.#maxEntries = options.maxEntries ?? 1_000;
  }

  /** How many compiled schemas are kept. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Compiles a schema, or finds it compiled. The schema is copied, so later changes to it have no effect;
   * hold on to the result on a hot path.
   *
   * @throws ToolSchemaValidationError when the schema cannot be used
   */
  compile(schema: JsonSchema, options: CompileOptions = {}): CompiledSchema {
    const trusted = options.trusted ?? true;
    try {
      const copy = copySchema(schema);
      const dialect = dialectOf(copy);
      const key = createHash("sha256")
        .update(`${trusted} ${canonicalJson(copy)}`)
        .digest("base64");
      const compiled = this.#entries.get(key) ?? compileSchema(copy, dialect, trusted);
      this.#entries.delete(key);
      this.#entries.set(key, compiled);
      const [oldest] = this.#entries.keys();
      if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
      return compiled;
    } catch (error) {
      const { message, pointer, keyword } = toFault(error);
      throw new ToolSchemaValidationError(`Schema cannot be used: ${pointer === "" ? "" : `${pointer}: `}${message}`, {
        errors: [{ instancePath: "", schemaPath: pointer, keyword, message }],
        schema,
        cause: error,
      });
    }
  }
}
