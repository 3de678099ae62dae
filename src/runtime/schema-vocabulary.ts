/** The keywords of each dialect that assert something or lead to subschemas. */
import type { Dialect } from "./schema-shape.js";

/** Where a keyword's subschemas are, and whether they apply to the same value, to a part of it, or not at all. */
export interface Subschema {
  /** The value itself, or the entries of a list or of a map. */
  readonly form: "one" | "many" | "map";
  readonly applies: "in place" | "to parts" | "never";
}

/** Keywords with subschemas. */
export type Subschemas = Readonly<Record<string, Subschema>>;

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
export const SUBSCHEMAS: Readonly<Record<Dialect, Subschemas>> = {
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
export const MARKS: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  "2020-12": new Set([
    ...SHARED_MARKS,
    ...["$anchor", "$dynamicAnchor", "$dynamicRef", "dependentRequired", "maxContains", "minContains"],
  ]),
  "draft-07": new Set(SHARED_MARKS),
};
