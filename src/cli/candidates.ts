/** What may stand in place of the last word of a command line. */
import type { Command, Option } from "commander";
import type { ToolSpec } from "../index.js";
import { offered, SHELLS } from "./completion.js";
import { optionsOf, valuesOf } from "./input-fields.js";
import type { SessionOptions } from "./session.js";

/** Commands whose first operand is a tool. */
const OF_TOOLS = ["describe", "call", "bench"];
/** Commands behind whose first operand everything belongs to the tool. */
const TAKE_INPUT = ["call", "bench"];

/** A command line up to its last word. */
interface Line {
  readonly command: Command;
  readonly operands: readonly string[];
  /** Values of options, by attribute. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Whether the last word is the value of an option. */
  readonly isValue: boolean;
}

/**
 * What may stand in place of the last word.
 * @param tools gives the tools that there are with these options; asked for only where one may stand
 */
export async function candidates(
  program: Command,
  words: readonly string[],
  tools: (options: SessionOptions) => Promise<readonly ToolSpec[]>,
): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const all = await anyOf(program, words, tools);
  return offered([...new Set(all)]).filter((word) => word.startsWith(last));
}

async function anyOf(
  program: Command,
  words: readonly string[],
  tools: (options: SessionOptions) => Promise<readonly ToolSpec[]>,
): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const { command, operands, values, isValue } = parsed(program, words.slice(0, -1));
  const name = command.name();
  if (command.commands.length > 0) {
    const isHelp = operands[0] === "help" && operands.length === 1 && command === program;
    return operands.length === 0 || isHelp ? namesOf(command) : [];
  }
  if (isValue) return [];
  const open = (): Promise<readonly ToolSpec[]> =>
    tools({ ...(values["config"] && { config: values["config"].at(-1) ?? "" }), load: values["load"] ?? [] });
  const [tool, ...input] = operands;
  if (tool !== undefined && TAKE_INPUT.includes(name)) return inputWords(await open(), tool, input, last);
  if (last.startsWith("-")) return command.options.flatMap(({ long }) => long ?? []);
  if (tool !== undefined) return [];
  if (name === "completion") return [...SHELLS];
  return OF_TOOLS.includes(name) ? toolNames(await open(), last) : [];
}

function namesOf(command: Command): string[] {
  const visible = command.commands.map((each) => each.name()).filter((name) => name !== "complete");
  return command.parent ? visible : [...visible, "help"];
}

/** Short names too, of which only one tool has each; not in a list of everything, where they would be doubles. */
function toolNames(specs: readonly ToolSpec[], last: string): string[] {
  const full = specs.map(({ name }) => name);
  if (last === "") return full;
  const short = full.map((name) => name.slice(name.indexOf("/") + 1));
  return [
    ...full,
    ...short.filter((name, index) => short.indexOf(name) === index && short.lastIndexOf(name) === index),
  ];
}

/** Fields of the tool's input, and values of the one that was named. */
function inputWords(specs: readonly ToolSpec[], name: string, input: readonly string[], last: string): string[] {
  const exact = specs.find((spec) => spec.name === name);
  const short = specs.filter((spec) => spec.name.endsWith(`/${name}`));
  const spec = exact ?? (short.length === 1 ? short[0] : undefined);
  if (!spec) return [];
  const before = input.at(-1) ?? "";
  const values = /^--[^=]+$/.test(before) && !last.startsWith("-") ? valuesOf(spec, before) : undefined;
  return values ?? optionsOf(spec);
}

function parsed(program: Command, words: readonly string[]): Line {
  let command = program;
  let awaiting: Option | undefined;
  const operands: string[] = [];
  const values: Record<string, string[]> = {};
  for (const word of words) {
    if (awaiting) {
      (values[awaiting.attributeName()] ??= []).push(word);
      awaiting = undefined;
      continue;
    }
    const isInput = operands.length > 0 && TAKE_INPUT.includes(command.name());
    if (!isInput && word.startsWith("-") && word !== "-") {
      const [flag, value] = word.split(/=(.*)/s, 2);
      const option = command.options.find(({ short, long }) => flag === short || flag === long);
      if (option?.required && value === undefined) awaiting = option;
      else if (option && value !== undefined) (values[option.attributeName()] ??= []).push(value);
      continue;
    }
    const next = operands.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (next) command = next;
    else operands.push(word);
  }
  return { command, operands, values, isValue: awaiting !== undefined };
}
