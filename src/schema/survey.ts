/** What a walk through a schema finds: its subschemas, and what in them bears a name or refers to one. */
import { SchemaFault } from "./fault.js";
import { moveProtoProperty, rewriteDependencies } from "./rewrite.js";
import { isNode, segment, type Dialect, type SchemaNode } from "./shape.js";
import { subschemasOf } from "./vocabulary.js";

/** Most subschemas inside each other. */
const MAX_SCHEMA_DEPTH = 256;

/** The findings about one schema. */
export class SchemaSurvey {
  readonly root: SchemaNode;
  readonly dialect: Dialect;
  /** Where each subschema stands, as a JSON Pointer. */
  readonly pointers = new Map<SchemaNode, string>();
  /** Where each pattern stands. */
  readonly patterns = new Map<string, string>();
  /** Subschemas by the names that they give themselves. */
  readonly anchors = new Map<string, SchemaNode>();
  /** The subschemas with a `$ref`, and where it leads. */
  readonly references: { readonly from: SchemaNode; readonly reference: string }[] = [];
  /** The subschemas with a `$dynamicRef`, and the dynamic anchors of the resource that they are in. */
  readonly dynamicReferences: { readonly from: SchemaNode; readonly anchors: ReadonlySet<string> }[] = [];
  /** Whether a subschema has an `$id`, and so is a resource of its own. */
  nestedIds = false;
  /** Whether it has to be known which properties and items were evaluated. */
  unevaluated = false;
  /** Most `$dynamicAnchor`s inside each other. */
  nestedAnchors = 0;
  /** The dynamic anchors of the resource that is being walked. */
  #resource = new Set<string>();

  constructor(root: SchemaNode, dialect: Dialect) {
    this.root = root;
    this.dialect = dialect;
    this.walk(root, "");
  }

  /**
   * Visits a schema and every subschema in it, and rewrites what ajv does badly.
   *
   * @throws SchemaFault when subschemas nest too deeply
   */
  walk(node: SchemaNode, pointer: string, depth = 0, anchors = 0): void {
    if (this.pointers.has(node)) return;
    if (depth > MAX_SCHEMA_DEPTH) {
      throw new SchemaFault(`the schema is too deep: more than ${MAX_SCHEMA_DEPTH} levels of subschemas`);
    }
    this.pointers.set(node, pointer);
    moveProtoProperty(node);
    rewriteDependencies(node, this.dialect);
    this.#notePatterns(node, pointer);
    const around = this.#resource;
    if (typeof node["$id"] === "string") this.#resource = new Set();
    const nested = this.#noteNames(node, anchors);
    for (const { node: child, path } of subschemasOf(node, this.dialect)) {
      this.walk(child, pointer + path, depth + 1, nested);
    }
    this.#resource = around;
  }

  #notePatterns({ pattern, patternProperties }: SchemaNode, pointer: string): void {
    if (typeof pattern === "string" && !this.patterns.has(pattern)) this.patterns.set(pattern, `${pointer}/pattern`);
    if (!isNode(patternProperties)) return;
    for (const key of Object.keys(patternProperties)) {
      if (!this.patterns.has(key)) this.patterns.set(key, `${pointer}/patternProperties${segment(key)}`);
    }
  }

  /** @returns how many `$dynamicAnchor`s are around the schema's children */
  #noteNames(node: SchemaNode, anchors: number): number {
    const { $id, $ref, $dynamicRef, $anchor, $dynamicAnchor, unevaluatedProperties, unevaluatedItems } = node;
    if (unevaluatedProperties !== undefined || unevaluatedItems !== undefined) this.unevaluated = true;
    if (typeof $ref === "string") this.references.push({ from: node, reference: $ref });
    if (this.dialect === "draft-07") {
      if ($ref !== undefined && node !== this.root) delete node["$id"];
      else if (typeof $id === "string" && $id.startsWith("#")) this.anchors.set($id.slice(1), node);
      else if ($id !== undefined && node !== this.root) this.nestedIds = true;
      return 0;
    }
    if ($id !== undefined && node !== this.root) this.nestedIds = true;
    if ($dynamicRef !== undefined) this.dynamicReferences.push({ from: node, anchors: this.#resource });
    if (typeof $anchor === "string") this.anchors.set($anchor, node);
    if (typeof $dynamicAnchor !== "string") return anchors;
    this.anchors.set($dynamicAnchor, node);
    this.#resource.add($dynamicAnchor);
    this.nestedAnchors = Math.max(this.nestedAnchors, anchors + 1);
    return anchors + 1;
  }
}
