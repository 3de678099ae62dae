/** The words of `--approve`, and of `approve` in a config. */
import { resolve } from "node:path";

/** What may be said. */
export const APPROVE = /^(?:ask|none|all|folder:.+)$/s;
/** How it begins where a folder is named. */
const FOLDER = "folder:";

/** The folder that a choice names, absolute; undefined where it names none. */
export function folderOf(choice: string | undefined, base: string): string | undefined {
  return choice?.startsWith(FOLDER) === true ? resolve(base, choice.slice(FOLDER.length)) : undefined;
}

/** The choice with an absolute path. */
export function resolveChoice(choice: string, base: string): string {
  const folder = folderOf(choice, base);
  return folder === undefined ? choice : `${FOLDER}${folder}`;
}
