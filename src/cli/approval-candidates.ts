/** Completion of the ids that `toolcell approvals` takes. */
import { approvalIds } from "./commands/approvals.js";
import type { Terminal } from "./terminal.js";

const TAKE_AN_ID = ["list", "approve", "decline"];
const TAKE_A_VALUE = ["--folder", "--config", "--by", "--reason"];

/** The ids that may stand in place of the last word; undefined where none may. */
export async function approvalCandidates(terminal: Terminal, words: readonly string[]): Promise<string[] | undefined> {
  const [name = "", action = "", ...rest] = words;
  if (name !== "approvals" || !TAKE_AN_ID.includes(action) || rest.length === 0) return undefined;
  const last = rest.pop() ?? "";
  const values: Record<string, string> = {};
  for (let at = 0; at < rest.length; at++) {
    const [flag = "", value] = (rest[at] ?? "").split(/=(.*)/s, 2);
    if (!flag.startsWith("-")) return [];
    if (value !== undefined) values[flag] = value;
    else if (TAKE_A_VALUE.includes(flag)) {
      // The last word is its value.
      if (at === rest.length - 1) return [];
      values[flag] = rest[++at] ?? "";
    }
  }
  if (last.startsWith("-")) return undefined;
  const { "--folder": folder, "--config": config } = values;
  const ids = await approvalIds(terminal, {
    ...(folder !== undefined && { folder }),
    ...(config !== undefined && { config }),
  });
  return ids.filter((id) => id.startsWith(last));
}
