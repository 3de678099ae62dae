/**
 * Whether a tool's slots are bound, as far as that can be known. A tool names the slots that it may use, not those it
 * cannot do without: `builtin/diff-text` needs none for two texts. So nothing is said where any slot of the tool is
 * bound, and else only where the call goes by a path: its tool wants one or has a default for it, or its input gives
 * one. In that case it would end with RESOURCE_NOT_BOUND.
 */
import type { ToolSpec } from "../index.js";
import type { Fault } from "./fault.js";
import { knownInput } from "./known-input.js";
import type { PlanFile, PlanStep } from "./plan-file.js";

/** Fields by which tools take a place in a slot. */
const PATHS = ["path", "paths"];
/** Fields that make a tool leave everything as it is. */
const REHEARSALS = ["dryRun", "check", "preview"];

interface Fields {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** @returns what is wrong; keys start at the step */
export function checkSlots(step: PlanStep, spec: ToolSpec, { resources = {}, readOnly }: PlanFile): Fault[] {
  const { read = [], write = [] } = spec.capability?.fs ?? {};
  const slots = [...new Set([...read, ...write])];
  // A step that may fail is the author's way to say that something may be missing.
  if (slots.length === 0 || step.continueOnError) return [];
  const { value: input } = knownInput(step.input);
  const named = slots.map((slot) => `"${slot}"`).join(", ");
  if (!slots.some((slot) => Object.hasOwn(resources, slot))) {
    if (!goesByPath(spec.inputSchema, input)) return [];
    const [slot = ""] = slots;
    const example = `resources: { ${slot}: { path: .${write.includes(slot) ? ", access: read_write" : ""} } }`;
    return [
      {
        keys: ["tool"],
        message: `"${spec.name}" works in slot ${named} and the plan binds nothing there; add ${example}`,
      },
    ];
  }
  const bound = write.filter((slot) => Object.hasOwn(resources, slot));
  const isWritable = bound.some((slot) => resources[slot]?.access === "read_write");
  // What writes in a read-only plan is refused for that.
  if (bound.length === 0 || isWritable || readOnly || spec.readOnly !== false || rehearses(step.input)) return [];
  const where = bound.map((slot) => `"${slot}"`).join(", ");
  return [
    {
      keys: ["tool"],
      message: `"${spec.name}" writes in slot ${where}, which the plan binds read-only; add access: read_write to resources/${bound[0]}`,
    },
  ];
}

/** Whether a call cannot but name a place. */
function goesByPath(schema: unknown, input: unknown): boolean {
  const { properties = {}, required = [] } = fieldsOf(schema);
  const isGiven = (name: string): boolean => typeof input === "object" && input !== null && Object.hasOwn(input, name);
  const hasDefault = (name: string): boolean => Object.hasOwn(Object(properties[name]) as object, "default");
  if (["from", "to"].every((name) => required.includes(name) && Object.hasOwn(properties, name))) return true;
  return Object.keys(properties).some((name) => {
    if (PATHS.includes(name)) return required.includes(name) || hasDefault(name) || isGiven(name);
    // Where a schema says nothing of what is in a field, a path in it is data.
    return isGiven(name) && goesByPath(properties[name], (input as Record<string, unknown>)[name]);
  });
}

function fieldsOf(schema: unknown): Fields {
  return typeof schema === "object" && schema !== null ? schema : {};
}

/** Whether an input asks for a rehearsal, or may: one that is not known yet, or a value of it. */
function rehearses(input: unknown): boolean {
  const { value, unknown } = knownInput(input);
  if (unknown.some(({ pointer }) => pointer === "" || REHEARSALS.some((name) => pointer === `/${name}`))) return true;
  return (
    typeof value === "object" &&
    value !== null &&
    REHEARSALS.some((name) => Boolean((value as Record<string, unknown>)[name]))
  );
}
