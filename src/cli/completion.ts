/** Completion for shells: a script that asks the command itself. */
import { UsageError } from "./usage-error.js";

/** Shells that are known. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** What a candidate may hold: nothing that means something to a shell, which takes it into its line as it is. */
const PLAIN = /^[\p{L}\p{N}_@%+:,./=-]+$/u;

// The candidates are read as lines, never expanded: they hold names that tools give themselves. Bash 3.2 has no mapfile.
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_toolcell() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    COMPREPLY+=("$candidate")
  done < <(toolcell complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _toolcell toolcell`,
  zsh: `#compdef toolcell
_toolcell() {
  local -a candidates
  candidates=(\${(f)"$(toolcell complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
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

/** Those of the words that may be offered. */
export function offered(words: readonly string[]): string[] {
  return words.filter((word) => PLAIN.test(word));
}
