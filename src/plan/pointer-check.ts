/** Whether a stand-in's pointer can lead anywhere in a plan's document. */
import type { ToolSpec } from "../index.js";
import { hint } from "./fault.js";
import { checkOutputPointer } from "./output-pointer.js";
import type { PlanFile, PlanStep } from "./plan-file.js";
import { pointerTo } from "./pointer.js";

/** What is known of the tools that a plan names. */
export interface KnownTools {
  get(name: string): ToolSpec | undefined;
  names(): readonly string[];
}

/** What a step is checked against. */
export interface PlanScope {
  readonly plan: PlanFile;
  readonly steps: ReadonlyMap<string, PlanStep>;
  readonly tools: KnownTools;
}

/** Where a stand-in stands. */
export interface PointerPlace {
  readonly step: PlanStep;
  /** Whether it stands for the items themselves, where none is known yet. */
  readonly inItems: boolean;
  /** Whether the value may be missing. */
  readonly lenient: boolean;
}

const ROOTS = ["params", "steps", "item", "index", "plan"];
const OF_STEP = ["output", "outcome", "error", "items", "attempts"];

/** @returns what is wrong */
export function checkPointer(
  keys: readonly string[],
  { step, inItems, lenient }: PointerPlace,
  { plan, steps, tools }: PlanScope,
): string | undefined {
  const [root = "", second, third, ...rest] = keys;
  const pointer = pointerTo(keys);
  switch (root) {
    case "params":
      if (second === undefined || Object.hasOwn(plan.params ?? {}, second)) return undefined;
      return `the plan has no parameter "${second}"${hint(second, Object.keys(plan.params ?? {}))}`;
    case "item":
    case "index":
      if (step.forEach && !inItems) return undefined;
      return `\`/${root}\` is known only inside a step with \`forEach\`, in its \`input\` and \`when\``;
    case "plan":
      return undefined;
    case "steps": {
      if (second === undefined || third === undefined)
        return `\`${pointer}\` must name a step and a part of it, as /steps/ID/output`;
      const other = steps.get(second);
      if (!other) return `there is no step "${second}"${hint(second, [...steps.keys()])}`;
      if (!OF_STEP.includes(third))
        return `a step has no \`${third}\`${hint(third, OF_STEP)}; it has ${OF_STEP.join(", ")}`;
      if (third !== "output" || lenient) return undefined;
      return checkOutputPointer(other, tools.get(other.tool), rest);
    }
    default:
      return `\`${pointer}\` leads nowhere${hint(root, ROOTS)}: a pointer starts with ${ROOTS.map((name) => `/${name}`).join(", ")}`;
  }
}
