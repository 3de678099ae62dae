/** Where the references of a schema lead. */
import { isNode, segment, type Dialect, type SchemaNode } from "./shape.js";
import type { SchemaSurvey } from "./survey.js";

/** What the address of each part of a meta-schema starts with. */
const META_SCHEMA: Readonly<Record<Dialect, string>> = {
  "2020-12": "https://json-schema.org/draft/2020-12/",
  "draft-07": "http://json-schema.org/draft-07/schema",
};

/** The references of one schema. */
export interface SchemaReferences {
  /** What each subschema's `$ref` leads to; undefined where it leads nowhere. */
  readonly targets: ReadonlyMap<SchemaNode, unknown>;
  /** The keys of each object and list that a `$ref` leads through. */
  readonly passed: ReadonlyMap<object, ReadonlySet<string>>;
  /** Nested `$id`s and foreign references are left to ajv, which knows them all. */
  readonly opaque: boolean;
  /** Whether the schema refers to the meta-schema of its dialect. */
  readonly usesMetaSchema: boolean;
  /** Whether references have to be resolved in the scope of the caller. */
  readonly dynamic: boolean;
}

/**
 * Resolves what can be resolved inside the schema, writes it in one way, and surveys targets outside the known
 * keywords.
 *
 * @throws SchemaFault when subschemas nest too deeply in such a target
 */
export function resolveReferences(survey: SchemaSurvey): SchemaReferences {
  const resolver = new Resolver(survey);
  resolver.run();
  return resolver;
}

class Resolver implements SchemaReferences {
  readonly targets = new Map<SchemaNode, unknown>();
  readonly passed = new Map<object, Set<string>>();
  opaque: boolean;
  usesMetaSchema = false;
  readonly #survey: SchemaSurvey;

  constructor(survey: SchemaSurvey) {
    this.#survey = survey;
    this.opaque = survey.nestedIds;
  }

  get dynamic(): boolean {
    return this.#survey.dynamicReferences.some(({ from }) => from["$dynamicRef"] !== undefined);
  }

  run(): void {
    this.#settleDynamicReferences();
    // The survey of a target may add references, which are met in this loop.
    for (const { from, reference } of this.#survey.references) {
      const fragment = this.#fragmentOf(reference);
      if (fragment === undefined) this.#noteForeign(reference);
      else if (!this.opaque) {
        const target = this.#resolve(fragment);
        this.targets.set(from, target);
        const pointer = isNode(target) ? this.#survey.pointers.get(target) : undefined;
        // One spelling for each target, which no URI syntax can spoil.
        if (pointer !== undefined) from["$ref"] = `#${pointer.split("/").map(encodeURIComponent).join("/")}`;
      }
    }
  }

  /**
   * Where a schema is one resource there is one scope, where a dynamic reference is a plain one. So is one whose own
   * resource has no dynamic anchor of that name.
   */
  #settleDynamicReferences(): void {
    for (const { from, anchors } of this.#survey.dynamicReferences) {
      const { $ref, $dynamicRef } = from;
      if ($ref !== undefined || typeof $dynamicRef !== "string") continue;
      if (this.opaque && (!$dynamicRef.startsWith("#") || anchors.has($dynamicRef.slice(1)))) continue;
      from["$ref"] = $dynamicRef;
      delete from["$dynamicRef"];
      this.#survey.references.push({ from, reference: $dynamicRef });
    }
  }

  #noteForeign(reference: string): void {
    if (reference.startsWith(META_SCHEMA[this.#survey.dialect])) this.usesMetaSchema = true;
    this.opaque = true;
  }

  #fragmentOf(reference: string): string | undefined {
    if (reference.startsWith("#")) return reference.slice(1);
    const { $id } = this.#survey.root;
    const base = typeof $id === "string" ? $id.replace(/#$/, "") : "";
    if (base === "" || (reference !== base && !reference.startsWith(`${base}#`))) return undefined;
    return reference.slice(base.length + 1);
  }

  #resolve(fragment: string): unknown {
    const { root, anchors } = this.#survey;
    if (fragment === "") return root;
    if (!fragment.startsWith("/")) return anchors.get(fragment);
    let target: unknown = root;
    let pointer = "";
    for (const part of fragment.slice(1).split("/")) {
      if (typeof target !== "object" || target === null) return undefined;
      const key = unescape(part);
      if (!Object.hasOwn(target, key)) return undefined;
      this.passed.set(target, (this.passed.get(target) ?? new Set()).add(key));
      target = Reflect.get(target, key);
      pointer += segment(key);
    }
    if (isNode(target)) this.#survey.walk(target, pointer);
    return target;
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
