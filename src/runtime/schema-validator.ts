/**
 * JSON Schema for inputs and outputs. ajv compiles and nothing else in toolcell knows of it; what it leaves
 * open towards schemas and data from strangers is closed here and in the `schema-*` files.
 */
import { createHash } from "node:crypto";
import { Ajv, Name, _, type CodeKeywordDefinition, type KeywordCxt, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats/dist/formats.js";
import { ToolRuntimeError, ToolSchemaValidationError, type SchemaViolation } from "../protocol/errors.js";
import type { JsonSchema, ToolSpec } from "../protocol/tool.js";
import { checkOf, messageOf, type Validator } from "./schema-check.js";
import { equalJson, firstDuplicate, isMember, isMultiple } from "./schema-equality.js";
import { linearFormats } from "./schema-formats.js";
import { MAX_DATA_DEPTH, measureDepth, METER, spend } from "./schema-meter.js";
import { PatternEngine } from "./schema-patterns.js";
import { planSchema, type SchemaPlan } from "./schema-plan.js";
import { canonicalJson, copySchema, dialectOf, SchemaFault, type Dialect, type SchemaNode } from "./schema-shape.js";
import { describeViolations, MAX_VIOLATIONS, toViolations } from "./schema-violations.js";

export { describeViolations } from "./schema-violations.js";

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /** undefined when the value holds; else the first violations, at most 100. Never throws, never changes the value. */
  check(value: unknown): readonly SchemaViolation[] | undefined;
  /** Patterns that run on the native engine since the linear one cannot express them; only a trusted schema has any. */
  readonly nativePatterns: readonly string[];
}

/** Options of {@link SchemaCache.compile}. */
export interface CompileOptions {
  /** Whether a pattern that the linear engine cannot express may run natively. Default true. */
  readonly trusted?: boolean;
}

const FORMATS = linearFormats(formats.fullFormats);
const META_SCHEMAS: Readonly<Record<Dialect, string>> = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft-07": "http://json-schema.org/draft-07/schema",
};
/** Most subschemas that a schema may unfold into while references are inlined. */
const MAX_UNFOLDED = 300_000;
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

const ERRORS = new Name("errors");
const INSTANCE_PATH = new Name("instancePath");

/** Keywords that apply a subschema in a loop over the data. `items` does unless it is a list. */
const LOOPS = new Set([
  ...["items", "additionalItems", "unevaluatedItems"],
  ...["additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"],
]);

type KeywordCode = CodeKeywordDefinition["code"];

/** The collected names, as an object in which nothing else is found. */
function ownNames(names: unknown): unknown {
  return typeof names === "object" ? Object.assign(Object.create(null) as SchemaNode, names) : names;
}

/** Keywords whose code in ajv is quadratic, inexact, or trips over names such as `valueOf`. */
const REPLACED: Readonly<Record<string, (cxt: KeywordCxt, original: KeywordCode) => void>> = {
  uniqueItems(cxt) {
    if (cxt.schema !== true) return;
    const find = cxt.gen.scopeValue("func", { ref: firstDuplicate });
    const found = cxt.gen.const("duplicate", _`${find}(${cxt.data})`);
    cxt.setParams({ i: _`${found}.later`, j: _`${found}.earlier` });
    cxt.fail(_`${found} !== undefined`);
  },
  multipleOf(cxt) {
    cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: isMultiple })}(${cxt.data}, ${cxt.schemaCode})`);
  },
  const(cxt, original) {
    if (typeof cxt.schema !== "object" || cxt.schema === null) original(cxt);
    else cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: equalJson })}(${cxt.data}, ${cxt.schemaCode})`);
  },
  anyOf(cxt, original) {
    const branches = cxt.schema as readonly unknown[];
    // Each branch in ajv nests in the one before, unless it has to look at all of them.
    if (branches.length <= 50 || cxt.it.opts.unevaluated === true) {
      original(cxt);
      return;
    }
    const { gen } = cxt;
    const valid = gen.let("valid", false);
    const branchValid = gen.name("_valid");
    branches.forEach((_branch, schemaProp) => {
      gen.if(_`!${valid}`, () => {
        cxt.subschema({ keyword: "anyOf", schemaProp, compositeRule: true }, branchValid);
        gen.assign(valid, branchValid);
      });
    });
    cxt.result(
      valid,
      () => cxt.reset(),
      () => cxt.error(true),
    );
  },
  unevaluatedProperties(cxt, original) {
    const { gen, it } = cxt;
    const { props } = it;
    // ajv collects the names in an object with a prototype, or compares with each of them in turn.
    if (props instanceof Name) it.props = gen.const("own", _`${gen.scopeValue("func", { ref: ownNames })}(${props})`);
    else if (typeof props === "object" && Object.keys(props).length > 8) {
      it.props = gen.const("own", gen.scopeValue("obj", { ref: ownNames(props) }));
    }
    original(cxt);
  },
  enum(cxt, original) {
    const allowed = cxt.schema as readonly unknown[];
    const few = allowed.length <= 8 && allowed.every((value) => typeof value !== "object" || value === null);
    if (few && allowed.length > 0) original(cxt);
    else cxt.fail(_`!${cxt.gen.scopeValue("func", { ref: isMember })}(${cxt.data}, ${cxt.schemaCode})`);
  },
};

