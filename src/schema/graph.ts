/** The graph that the subschemas of a schema make through their keywords and references. */
import type { SchemaFault } from "./fault.js";
import type { SchemaNode } from "./shape.js";

/** A way from one subschema to another; `inPlace` ones apply it to the same value. */
export interface Edge {
  readonly target: SchemaNode;
  readonly inPlace: boolean;
}

/**
 * How many subschemas a check of one value may visit; infinite for a recursive schema.
 *
 * @param circle - makes the error for a circle that takes no data
 * @throws SchemaFault for such a circle
 */
export function measureGraph(
  root: SchemaNode,
  edgesOf: (node: SchemaNode) => Iterable<Edge>,
  circle: (node: SchemaNode) => SchemaFault,
): number {
  const costs = new Map<SchemaNode, number>();
  const costOf = (node: SchemaNode): number => {
    const known = costs.get(node);
    if (known !== undefined) return known;
    // Whoever meets the node again while it is being measured has found a recursion.
    costs.set(node, Infinity);
    let cost = 1;
    for (const { target } of edgesOf(node)) cost += costOf(target);
    costs.set(node, cost);
    return cost;
  };

  const settled = new Map<SchemaNode, boolean>();
  const settle = (node: SchemaNode): void => {
    const state = settled.get(node);
    if (state === true) return;
    if (state === false) throw circle(node);
    settled.set(node, false);
    for (const { target, inPlace } of edgesOf(node)) if (inPlace) settle(target);
    settled.set(node, true);
  };

  const cost = costOf(root);
  for (const node of costs.keys()) settle(node);
  return cost;
}
