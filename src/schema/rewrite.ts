/** Rewrites of a copied schema that mean the same and avoid what ajv does badly. */
import { isNode, type Dialect, type SchemaNode } from "./shape.js";

/** Names that depend on a property above which ajv's own message makes the code quadratic. */
const MAX_DEPENDENT_NAMES = 20;

/** ajv skips a property of this name, and knows a pattern of it. */
export function moveProtoProperty(node: SchemaNode): void {
  const { properties, patternProperties } = node;
  if (isNode(patternProperties) && Object.hasOwn(patternProperties, "__proto__")) {
    patternProperties["(?:__proto__)"] = patternProperties["__proto__"];
    Reflect.deleteProperty(patternProperties, "__proto__");
  }
  if (!isNode(properties) || !Object.hasOwn(properties, "__proto__")) return;
  const patterns = isNode(patternProperties) ? patternProperties : (Object.create(null) as SchemaNode);
  patterns["^(?:__proto__)$"] = properties["__proto__"];
  node["patternProperties"] = patterns;
}

/** Writes a long list of dependent names as the schema that it stands for. */
export function rewriteDependencies(node: SchemaNode, dialect: Dialect): void {
  const [from, to] =
    dialect === "draft-07" ? ["dependencies", "dependencies"] : ["dependentRequired", "dependentSchemas"];
  const lists = node[from];
  if (!isNode(lists)) return;
  for (const [property, names] of Object.entries(lists)) {
    if (!Array.isArray(names) || names.length <= MAX_DEPENDENT_NAMES) continue;
    Reflect.deleteProperty(lists, property);
    const schemas = isNode(node[to]) ? node[to] : (Object.create(null) as SchemaNode);
    const required = { __proto__: null, required: names } as SchemaNode;
    schemas[property] =
      schemas[property] === undefined ? required : { __proto__: null, allOf: [required, schemas[property]] };
    node[to] = schemas;
  }
}
