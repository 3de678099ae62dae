/** Which steps wait for which. */
import { keysOf } from "./pointer.js";
import type { PlanFile, PlanStep } from "./plan-file.js";
import { survey, type Reference } from "./template.js";

/** A stand-in and the part of its step in which it stands. */
export interface StepReference extends Reference {
  readonly part: "input" | "items" | "when";
}

/** What a step waits for. */
export interface StepNeeds {
  /** Steps whose outputs it uses. */
  readonly values: ReadonlySet<string>;
  /** Steps that it only comes after. */
  readonly order: ReadonlySet<string>;
}

/** The stand-ins of a step; faults are passed over. */
export function referencesOf(step: PlanStep): StepReference[] {
  const found: StepReference[] = [];
  const from = (part: StepReference["part"], at: readonly (string | number)[]) => (reference: Reference) => {
    found.push({ ...reference, part, at: [...at, ...reference.at] });
  };
  survey(step.input, from("input", ["input"]), () => undefined);
  survey(step.forEach?.items, from("items", ["forEach", "items"]), () => undefined);
  if (step.when) found.push({ part: "when", at: ["when"], pointer: step.when.$from, hasDefault: true });
  return found;
}

/** The step that a pointer leads into, and whether it leads into its output. */
function stepOf(pointer: unknown): { id: string; inOutput: boolean } | undefined {
  const [root, id, part] = (typeof pointer === "string" ? keysOf(pointer) : undefined) ?? [];
  return root === "steps" && id !== undefined ? { id, inOutput: part === "output" } : undefined;
}

/** What each step waits for, by id. */
export function needsOf({ steps }: PlanFile): Map<string, StepNeeds> {
  return new Map(
    steps.map((step) => {
      const values = new Set<string>();
      const order = new Set(step.after);
      for (const { pointer, hasDefault } of referencesOf(step)) {
        const other = stepOf(pointer);
        // A condition and a default can do without the value, and how a step ended is known of one that failed too.
        if (other) (other.inOutput && !hasDefault ? values : order).add(other.id);
      }
      for (const id of values) order.delete(id);
      return [step.id, { values, order }];
    }),
  );
}

/** A circle of steps that wait for each other, in order, if there is one. */
export function circleOf(needs: ReadonlyMap<string, StepNeeds>): string[] | undefined {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    // Iterative: a plan may be a chain of ten thousand steps.
    const path: { id: string; left: string[] }[] = [];
    const enter = (id: string): void => {
      const { values, order } = needs.get(id) ?? { values: [], order: [] };
      path.push({ id, left: [...values, ...order] });
    };
    if (!done.has(start)) enter(start);
    const onPath = new Set([start]);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        done.add(top.id);
        onPath.delete(top.id);
        path.pop();
      } else if (onPath.has(next)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(next)), next];
      } else if (needs.has(next) && !done.has(next)) {
        onPath.add(next);
        enter(next);
      }
    }
  }
  return undefined;
}
