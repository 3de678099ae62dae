/** Everything that can be known of a plan before it runs. */
import { hint, unknownField, type Fault } from "./fault.js";
import { circleOf, needsOf } from "./graph.js";
import { PLAN_SCHEMA, type PlanFile, type PlanStep } from "./plan-file.js";
import { keysOf } from "./pointer.js";
import type { KnownTools } from "./pointer-check.js";
import { schemaProblem, violationsOf } from "./schema-check.js";
import { checkStep } from "./step-check.js";

/** What is wrong with the form of a plan. */
export function checkForm(value: unknown): Fault[] {
  return violationsOf("plan", PLAN_SCHEMA, value).map((violation) => {
    const { instancePath, message } = violation;
    const fault = { keys: keysOf(instancePath) ?? [], message: instancePath === "" ? `a plan ${message}` : message };
    return unknownField(violation, PLAN_SCHEMA, "a plan") ?? fault;
  });
}

/** What is wrong with what a plan means: its names, its order, its references, its inputs. */
export function checkMeaning(plan: PlanFile, tools: KnownTools, params: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  const steps = new Map<string, PlanStep>();
  plan.steps.forEach((step, index) => {
    if (steps.has(step.id)) faults.push({ keys: ["steps", index, "id"], message: `two steps are named "${step.id}"` });
    else steps.set(step.id, step);
  });
  faults.push(...checkParams(plan, params));
  plan.steps.forEach((step, index) => {
    const at = ["steps", index];
    for (const fault of checkStep(step, { plan, steps, tools }))
      faults.push({ ...fault, keys: [...at, ...fault.keys] });
  });
  const circle = circleOf(needsOf(plan));
  if (circle) {
    const index = plan.steps.findIndex(({ id }) => id === circle[0]);
    faults.push({
      keys: ["steps", index, "id"],
      message: `steps wait for each other in a circle: ${circle.join(" → ")}`,
    });
  }
  return faults;
}

function checkParams({ params = {} }: PlanFile, given: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  for (const [name, { default: value, schema }] of Object.entries(params)) {
    const keys = ["params", name];
    if (value === undefined && !given.has(name))
      faults.push({ keys, message: `the parameter "${name}" has no value and no default` });
    const problem = schema === undefined ? undefined : schemaProblem(schema);
    if (problem) {
      const message = `the schema of the parameter "${name}" cannot be used: ${problem.message}`;
      faults.push({ keys: [...keys, "schema", ...(keysOf(problem.pointer) ?? [])], message });
    } else if (value !== undefined && schema !== undefined) {
      for (const { message } of violationsOf(name, schema, value)) faults.push({ keys: [...keys, "default"], message });
    }
  }
  for (const name of given) {
    if (Object.hasOwn(params, name)) continue;
    faults.push({
      keys: ["params"],
      message: `the plan has no parameter "${name}"${hint(name, Object.keys(params))}`,
    });
  }
  return faults;
}
