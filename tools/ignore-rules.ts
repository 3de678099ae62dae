/**
 * The rules of the ignore files above a name. Each file's rules count from its own folder; the file that is nearest to
 * a name has the last word on it, and in one folder `.ignore` has it over `.gitignore`.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import type { default as IgnoreFactory, Ignore } from "ignore";
import type { ToolContext } from "../src/tool.js";
import { failureOf, shown } from "./failure.js";
import { openFile } from "./open-file.js";

/** The later has the last word. */
const FILES = [".gitignore", ".ignore"] as const;
/** A longer file is no list that somebody wrote, and each name would be held against all of it. */
const MAX_FILE_BYTES = 256 * 1024;
/** Names after which the answers kept for them are dropped: a walk asks about each name once. */
const MAX_ANSWERS = 10_000;
/** Each `**` between folders tries all depths for those of the next, so their number bounds the time of a name. */
const MAX_DEEP = 2;
/** As in git, a link or a folder of that name is no ignore file. */
const NO_FILE: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_A_FILE", "SYMLINK_LOOP"]);

/** Whether a name is that of an ignore file. */
export function isIgnoreFile(name: string): boolean {
  return (FILES as readonly string[]).includes(name);
}

/** The rules that hold in one folder. */
export class IgnoreRules {
  /** Nearest first. */
  readonly #levels: readonly Level[];

  constructor(levels: readonly Level[] = []) {
    this.#levels = levels;
  }

  /**
   * Whether a name is left out.
   * @param path from the resource's root, with slashes; a folder's ends with one
   */
  ignores(path: string): boolean {
    for (const level of this.#levels) {
      const verdict = level.test(path);
      if (verdict !== undefined) return verdict;
    }
    return false;
  }

  /**
   * The rules for what lies in a folder that is entered, by request or because a nearer file takes it in again. That the
   * folder is left out says nothing on what is in it then; each rule is still held against that.
   * @param path from the resource's root, with a slash at its end; "" is the root
   */
  entered(path: string): IgnoreRules {
    if (path === "" || !this.#levels.some((level) => level.test(path) === true)) return this;
    return new IgnoreRules(this.#levels.map((level) => level.takingIn(path)));
  }

  /**
   * The rules with those of a folder's own files.
   * @param folder absolute path of the folder
   * @param path the same from the resource's root, with a slash at its end; "" is the root
   * @param miss is told the files that are there and cannot be read
   */
  async with(folder: string, path: string, context: ToolContext, miss: (path: string) => void): Promise<IgnoreRules> {
    const added: Level[] = [];
    for (const name of FILES) {
      const text = await readRules(join(folder, name), path + name).catch((error: unknown) => {
        const failure = failureOf(error, path + name);
        if (!failure) throw error;
        if (!NO_FILE.has(failure.code)) miss(path + name);
        return "";
      });
      const rules = text.split(/\r?\n/).flatMap((pattern, at) => {
        if (/^(#| *$)/.test(pattern)) return [];
        if (depths(pattern) <= MAX_DEEP) return [pattern];
        const where = `${shown(path + name)}, line ${at + 1}`;
        context.log.warn(`${where}, is left out: it has more than ${MAX_DEEP} ** between folders.`);
        return [];
      });
      if (rules.length === 0) continue;
      // Loaded here, as a folder without such files has no use for it and every cell pays for what a tool imports.
      const { default: ignore } = await import("ignore");
      added.unshift(new Level(ignore, rules, path));
    }
    return added.length > 0 ? new IgnoreRules([...added, ...this.#levels]) : this;
  }
}

/** The rules of one file. */
class Level {
  readonly #ignore: typeof IgnoreFactory;
  readonly #rules: readonly string[];
  readonly #folder: string;
  #matcher: Ignore;
  #asked = 0;

  constructor(ignore: typeof IgnoreFactory, rules: readonly string[], folder: string) {
    this.#ignore = ignore;
    this.#rules = rules;
    this.#folder = folder;
    this.#matcher = ignore({ ignoreCase: false }).add(rules);
  }

  /** Whether a path is left out or taken in; undefined where no rule says. */
  test(path: string): boolean | undefined {
    if (++this.#asked % MAX_ANSWERS === 0) this.#matcher = this.#ignore({ ignoreCase: false }).add(this.#matcher);
    const { ignored, unignored } = this.#matcher.test(path.slice(this.#folder.length));
    return ignored || unignored ? ignored : undefined;
  }

  /** The same with a last rule that takes a folder in, and nothing of what is in it. */
  takingIn(path: string): Level {
    if (this.test(path) !== true) return this;
    const name = path.slice(this.#folder.length, -1).replace(/[\\*?[\]!# ]/g, "\\$&");
    return new Level(this.#ignore, [...this.#rules, `!/${name}/`], this.#folder);
  }
}

/** How many `**` of a line stand for any number of folders, with something after them. */
function depths(pattern: string): number {
  return pattern.match(/(?<![^!/])\*{2,}\/+(?=.)/g)?.length ?? 0;
}

async function readRules(real: string, path: string): Promise<string> {
  const located = { real, path, realPath: path, exists: true, meansFolder: false };
  const { handle, size } = await openFile(located, constants.O_RDONLY);
  try {
    const bytes = Buffer.alloc(Math.min(size, MAX_FILE_BYTES));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    // As in git, a byte order mark is no part of the first rule.
    const text = bytes.toString("utf8", 0, bytesRead).replace(/^\ufeff/, "");
    // Of a file that is cut the last line may be half a rule.
    return size > MAX_FILE_BYTES ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
  } finally {
    await handle.close();
  }
}
