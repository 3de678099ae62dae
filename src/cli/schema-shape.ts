/** What a JSON Schema admits, as far as the command line asks: through references, unions and what is combined. */

/** A type of JSON; an integer is a number. */
export type Kind = "string" | "number" | "boolean" | "null" | "array" | "object";

/** What a schema admits. */
export interface Shape {
  readonly kinds: ReadonlySet<Kind>;
  /** All values that are admitted, where the schema lists them. */
  readonly literals: readonly unknown[] | undefined;
  /** Schema of a list's members. */
  readonly items: unknown;
  /** Schemas of the fields that are named. */
  readonly properties: ReadonlyMap<string, unknown>;
}

const KINDS: readonly Kind[] = ["string", "number", "boolean", "null", "array", "object"];
const ANY: Shape = { kinds: new Set(KINDS), literals: undefined, items: undefined, properties: new Map() };
const NONE: Shape = { ...ANY, kinds: new Set(), literals: [] };

/** Shapes of what was referred to; `ANY` while one is being made, which ends a circle. */
type Known = Map<unknown, Shape>;

/** @param root what local references start at */
export function shapeOf(schema: unknown, root: unknown): Shape {
  return shaped(schema, root, new Map());
}

/** Whether nothing is said. */
export function isAny({ kinds, literals }: Shape): boolean {
  return literals === undefined && kinds.size === KINDS.length;
}

function shaped(schema: unknown, root: unknown, known: Known): Shape {
  if (schema === false) return NONE;
  if (!isObject(schema)) return ANY;
  const of = (part: unknown): Shape => shaped(part, root, known);
  const { $ref, allOf, anyOf, oneOf, then, else: otherwise } = schema;
  const parts = ownShapes(schema);
  if (typeof $ref === "string") parts.push(referred(targetOf($ref, root), root, known));
  if (Array.isArray(allOf)) parts.push(...allOf.map(of));
  for (const union of [anyOf, oneOf]) if (Array.isArray(union)) parts.push(anyOfThem(union.map(of)));
  if (then !== undefined || otherwise !== undefined) parts.push(anyOfThem([of(then), of(otherwise)]));
  return allOfThem(parts);
}

function referred(target: unknown, root: unknown, known: Known): Shape {
  const before = known.get(target);
  if (before) return before;
  known.set(target, ANY);
  const shape = shaped(target, root, known);
  known.set(target, shape);
  return shape;
}

/** The schema that a local reference names; undefined, which says nothing, for another. */
function targetOf(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at = root;
  for (const part of reference.slice(2).split("/")) {
    const key = unescaped(part);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function unescaped(part: string): string {
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function ownShapes(schema: Readonly<Record<string, unknown>>): Shape[] {
  const { type, nullable, enum: listed, const: only, items, properties } = schema;
  const literals = only !== undefined ? [only] : Array.isArray(listed) ? (listed as unknown[]) : undefined;
  const names: readonly unknown[] = type === undefined ? KINDS : [type, nullable === true ? "null" : undefined].flat();
  const kinds = KINDS.filter((kind) => names.includes(kind) || (kind === "number" && names.includes("integer")));
  const fields = new Map(isObject(properties) ? Object.entries(properties) : []);
  const said = { kinds: new Set(kinds), literals: undefined, items, properties: fields };
  return literals ? [said, { ...ANY, kinds: new Set(literals.map(kindOf)), literals }] : [said];
}

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : "object";
}

function allOfThem(shapes: readonly Shape[]): Shape {
  const kinds = new Set(KINDS.filter((kind) => shapes.every((shape) => shape.kinds.has(kind))));
  const [first, ...others] = shapes.flatMap(({ literals }) => (literals ? [literals] : []));
  const texts = others.map((literals) => new Set(literals.map((each) => JSON.stringify(each))));
  const isIn = (each: unknown): boolean => texts.every((set) => set.has(JSON.stringify(each)));
  return {
    kinds,
    literals: first?.filter((each) => kinds.has(kindOf(each)) && isIn(each)),
    ...within("allOf", shapes),
  };
}

function anyOfThem(shapes: readonly Shape[]): Shape {
  const kinds = new Set(shapes.flatMap((shape) => [...shape.kinds]));
  const lists = shapes.flatMap(({ literals }) => (literals ? [literals] : []));
  return { kinds, literals: lists.length === shapes.length ? lists.flat() : undefined, ...within("anyOf", shapes) };
}

/** The schemas of what is within, put together. */
function within(how: "allOf" | "anyOf", shapes: readonly Shape[]): Pick<Shape, "items" | "properties"> {
  const together = (schemas: readonly unknown[]): unknown => (schemas.length > 1 ? { [how]: schemas } : schemas[0]);
  const properties = new Map<string, unknown[]>();
  for (const shape of shapes) {
    for (const [name, schema] of shape.properties) {
      const before = properties.get(name);
      if (before) before.push(schema);
      else properties.set(name, [schema]);
    }
  }
  return {
    items: together(shapes.flatMap(({ items }) => (items === undefined ? [] : [items]))),
    properties: new Map([...properties].map(([name, schemas]) => [name, together(schemas)])),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
