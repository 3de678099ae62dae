/** Names of tools in policies: in full, or by namespace as in `acme/*`. */

/** Whether a name, or a namespace, covers a tool. */
export function covers(pattern: string, toolName: string): boolean {
  return pattern.endsWith("/*") ? toolName.startsWith(pattern.slice(0, -1)) : pattern === toolName;
}
