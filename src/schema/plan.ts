/** What has to be known about a schema before it is compiled, and how it is made ready. */
import { SchemaFault } from "./fault.js";
import { measureGraph, type Edge } from "./graph.js";
import { resolveReferences, type SchemaReferences } from "./references.js";
import { isNode, type Dialect, type SchemaNode } from "./shape.js";
import { SchemaSurvey } from "./survey.js";
import { isKeyword, subschemasOf } from "./vocabulary.js";

/** Most different patterns, and most references; ajv takes time quadratic in both. */
const MAX_PATTERNS = 1_000;
const MAX_REFERENCES = 2_000;
/** Most subschemas beside an `unevaluatedProperties` or `unevaluatedItems`, for the same reason. */
const MAX_UNEVALUATED = 5_000;
/** Work for one value, in subschemas, from which on a check is metered throughout. */
const METERED_COST = 500;
/** Most `$dynamicAnchor`s inside each other: each doubles what is compiled. */
const MAX_NESTED_ANCHORS = 6;

/** How to compile a schema. */
export interface SchemaPlan {
  /** Where each subschema stands, as a JSON Pointer. */
  readonly pointers: ReadonlyMap<object, string>;
  /** Where each pattern stands. */
  readonly patterns: ReadonlyMap<string, string>;
  /** Whether the schema is recursive or large, so that the work of a check has to be counted. */
  readonly metered: boolean;
  /** Whether the schema refers to the meta-schema of its dialect. */
  readonly usesMetaSchema: boolean;
  /** Whether it has to be known which properties and items were evaluated. */
  readonly unevaluated: boolean;
  /** Whether references have to be resolved in the scope of the caller. */
  readonly dynamic: boolean;
}

/**
 * Walks a copied schema and prepares it in place: only keywords of the dialect stay, and whatever a
 * `$ref` leads through.
 *
 * @throws SchemaFault when the schema is too deep or too large, or a `$ref` that matters leads nowhere or in a circle
 */
export function planSchema(root: SchemaNode, dialect: Dialect): SchemaPlan {
  const survey = new SchemaSurvey(root, dialect);
  const references = resolveReferences(survey);
  refuseExcess(survey, references);
  clean(survey, references);
  const cost = costOf(survey, references);
  // What ajv alone can find may hold any keyword.
  const { opaque, usesMetaSchema } = references;
  const unevaluated = opaque || survey.unevaluated;
  const dynamic = opaque || references.dynamic;
  const { pointers, patterns } = survey;
  return { pointers, patterns, metered: dynamic || cost > METERED_COST, usesMetaSchema, unevaluated, dynamic };
}

function refuseExcess(survey: SchemaSurvey, { dynamic }: SchemaReferences): void {
  const { pointers, patterns, references, unevaluated, nestedAnchors } = survey;
  const limits: readonly (readonly [number, number, string])[] = [
    [patterns.size, MAX_PATTERNS, "patterns"],
    [new Set(references.map(({ from }) => from["$ref"])).size, MAX_REFERENCES, "references"],
    [unevaluated ? pointers.size : 0, MAX_UNEVALUATED, "subschemas beside unevaluatedProperties or unevaluatedItems"],
  ];
  for (const [count, most, what] of limits) {
    if (count > most) throw new SchemaFault(`the schema is too large: more than ${most} ${what}`);
  }
  if (dynamic && nestedAnchors > MAX_NESTED_ANCHORS) {
    throw new SchemaFault(`the schema is too deep: more than ${MAX_NESTED_ANCHORS} levels of $dynamicAnchor`);
  }
}

/** Removes what is no keyword of the dialect, or would mean something to ajv alone. */
function clean({ root, dialect, pointers }: SchemaSurvey, { opaque, dynamic, passed }: SchemaReferences): void {
  // Without other resources nothing refers to it any more, and ajv refuses what is no URI.
  if (!opaque) delete root["$id"];
  for (const node of pointers.keys()) {
    // Without a `$dynamicRef` a dynamic anchor is a plain one, and ajv compiles what holds one twice.
    const { $dynamicAnchor } = node;
    if (!dynamic && $dynamicAnchor !== undefined && node["$anchor"] === undefined) {
      node["$anchor"] = $dynamicAnchor;
      delete node["$dynamicAnchor"];
    }
    if (dialect === "draft-07" && node["$ref"] !== undefined) delete node["type"];
    for (const key of Object.keys(node)) {
      if (isKeyword(key, dialect) || passed.get(node)?.has(key)) continue;
      if (!opaque || key === "$async" || key === "nullable" || key === "id") Reflect.deleteProperty(node, key);
    }
  }
}

/**
 * How many subschemas a check of one value may visit.
 *
 * @throws SchemaFault for a `$ref` that leads nowhere, or in a circle without taking any data
 */
function costOf({ root, dialect, pointers }: SchemaSurvey, { opaque, targets }: SchemaReferences): number {
  const fault = (node: SchemaNode, message: string, keyword = ""): SchemaFault => {
    const pointer = pointers.get(node) ?? "";
    return new SchemaFault(message, keyword === "" ? pointer : `${pointer}/${keyword}`, keyword);
  };
  const edgesOf = function* (node: SchemaNode): Generator<Edge> {
    const reference = node["$ref"];
    if (typeof reference === "string" && !opaque) {
      const target = targets.get(node);
      if (isNode(target)) yield { target, inPlace: true };
      else if (typeof target !== "boolean") {
        const shown = JSON.stringify(reference.slice(0, 200));
        const problem = target === undefined ? "leads nowhere" : "does not lead to a schema";
        throw fault(node, `$ref ${shown} ${problem}`, "$ref");
      }
      if (dialect === "draft-07") return;
    }
    for (const { node: target, applies } of subschemasOf(node, dialect)) {
      if (applies !== "never") yield { target, inPlace: applies === "in place" };
    }
  };
  return measureGraph(root, edgesOf, (node) => fault(node, "the schema refers to itself without taking any data"));
}
