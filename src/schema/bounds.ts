/** What bounds the work of a check, written into the code that ajv makes. */
import { Name, _, type Ajv, type Code, type KeywordCxt } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { SchemaFault } from "./fault.js";
import { keywordCode, type KeywordCode } from "./keywords.js";
import { MAX_DATA_DEPTH, measureDepth, METER, spend, TEXT_PER_VALUE } from "./meter.js";
import type { Dialect } from "./shape.js";
import { MAX_VIOLATIONS } from "./violations.js";

/** Most subschemas that a schema may unfold into while references are inlined: ajv takes about a second for them. */
const MAX_UNFOLDED = 20_000;

const ERRORS = new Name("errors");
const INSTANCE_PATH = new Name("instancePath");

/** Keywords that apply a subschema in a loop over the data. `items` does unless it is a list. */
const LOOPS = new Set([
  ...["items", "additionalItems", "unevaluatedItems"],
  ...["additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"],
]);

/** Keywords that read the whole of a string. */
const READERS = new Set(["minLength", "maxLength", "format"]);

/**
 * Keywords that look for each of their names in an object, and the steps of sixteen look-ups. A name that is
 * required and missing makes a violation, which takes far longer than a look-up.
 */
const SEARCHES = new Map([
  ["required", 16],
  ...["properties", "dependentRequired", "dependentSchemas", "dependencies"].map((keyword) => [keyword, 1] as const),
]);

/** The steps that a keyword takes for the names that it looks for; none for a few, which are all that most have. */
function searchSteps({ keyword, schema, it }: KeywordCxt): number {
  const steps = SEARCHES.get(keyword);
  // Where one violation is enough, `required` ends at the first name that is missing.
  if (steps === undefined || (keyword === "required" && it.allErrors !== true)) return 0;
  return steps * Math.floor(Object.keys(schema as object).length / 16);
}

/**
 * Adds to the code of every keyword what bounds a check: steps are counted in loops, for long strings and lists of
 * names, and everywhere in a metered schema; a loop ends once it has found more violations than are reported.
 */
export function bound(ajv: Ajv | Ajv2020, dialect: Dialect, metered: boolean): void {
  let unfolded = 0;

  const instrument =
    (keyword: string, code: KeywordCode): KeywordCode =>
    (cxt, ruleType) => {
      const { gen, it } = cxt;
      // In draft-07 the siblings of a `$ref` do not count.
      if (dialect === "draft-07" && keyword !== "$ref" && it.schema["$ref"] !== undefined) return;
      const step = (steps: number | Code = 1): void => {
        const meter = gen.scopeValue("obj", { ref: METER });
        gen.if(_`(${meter}.left -= ${steps}) < 0`, () => gen.code(_`${gen.scopeValue("func", { ref: spend })}(0)`));
      };
      const searching = searchSteps(cxt);
      if (searching > 0) step(searching);
      if (READERS.has(keyword) && ruleType === "string") {
        step(_`(${cxt.data}.length / ${TEXT_PER_VALUE} | 0)`);
      }
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
      code(cxt, ruleType);
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
      if (!("code" in definition)) continue;
      rule.definition = { ...definition, code: instrument(rule.keyword, keywordCode(rule.keyword, definition.code)) };
    }
  }
}
