/** Everything that can be known of a plan before it runs. */
import { ToolSchemaValidationError, validateToolInput, type SchemaViolation, type ToolSpec } from "../index.js";
import { circleOf, needsOf, referencesOf } from "./graph.js";
import { checkOutputPointer } from "./output-pointer.js";
import { PLAN_SCHEMA, type PlanFile, type PlanStep } from "./plan-file.js";
import { keysOf, lookup, pointerTo } from "./pointer.js";
import { nearest } from "../nearest.js";
import { survey } from "./template.js";

/** A fault and where in the plan it stands. */
export interface Fault {
  readonly keys: readonly (string | number)[];
  readonly message: string;
}

/** What is known of the tools that a plan names. */
export interface KnownTools {
  get(name: string): ToolSpec | undefined;
  names(): readonly string[];
}

/** What is wrong with the form of a plan. */
export function checkForm(value: unknown): Fault[] {
  return violationsOf("plan", PLAN_SCHEMA, value).map(
    (violation) => unknownField(violation, PLAN_SCHEMA, "a plan") ?? faultOf(violation),
  );
}

function faultOf({ instancePath, message }: SchemaViolation): Fault {
  return { keys: keysOf(instancePath) ?? [], message: instancePath === "" ? `a plan ${message}` : message };
}

/** A field that is not known stands at itself rather than at what holds it, and was probably meant to be another. */
function unknownField(
  { instancePath, schemaPath, keyword, message }: SchemaViolation,
  schema: object | boolean,
  where: string,
): Fault | undefined {
  const [, quoted] = keyword === "additionalProperties" ? (/\((".*")\)$/.exec(message) ?? []) : [];
  if (quoted === undefined) return undefined;
  const field = String(JSON.parse(quoted));
  const holder = lookup(schema, (keysOf(schemaPath) ?? []).slice(0, -1)).value as { properties?: object } | undefined;
  const known = Object.keys(holder?.properties ?? {});
  const meant = nearest(field, known);
  const suggestion = meant === undefined ? `known are ${known.join(", ")}` : `did you mean "${meant}"?`;
  return {
    keys: [...(keysOf(instancePath) ?? []), field],
    message: `${where} has no field "${field}" here; ${suggestion}`,
  };
}

