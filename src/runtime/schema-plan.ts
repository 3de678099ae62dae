/** What has to be known about a schema before it is compiled: its subschemas, references and patterns. */
import { measureGraph, type Edge } from "./schema-graph.js";
import { moveProtoProperty, rewriteDependencies } from "./schema-rewrite.js";
import { MARKS, SUBSCHEMAS, type Subschemas } from "./schema-vocabulary.js";
import { isNode, SchemaFault, segment, type Dialect, type SchemaNode } from "./schema-shape.js";

/** Most subschemas inside each other. */
const MAX_SCHEMA_DEPTH = 256;
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
 * @throws SchemaFault when subschemas nest too deeply, or a `$ref` that matters leads nowhere or in a circle
 */
export function planSchema(root: SchemaNode, dialect: Dialect): SchemaPlan {
  const planner = new Planner(root, dialect);
  planner.walk(root, "", 0, 0);
  planner.resolveReferences();
  planner.clean();
  planner.measure();
  return planner;
}

class Planner implements SchemaPlan {
  readonly pointers = new Map<object, string>();
  readonly patterns = new Map<string, string>();
  metered = false;
  usesMetaSchema = false;
  unevaluated = false;
  dynamic = false;
  readonly #root: SchemaNode;
  readonly #dialect: Dialect;
  readonly #subschemas: Subschemas;
  readonly #anchors = new Map<string, SchemaNode>();
  readonly #references: { from: SchemaNode; reference: string }[] = [];
  readonly #targets = new Map<SchemaNode, unknown>();
  readonly #passed = new Map<object, Set<string>>();
  /** Nested `$id`s and foreign references are left to ajv, which knows them all. */
  #opaque = false;
  #nestedAnchors = 0;

  constructor(root: SchemaNode, dialect: Dialect) {
    this.#root = root;
    this.#dialect = dialect;
    this.#subschemas = SUBSCHEMAS[dialect];
  }