/**
 * Adds to the code of every keyword what bounds a check: steps are counted in loops, and everywhere in a
 * metered schema; a loop ends once it has found more violations than are reported.
 */
function bound(ajv: Ajv | Ajv2020, dialect: Dialect, metered: boolean): void {
  let unfolded = 0;

  const instrument =
    (keyword: string, original: KeywordCode): KeywordCode =>
    (cxt, ruleType) => {
      const { gen, it } = cxt;
      // In draft-07 the siblings of a `$ref` do not count.
      if (dialect === "draft-07" && keyword !== "$ref" && it.schema["$ref"] !== undefined) return;
      const step = (): void => {
        const meter = gen.scopeValue("obj", { ref: METER });
        gen.if(_`--${meter}.left < 0`, () => gen.code(_`${gen.scopeValue("func", { ref: spend })}(0)`));
      };
      if (metered && (keyword === "$ref" || keyword === "$dynamicRef")) {
        step();
        const measure = gen.scopeValue("func", { ref: measureDepth });
        const below = it.dataLevel;
        // A level is at least its slash, so that only long paths have to be counted.
        gen.if(_`${INSTANCE_PATH}.length + ${below} > ${MAX_DATA_DEPTH}`, () => {
          gen.code(_`${measure}(${INSTANCE_PATH}, ${below})`);
        });
      }
      const loops = LOOPS.has(keyword) && !Array.isArray(cxt.schema);
      if (loops) {
        const before = gen.const("before", ERRORS);
        const stop = (): void => {
          gen.if(_`${ERRORS} - ${before} > ${MAX_VIOLATIONS}`, () => gen.break());
        };
        const report = cxt.error.bind(cxt);
        const reportsInLoop = cxt.schema === false && keyword.endsWith("Properties");
        cxt.error = (...rest) => {
          report(...rest);
          if (reportsInLoop) stop();
        };
        onSubschema(cxt, () => {
          step();
          stop();
        });
      } else if (keyword === "contains") {
        // Violations of items that are not the one looked for are of no interest.
        onSubschema(cxt, () => {
          step();
          gen.if(_`${ERRORS} - ${cxt.errsCount ?? 0} > 10`, () => cxt.reset());
        });
      } else {
        onSubschema(cxt, () => {
          if (metered) step();
        });
      }
      const replaced = Object.hasOwn(REPLACED, keyword) ? REPLACED[keyword] : undefined;
      if (replaced !== undefined) replaced(cxt, original);
      else original(cxt, ruleType);
    };

  const onSubschema = (cxt: KeywordCxt, before: () => void): void => {
    const enter = cxt.subschema.bind(cxt);
    cxt.subschema = (application, valid) => {
      if (++unfolded > MAX_UNFOLDED) {
        throw new SchemaFault(`the schema is too large: it unfolds into more than ${MAX_UNFOLDED} subschemas`);
      }
      before();
      // ajv stops an `if` at its first violation, at the price of one more level for each property.
      return enter(cxt.keyword === "if" ? { ...application, allErrors: true } : application, valid);
    };
  };

  for (const { rules } of [...ajv.RULES.rules, ajv.RULES.post]) {
    for (const rule of rules) {
      const { definition } = rule;
      if ("code" in definition) rule.definition = { ...definition, code: instrument(rule.keyword, definition.code) };
    }
  }
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

/** Puts whatever went wrong with a schema into words. */
function toFault(error: unknown): SchemaFault {
  if (error instanceof SchemaFault) return error;
  if (error instanceof RangeError) return new SchemaFault("the schema is too deep or too large to compile");
  return new SchemaFault(messageOf(error).slice(0, 300));
}

/** @throws SchemaFault */
function compileCopy(copy: SchemaNode | boolean, dialect: Dialect, trusted: boolean): CompiledSchema {
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

/**
 * Compiled schemas by content: two schemas of equal content share one, whatever their `$id`, and the one
 * used least recently makes room.
 *
 * @example
 * const schema = new SchemaCache().compile({ type: "object", required: ["path"] });
 * schema.check({}); // [{ instancePath: "", keyword: "required", … }]
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
      const compiled = this.#entries.get(key) ?? compileCopy(copy, dialect, trusted);
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

const shared = new SchemaCache();

function validate(title: string, tool: string, schema: JsonSchema, value: unknown): void {
  const errors = shared.compile(schema).check(value);
  if (errors === undefined) return;
  const message = `${title} validation failed for tool "${tool}": ${describeViolations(errors)}`;
  throw new ToolSchemaValidationError(message, { errors, schema, details: { tool } });
}

/**
 * Checks an input against the tool's schema.
 *
 * @throws ToolSchemaValidationError whose message starts `Input validation failed`
 *
 * @example
 * validateToolInput({ name: "acme/count", inputSchema: { type: "object", required: ["path"] } }, {});
 * // Input validation failed for tool "acme/count": value must have required property 'path'
 */
export function validateToolInput(spec: Pick<ToolSpec, "name" | "inputSchema">, input: unknown): void {
  assertSpec(spec);
  validate("Input", spec.name, spec.inputSchema, input);
}

/**
 * Checks an output against the tool's schema; a tool without one may answer anything.
 *
 * @throws ToolSchemaValidationError whose message starts `Output validation failed`
 *
 * @example
 * validateToolOutput({ name: "acme/count", outputSchema: { type: "integer" } }, "7");
 * // Output validation failed for tool "acme/count": value must be integer
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
