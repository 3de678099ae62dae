/**
 * Compiles a schema. ajv does it, and nothing outside this folder knows of it; what ajv leaves open towards
 * schemas and data from strangers is closed here and in the files beside.
 */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats/dist/formats.js";
import type { SchemaViolation } from "../protocol/errors.js";
import { bound } from "./bounds.js";
import { checkOf, type Validator } from "./check.js";
import { SchemaFault } from "./fault.js";
import { linearFormats } from "./formats.js";
import { PatternEngine } from "./patterns.js";
import { planSchema, type SchemaPlan } from "./plan.js";
import type { Dialect, SchemaNode } from "./shape.js";
import { toViolations } from "./violations.js";

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /** undefined when the value holds; else the first violations, at most 100. Never throws, never changes the value. */
  check(value: unknown): readonly SchemaViolation[] | undefined;
  /** Patterns that run on the native engine since the linear one cannot express them; only a trusted schema has any. */
  readonly nativePatterns: readonly string[];
}

const FORMATS = linearFormats(formats.fullFormats);
const META_SCHEMAS: Readonly<Record<Dialect, string>> = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft-07": "http://json-schema.org/draft-07/schema",
};
/** Keywords in a referenced schema up to which it is compiled in place, which spares a call. */
const INLINED_KEYWORDS = 32;
/** Subschemas above which ajv's optimizer takes longer than it saves. */
const OPTIMIZED_SUBSCHEMAS = 1_000;

const metaValidators = new Map<Dialect, ValidateFunction>();

/** The one validator of schemas of a dialect, made at the first use. */
function metaValidator(dialect: Dialect): ValidateFunction {
  let validate = metaValidators.get(dialect);
  if (validate === undefined) {
    // Formats in a meta-schema are hints: `#/$defs/List[int]` is no URI reference and widely used.
    const options: Options = { strict: false, logger: false, validateFormats: false };
    const ajv = dialect === "draft-07" ? new Ajv(options) : new Ajv2020(options);
    validate = ajv.getSchema(META_SCHEMAS[dialect]) as ValidateFunction;
    metaValidators.set(dialect, validate);
  }
  return validate;
}

/** Compiles a copied schema in an Ajv of its own, so that nothing outlives the result. */
function compileNode(root: SchemaNode, dialect: Dialect, plan: SchemaPlan, patterns: PatternEngine): ValidateFunction {
  const regExp = Object.assign((source: string) => patterns.compile(source), { code: "re2js" });
  const options: Options = {
    strict: false,
    strictNumbers: true,
    logger: false,
    ownProperties: true,
    // Without it every property nests one block deeper in the generated code.
    allErrors: true,
    verbose: true,
    validateFormats: true,
    formats: FORMATS,
    meta: plan.usesMetaSchema,
    validateSchema: false,
    inlineRefs: INLINED_KEYWORDS,
    code: { regExp, optimize: plan.pointers.size <= OPTIMIZED_SUBSCHEMAS },
  };
  const ajv = dialect === "draft-07" ? new Ajv(options) : new Ajv2020(options);
  ajv.opts.unevaluated = plan.unevaluated;
  ajv.opts.dynamicRef = plan.dynamic;
  bound(ajv, dialect, plan.metered);
  return ajv.compile(root);
}

/**
 * Compiles a copied schema; `trusted` says whether a pattern may run natively.
 *
 * @throws SchemaFault
 */
export function compileSchema(copy: SchemaNode | boolean, dialect: Dialect, trusted: boolean): CompiledSchema {
  // ajv knows a boolean only inside a schema.
  const root = typeof copy === "boolean" ? ({ __proto__: null, ...(copy ? {} : { not: {} }) } as SchemaNode) : copy;
  const isSchema = metaValidator(dialect);
  if (!isSchema(root)) {
    const [first] = toViolations(isSchema.errors ?? [], new Map());
    throw new SchemaFault(first?.message ?? "breaks its meta-schema", first?.instancePath, first?.keyword);
  }
  const plan = planSchema(root, dialect);
  const patterns = new PatternEngine(plan.patterns, trusted);
  const validate = compileNode(root, dialect, plan, patterns);
  return Object.freeze({
    check: checkOf(validate as Validator, plan.pointers),
    nativePatterns: Object.freeze(patterns.nativePatterns),
  });
}