  /** Visits a schema and every subschema in it. */
  walk(node: SchemaNode, pointer: string, depth: number, anchors: number): void {
    if (this.pointers.has(node)) return;
    if (depth > MAX_SCHEMA_DEPTH) {
      throw new SchemaFault(`the schema is too deep: more than ${MAX_SCHEMA_DEPTH} levels of subschemas`);
    }
    this.pointers.set(node, pointer);
    const nested = this.#read(node, pointer, anchors);
    for (const { child, path } of this.#children(node)) this.walk(child, pointer + path, depth + 1, nested);
  }

  #read(node: SchemaNode, pointer: string, anchors: number): number {
    moveProtoProperty(node);
    rewriteDependencies(node, this.#dialect);
    if (node["unevaluatedProperties"] !== undefined || node["unevaluatedItems"] !== undefined) this.unevaluated = true;
    const { $id, $anchor, $dynamicAnchor, $ref, $dynamicRef, pattern, patternProperties } = node;
    if (typeof $ref === "string") this.#references.push({ from: node, reference: $ref });
    if (typeof pattern === "string" && !this.patterns.has(pattern)) this.patterns.set(pattern, `${pointer}/pattern`);
    if (isNode(patternProperties)) {
      for (const key of Object.keys(patternProperties)) {
        if (!this.patterns.has(key)) this.patterns.set(key, `${pointer}/patternProperties${segment(key)}`);
      }
    }
    if (this.#dialect === "draft-07") {
      if ($ref !== undefined && node !== this.#root) delete node["$id"];
      else if (typeof $id === "string" && $id.startsWith("#")) this.#anchors.set($id.slice(1), node);
      else if ($id !== undefined && node !== this.#root) this.#opaque = true;
      return 0;
    }
    if ($id !== undefined && node !== this.#root) this.#opaque = true;
    if ($dynamicRef !== undefined) this.dynamic = true;
    if (typeof $anchor === "string") this.#anchors.set($anchor, node);
    if (typeof $dynamicAnchor !== "string") return anchors;
    this.#anchors.set($dynamicAnchor, node);
    this.#nestedAnchors = Math.max(this.#nestedAnchors, anchors + 1);
    return anchors + 1;
  }

  *#children(node: SchemaNode): Generator<{ child: SchemaNode; path: string; keyword: string }> {
    for (const keyword of Object.keys(this.#subschemas)) {
      const value = node[keyword];
      if (typeof value !== "object" || value === null) continue;
      const form = this.#subschemas[keyword]?.form;
      if (isNode(value) && form === "one") yield { child: value, path: `/${keyword}`, keyword };
      else if (Array.isArray(value) === (form === "many") || keyword === "items") {
        for (const [key, child] of Object.entries(value)) {
          if (isNode(child)) yield { child, path: `/${keyword}${segment(key)}`, keyword };
        }
      }
    }
  }

  /** Resolves what can be resolved inside the schema, and walks targets outside the known keywords. */
  resolveReferences(): void {
    if (!this.#opaque) this.#settleDynamicReferences();
    for (const { from, reference } of this.#references) {
      const fragment = this.#fragmentOf(reference);
      if (fragment === undefined) this.#noteForeign(reference);
      else if (!this.#opaque) {
        const target = this.#resolve(fragment);
        this.#targets.set(from, target);
        const pointer = isNode(target) ? this.pointers.get(target) : undefined;
        // One spelling for each target, which no URI syntax can spoil.
        if (pointer !== undefined) from["$ref"] = `#${pointer.split("/").map(encodeURIComponent).join("/")}`;
      }
    }
  }

  /** In a schema that is one resource there is one scope, where a dynamic reference is a plain one. */
  #settleDynamicReferences(): void {
    this.dynamic = false;
    for (const node of this.pointers.keys() as Iterable<SchemaNode>) {
      const { $ref, $dynamicRef } = node;
      if ($dynamicRef === undefined) continue;
      if ($ref === undefined && typeof $dynamicRef === "string") {
        node["$ref"] = $dynamicRef;
        delete node["$dynamicRef"];
        this.#references.push({ from: node, reference: $dynamicRef });
      } else this.dynamic = true;
    }
  }

  #noteForeign(reference: string): void {
    const base =
      this.#dialect === "draft-07"
        ? "http://json-schema.org/draft-07/schema"
        : "https://json-schema.org/draft/2020-12/";
    if (reference.startsWith(base)) this.usesMetaSchema = true;
    this.#opaque = true;
  }

  #fragmentOf(reference: string): string | undefined {
    if (reference.startsWith("#")) return reference.slice(1);
    const { $id } = this.#root;
    const base = typeof $id === "string" ? $id.replace(/#$/, "") : "";
    if (base === "" || (reference !== base && !reference.startsWith(`${base}#`))) return undefined;
    return reference.slice(base.length + 1);
  }

  #resolve(fragment: string): unknown {
    if (fragment === "") return this.#root;
    if (!fragment.startsWith("/")) return this.#anchors.get(fragment);
    let target: unknown = this.#root;
    let pointer = "";
    for (const part of fragment.slice(1).split("/")) {
      if (typeof target !== "object" || target === null) return undefined;
      const key = unescape(part);
      if (!Object.hasOwn(target, key)) return undefined;
      this.#passed.set(target, (this.#passed.get(target) ?? new Set()).add(key));
      target = Reflect.get(target, key);
      pointer += segment(key);
    }
    if (isNode(target)) this.walk(target, pointer, 0, 0);
    return target;
  }

  #limit(): void {
    const references = new Set(this.#references.map(({ from }) => from["$ref"]));
    const limits: readonly (readonly [number, number, string])[] = [
      [this.patterns.size, MAX_PATTERNS, "patterns"],
      [references.size, MAX_REFERENCES, "references"],
      [
        this.unevaluated ? this.pointers.size : 0,
        MAX_UNEVALUATED,
        "subschemas beside unevaluatedProperties or unevaluatedItems",
      ],
    ];
    for (const [count, most, what] of limits) {
      if (count > most) throw new SchemaFault(`the schema is too large: more than ${most} ${what}`);
    }
  }

  /** Removes what is no keyword of the dialect, or would mean something to ajv alone. */
  clean(): void {
    this.#limit();
    // Without other resources nothing refers to it any more, and ajv refuses what is no URI.
    if (!this.#opaque) delete this.#root["$id"];
    if (this.dynamic && this.#nestedAnchors > MAX_NESTED_ANCHORS) {
      throw new SchemaFault(`the schema is too deep: more than ${MAX_NESTED_ANCHORS} levels of $dynamicAnchor`);
    }
    for (const node of this.pointers.keys() as Iterable<SchemaNode>) {
      // Without a `$dynamicRef` a dynamic anchor is a plain one, and ajv compiles what holds one twice.
      const { $dynamicAnchor } = node;
      if (!this.dynamic && $dynamicAnchor !== undefined && node["$anchor"] === undefined) {
        node["$anchor"] = $dynamicAnchor;
        delete node["$dynamicAnchor"];
      }
      if (this.#dialect === "draft-07" && node["$ref"] !== undefined) delete node["type"];
      for (const key of Object.keys(node)) {
        if (key in this.#subschemas || MARKS[this.#dialect].has(key) || this.#passed.get(node)?.has(key)) continue;
        if (!this.#opaque || key === "$async" || key === "nullable" || key === "id") Reflect.deleteProperty(node, key);
      }
    }
  }

  /**
   * Finds whether checks have to be metered.
   *
   * @throws SchemaFault for a `$ref` that leads nowhere, or in a circle without taking any data
   */
  measure(): void {
    const total = measureGraph(
      this.#root,
      (node) => this.#edges(node),
      (node) => this.#fault(node, "the schema refers to itself without taking any data"),
    );
    // What ajv alone can find may hold any keyword.
    if (this.#opaque) this.unevaluated = this.dynamic = true;
    this.metered = this.#opaque || this.dynamic || total > METERED_COST;
  }

  *#edges(node: SchemaNode): Generator<Edge> {
    const reference = node["$ref"];
    if (typeof reference === "string" && !this.#opaque) {
      const target = this.#targets.get(node);
      if (isNode(target)) yield { target, inPlace: true };
      else if (typeof target !== "boolean") {
        const shown = JSON.stringify(reference.slice(0, 200));
        throw this.#fault(
          node,
          `$ref ${shown} ${target === undefined ? "leads nowhere" : "does not lead to a schema"}`,
          "$ref",
        );
      }
      if (this.#dialect === "draft-07") return;
    }
    for (const { child, keyword } of this.#children(node)) {
      const applies = this.#subschemas[keyword]?.applies ?? "never";
      if (applies !== "never") yield { target: child, inPlace: applies === "in place" };
    }
  }

  #fault(node: SchemaNode, message: string, keyword = ""): SchemaFault {
    const pointer = this.pointers.get(node) ?? "";
    return new SchemaFault(message, keyword === "" ? pointer : `${pointer}/${keyword}`, keyword);
  }
}

/** One segment of a JSON Pointer in a URI fragment. */
function unescape(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // Not percent-encoded: read as written.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}
