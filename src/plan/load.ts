/** Reads plan files, and tells what is wrong with one by file, line and column. */
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { ToolRuntimeError, type ToolRuntime } from "../index.js";
import { checkForm, checkMeaning } from "./check.js";
import type { Fault } from "./fault.js";
import type { PlanFile } from "./plan-file.js";
import { pointerTo } from "./pointer.js";
import { PlanSource, type Problem } from "./source.js";

/** A plan file that has the right form. */
export interface LoadedPlan {
  /** What the file says. */
  readonly plan: PlanFile;
  /** The plan's id: what the file says, else the file's name. */
  readonly planId: string;
  /** As it was given, for messages. */
  readonly file: string;
  /** Where relative paths of resources start. */
  readonly folder: string;
  /** The file's text, for where each value stands. */
  readonly source: PlanSource;
}

/** Most problems that one message lists. */
const PROBLEMS_SHOWN = 20;

/**
 * Reads a plan from a file, YAML or JSON.
 * @param folder where a relative path starts; the current folder by default
 * @throws ToolRuntimeError `INVALID_PLAN`, with `details.problems`
 * @example
 * ```yaml
 * # plan.yaml
 * readOnly: true
 * resources: { repo: { path: . } }
 * steps:
 *   - { id: read, tool: builtin/read-file, input: { path: README.md } }
 * ```
 *
 * ```ts
 * import { loadPlan } from "toolcell/plan";
 *
 * const { planId, plan } = await loadPlan("plan.yaml");
 * console.log(planId, plan.steps.map(({ id }) => id)); // → plan [ 'read' ]
 * ```
 */
export async function loadPlan(path: string, folder = process.cwd()): Promise<LoadedPlan> {
  const absolute = resolve(folder, path);
  let text: string;
  try {
    text = await readFile(absolute, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : String(code);
    throw new ToolRuntimeError(`The plan ${path} cannot be read: ${reason}.`, {
      code: "INVALID_PLAN",
      cause,
      details: { file: path },
    });
  }
  return parsePlan(text, { file: path, folder: dirname(absolute) });
}

/**
 * Reads a plan from a text, YAML or JSON.
 * @param place `file`: its name in messages, and the plan's id where the text has none; `folder`: where relative paths start
 * @throws ToolRuntimeError `INVALID_PLAN`, with `details.problems`
 * @example
 * ```ts
 * import { parsePlan } from "toolcell/plan";
 *
 * try {
 *   parsePlan("steps:\n  - { id: one }\n", { file: "broken.yaml", folder: process.cwd() });
 * } catch (error) {
 *   console.log((error as Error).message.split("\n").at(-1)); // → broken.yaml:2:5 must have required property 'tool'
 * }
 * ```
 */
export function parsePlan(
  text: string,
  { file, folder }: { readonly file: string; readonly folder: string },
): LoadedPlan {
  const source = new PlanSource(text);
  if (source.problems.length > 0) throw invalidPlan(file, source.problems);
  const problems = placed(source, checkForm(source.value));
  if (problems.length > 0) throw invalidPlan(file, problems);
  const plan = source.value as PlanFile;
  return { plan, planId: plan.plan ?? nameOf(file), file, folder, source };
}

/**
 * Looks for all that can be known to be wrong before the plan runs: names of steps and tools, order, pointers, inputs.
 * @param params names of the parameters that will be given
 * @example
 * ```ts
 * import { builtins, ToolRuntime } from "toolcell";
 * import { checkPlan, parsePlan } from "toolcell/plan";
 *
 * await using runtime = new ToolRuntime();
 * await runtime.use(builtins());
 * const plan = parsePlan("steps: [{ id: one, tool: builtin/reed-file }]", { file: "plan.yaml", folder: process.cwd() });
 * for (const { line, column, message } of checkPlan(plan, runtime)) {
 *   console.log(`${line}:${column} ${message}`);
 *   // → 1:20 no tool "builtin/reed-file" is registered; did you mean "builtin/read-file"?
 * }
 * ```
 */
export function checkPlan(
  { plan, source }: LoadedPlan,
  runtime: Pick<ToolRuntime, "get" | "list">,
  params: Iterable<string> = [],
): Problem[] {
  const tools = { get: (name: string) => runtime.get(name), names: () => runtime.list().map(({ name }) => name) };
  return placed(source, checkMeaning(plan, tools, new Set(params)));
}

/** The error that tells of problems. */
export function invalidPlan(file: string, problems: readonly Problem[]): ToolRuntimeError {
  const lines = problems
    .slice(0, PROBLEMS_SHOWN)
    .map(({ line, column, message }) => `${file}:${line}:${column} ${message}`);
  const more = problems.length > PROBLEMS_SHOWN ? [`and ${problems.length - PROBLEMS_SHOWN} more`] : [];
  return new ToolRuntimeError([`The plan ${file} cannot be run:`, ...lines, ...more].join("\n"), {
    code: "INVALID_PLAN",
    details: { file, problems },
  });
}

function placed(source: PlanSource, faults: readonly Fault[]): Problem[] {
  return faults
    .map(({ keys, message }) => ({ ...source.positionOf(keys), message, pointer: pointerTo(keys) }))
    .sort((one, other) => one.line - other.line || one.column - other.column);
}

/** A file's name as a plan's id. */
function nameOf(file: string): string {
  const name = basename(file, extname(file))
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "");
  return name === "" ? "plan" : name.slice(0, 100);
}
