/** Everything that can be known of one step before its plan runs. */
import type { ToolSpec } from "../index.js";
import { hint, type Fault } from "./fault.js";
import { referencesOf } from "./graph.js";
import { checkInput } from "./input-check.js";
import type { PlanFile, PlanStep } from "./plan-file.js";
import { checkPointer, type PlanScope } from "./pointer-check.js";
import { keysOf } from "./pointer.js";
import { schemaProblem } from "./schema-check.js";
import { checkSlots } from "./slot-check.js";
import { formOf, survey } from "./template.js";

/** @returns what is wrong; keys start at the step */
export function checkStep(step: PlanStep, scope: PlanScope): Fault[] {
  const { steps, tools } = scope;
  const spec = tools.get(step.tool);
  const faults: Fault[] = spec
    ? checkFlags(step, spec, scope.plan)
    : [{ keys: ["tool"], message: `no tool "${step.tool}" is registered${hint(step.tool, tools.names())}` }];
  step.after?.forEach((id, index) => {
    if (steps.has(id)) return;
    faults.push({ keys: ["after", index], message: `there is no step "${id}"${hint(id, [...steps.keys()])}` });
  });
  faults.push(...checkStandIns(step, scope), ...checkCondition(step), ...checkItems(step));
  // Of a step that is wrong already, more would follow from the same mistake.
  if (spec && faults.length === 0) faults.push(...checkInput(step, spec), ...checkSlots(step, spec, scope.plan));
  return faults;
}

function checkFlags(step: PlanStep, spec: ToolSpec, plan: PlanFile): Fault[] {
  const faults: Fault[] = [];
  if (step.continueOnError) return faults;
  if (plan.readOnly && spec.readOnly === false)
    faults.push({ keys: ["tool"], message: `the plan is read-only and "${step.tool}" writes` });
  if (plan.requireCheckpoints && spec.checkpointable === false)
    faults.push({ keys: ["tool"], message: `the plan requires checkpoints and "${step.tool}" cannot give one` });
  return faults;
}

function checkStandIns(step: PlanStep, scope: PlanScope): Fault[] {
  const faults: Fault[] = [];
  const onFault = (base: readonly string[]) => (fault: { at: readonly (string | number)[]; message: string }) => {
    faults.push({ keys: [...base, ...fault.at], message: fault.message });
  };
  survey(step.input, () => undefined, onFault(["input"]));
  survey(step.forEach?.items, () => undefined, onFault(["forEach", "items"]));
  for (const { pointer, at, part, hasDefault } of referencesOf(step)) {
    const keys = typeof pointer === "string" ? keysOf(pointer) : undefined;
    if (!keys) continue;
    const message = checkPointer(keys, { step, inItems: part === "items", lenient: hasDefault }, scope);
    if (message !== undefined) faults.push({ keys: at, message });
  }
  return faults;
}

function checkCondition({ when }: PlanStep): Fault[] {
  if (!when) return [];
  const faults: Fault[] = [];
  if (keysOf(when.$from) === undefined)
    faults.push({ keys: ["when", "$from"], message: "`$from` must be a JSON Pointer such as /steps/ID/output" });
  const problem = when.matches === undefined ? undefined : schemaProblem(when.matches);
  if (problem) {
    const keys = ["when", "matches", ...(keysOf(problem.pointer) ?? [])];
    faults.push({ keys, message: `\`matches\` is no JSON Schema that can be used: ${problem.message}` });
  }
  return faults;
}

function checkItems({ forEach }: PlanStep): Fault[] {
  if (!forEach || Array.isArray(forEach.items)) return [];
  const form = formOf(forEach.items);
  if (form === "from" || form === "literal") return [];
  return [{ keys: ["forEach", "items"], message: "must be a list, or `{ $from }` of one" }];
}
