/** Completion for shells: a script that asks the command itself. */
import type { Command } from "commander";
import { UsageError } from "./usage-error.js";

/** Shells that are known. */
const SHELLS = ["bash", "zsh", "fish"] as const;

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_toolcell() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(toolcell complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _toolcell toolcell`,
  zsh: `#compdef toolcell
_toolcell() {
  local -a candidates
  candidates=("\${(@f)$(toolcell complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
  _files
}
compdef _toolcell toolcell`,
  fish: `complete -c toolcell -a '(toolcell complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** The script for a shell. @throws UsageError */
export function completionScript(shell: string): string {
  const known = SHELLS.find((name) => name === shell);
  if (!known) throw new UsageError(`Completion is known for ${SHELLS.join(", ")}, not for "${shell}".`);
  return SCRIPTS[known];
}

/** Commands whose first word is a tool. */
const OF_TOOLS = ["describe", "call", "bench"];

/**
 * What may stand in place of the last word.
 * @param tools names of the tools; asked for only where one may stand
 */
export async function candidates(
  program: Command,
  words: readonly string[],
  tools: () => Promise<readonly string[]>,
): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const [name = ""] = words;
  const begins = (word: string): boolean => word.startsWith(last);
  const visible = program.commands.filter((command) => !["complete"].includes(command.name()));
  if (words.length <= 1) return visible.map((command) => command.name()).filter(begins);
  const command = visible.find((each) => each.name() === name);
  if (!command) return [];
  if (last.startsWith("-")) return command.options.flatMap(({ long }) => long ?? []).filter(begins);
  if (name === "completion") return SHELLS.filter(begins);
  if (name === "new" && words.length === 2) return ["tool"].filter(begins);
  return OF_TOOLS.includes(name) && words.length === 2 ? (await tools()).filter(begins) : [];
}
