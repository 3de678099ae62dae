/** The keywords of each dialect that assert something or lead to subschemas. */
import { isNode, segment, type Dialect, type SchemaNode } from "./shape.js";

/** Where a keyword's subschemas are, and whether they apply to the same value, to a part of it, or not at all. */
interface Place {
  /** The value itself, or the entries of a list or of a map. */
  readonly form: "one" | "many" | "map";
  readonly applies: "in place" | "to parts" | "never";
}

type Subschemas = Readonly<Record<string, Place>>;

const inPlace = { one: { form: "one", applies: "in place" }, many: { form: "many", applies: "in place" } } as const;
const parts = {
  one: { form: "one", applies: "to parts" },
  many: { form: "many", applies: "to parts" },
  map: { form: "map", applies: "to parts" },
} as const;
const dependent = { form: "map", applies: "in place" } as const;
const definitions = { form: "map", applies: "never" } as const;

const SHARED_SUBSCHEMAS: Subschemas = {
  __proto__: null as never,
  allOf: inPlace.many,
  anyOf: inPlace.many,
  oneOf: inPlace.many,
  not: inPlace.one,
  if: inPlace.one,
  then: inPlace.one,
  else: inPlace.one,
  properties: parts.map,
  patternProperties: parts.map,
  additionalProperties: parts.one,
  propertyNames: parts.one,
  items: parts.one,
  contains: parts.one,
  $defs: definitions,
  definitions,
};

/** Keywords with subschemas, by dialect. `items` of draft-07 may also be a list. */
const SUBSCHEMAS: Readonly<Record<Dialect, Subschemas>> = {
  "2020-12": {
    __proto__: null as never,
    ...SHARED_SUBSCHEMAS,
    prefixItems: parts.many,
    unevaluatedItems: parts.one,
    unevaluatedProperties: parts.one,
    dependentSchemas: dependent,
  },
  "draft-07": {
    __proto__: null as never,
    ...SHARED_SUBSCHEMAS,
    additionalItems: parts.one,
    dependencies: dependent,
  },
};

const SHARED_MARKS = (
  "$id $ref type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern " +
  "maxItems minItems uniqueItems maxProperties minProperties required format"
).split(" ");

/** Keywords without subschemas that the compiler needs, by dialect. */
const MARKS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  "2020-12": new Set([
    ...SHARED_MARKS,
    ...["$anchor", "$dynamicAnchor", "$dynamicRef", "dependentRequired", "maxContains", "minContains"],
  ]),
  "draft-07": new Set(SHARED_MARKS),
};

/** Whether a keyword of the dialect asserts something, names or refers to something, or leads to subschemas. */
export function isKeyword(key: string, dialect: Dialect): boolean {
  return key in SUBSCHEMAS[dialect] || MARKS[dialect].has(key);
}

/** A subschema as its parent holds it. */
export interface Subschema {
  readonly node: SchemaNode;
  /** JSON Pointer from the parent. */
  readonly path: string;
  readonly applies: Place["applies"];
}

/** The subschemas that the keywords of a schema hold, without those that are a boolean. */
export function* subschemasOf(parent: SchemaNode, dialect: Dialect): Generator<Subschema> {
  for (const [keyword, { form, applies }] of Object.entries(SUBSCHEMAS[dialect])) {
    const value = parent[keyword];
    if (typeof value !== "object" || value === null) continue;
    if (isNode(value) && form === "one") yield { node: value, path: `/${keyword}`, applies };
    else if (Array.isArray(value) === (form === "many") || keyword === "items") {
      for (const [key, node] of Object.entries(value)) {
        if (isNode(node)) yield { node, path: `/${keyword}${segment(key)}`, applies };
      }
    }
  }
}