/** What is wrong with what a plan means: its names, its order, its references, its inputs. */
export function checkMeaning(plan: PlanFile, tools: KnownTools, params: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  const steps = new Map<string, PlanStep>();
  plan.steps.forEach((step, index) => {
    if (steps.has(step.id)) faults.push({ keys: ["steps", index, "id"], message: `two steps are named "${step.id}"` });
    else steps.set(step.id, step);
  });
  for (const [name, { default: value, schema }] of Object.entries(plan.params ?? {})) {
    const keys = ["params", name];
    if (value === undefined && !params.has(name))
      faults.push({ keys, message: `the parameter "${name}" has no value and no default` });
    if (value === undefined || schema === undefined) continue;
    for (const { message } of violationsOf(name, schema, value)) faults.push({ keys: [...keys, "default"], message });
  }
  for (const name of params) {
    if (plan.params && Object.hasOwn(plan.params, name)) continue;
    faults.push({
      keys: ["params"],
      message: `the plan has no parameter "${name}"${hint(name, Object.keys(plan.params ?? {}))}`,
    });
  }
  plan.steps.forEach((step, index) => {
    const at = ["steps", index];
    for (const fault of checkStep(step, plan, steps, tools)) faults.push({ ...fault, keys: [...at, ...fault.keys] });
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

function checkStep(step: PlanStep, plan: PlanFile, steps: ReadonlyMap<string, PlanStep>, tools: KnownTools): Fault[] {
  const faults: Fault[] = [];
  const spec = tools.get(step.tool);
  if (!spec)
    faults.push({ keys: ["tool"], message: `no tool "${step.tool}" is registered${hint(step.tool, tools.names())}` });
  if (spec && plan.readOnly && spec.readOnly === false && !step.continueOnError) {
    faults.push({ keys: ["tool"], message: `the plan is read-only and "${step.tool}" writes` });
  }
  if (spec && plan.requireCheckpoints && spec.checkpointable === false && !step.continueOnError) {
    faults.push({ keys: ["tool"], message: `the plan requires checkpoints and "${step.tool}" cannot give one` });
  }
  step.after?.forEach((id, index) => {
    if (steps.has(id)) return;
    faults.push({ keys: ["after", index], message: `there is no step "${id}"${hint(id, [...steps.keys()])}` });
  });
  const onFault = (base: readonly string[]) => (fault: { at: readonly (string | number)[]; message: string }) => {
    faults.push({ keys: [...base, ...fault.at], message: fault.message });
  };
  survey(step.input, () => undefined, onFault(["input"]));
  survey(step.forEach?.items, () => undefined, onFault(["forEach", "items"]));
  if (step.when && keysOf(step.when.$from) === undefined) {
    faults.push({ keys: ["when", "$from"], message: "`$from` must be a JSON Pointer such as /steps/ID/output" });
  }
  const references = referencesOf(step);
  for (const { pointer, at, part, hasDefault } of references) {
    const keys = typeof pointer === "string" ? keysOf(pointer) : undefined;
    if (!keys) continue;
    const message = checkPointer(keys, { step, plan, steps, tools, inItems: part === "items", lenient: hasDefault });
    if (message !== undefined) faults.push({ keys: at, message });
  }
  if (step.forEach && !Array.isArray(step.forEach.items) && !isStandIn(step.forEach.items)) {
    faults.push({ keys: ["forEach", "items"], message: "must be a list, or `{ $from }` of one" });
  }
  if (spec && faults.length === 0)
    faults.push(
      ...checkInput(
        step,
        spec,
        references.filter(({ part }) => part === "input"),
      ),
    );
  return faults;
}

interface PointerScope {
  readonly step: PlanStep;
  readonly plan: PlanFile;
  readonly steps: ReadonlyMap<string, PlanStep>;
  readonly tools: KnownTools;
  readonly inItems: boolean;
  /** Whether the value may be missing. */
  readonly lenient: boolean;
}

const ROOTS = ["params", "steps", "item", "index", "plan"];
const OF_STEP = ["output", "outcome", "error", "items", "attempts"];

function checkPointer(keys: readonly string[], scope: PointerScope): string | undefined {
  const { step, plan, steps, tools, inItems, lenient } = scope;
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

/** Keywords that look at an object's names, not at its values. */
const OF_NAMES = [
  "required",
  "additionalProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
];

/** What of an input is wrong already, whatever its stand-ins come to. */
function checkInput(
  step: PlanStep,
  spec: ToolSpec,
  references: readonly { readonly at: readonly (string | number)[] }[],
): Fault[] {
  const unknown = references.map(({ at }) => pointerTo(at.slice(1)));
  const { input = {} } = step;
  return violationsOf(spec.name, spec.inputSchema, input)
    .filter(({ instancePath, keyword }) => {
      if (unknown.some((at) => instancePath === at || instancePath.startsWith(`${at}/`))) return false;
      return (
        OF_NAMES.includes(keyword) || !unknown.some((at) => at.startsWith(`${instancePath}/`) || instancePath === "")
      );
    })
    .map((violation) => {
      const { keys, message } = unknownField(violation, spec.inputSchema, `the input of "${spec.name}"`) ?? {
        keys: keysOf(violation.instancePath) ?? [],
        message: `the input of "${spec.name}"${violation.instancePath === "" ? "" : ` at ${violation.instancePath}`} ${violation.message}`,
      };
      return { keys: ["input", ...keys], message };
    });
}

function violationsOf(name: string, schema: object | boolean, value: unknown): readonly SchemaViolation[] {
  try {
    validateToolInput({ name, inputSchema: schema as ToolSpec["inputSchema"] }, value);
    return [];
  } catch (error) {
    if (!(error instanceof ToolSchemaValidationError)) throw error;
    return error.errors.length > 0
      ? error.errors
      : [{ instancePath: "", schemaPath: "", keyword: "schema", message: error.message }];
  }
}

function isStandIn(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && (Object.hasOwn(value, "$from") || Object.hasOwn(value, "$literal"))
  );
}

function hint(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}
