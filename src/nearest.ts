/** The name that was probably meant. */
import { distance } from "fastest-levenshtein";

/**
 * The known name that is nearest to a misspelt one.
 * @returns undefined where none is near
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const meant = name.toLowerCase();
  let best: string | undefined;
  // Two letters that changed places count as two.
  let least = Math.max(meant.length < 3 ? 1 : 2, Math.floor(meant.length * 0.4)) + 1;
  for (const candidate of known) {
    const text = candidate.toLowerCase();
    // Who leaves out the namespace means the tool.
    const far = Math.min(distance(meant, text), distance(meant, text.slice(text.indexOf("/") + 1)));
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}
