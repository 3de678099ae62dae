/** The files of requests for approval: `<id>.request.json` and `<id>.decision.json` in one folder. */
import { randomBytes } from "node:crypto";
import { constants, rmSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ApprovalRequest } from "../runtime/approval.js";
import { requestOf } from "./stored-approval.js";

/** What a file is to an approval. */
type Kind = "request" | "decision";

const FILE = /^([0-9a-f]{64})\.(request|decision)\.json$/;
/** A file that is being written, or a decision that is being used. */
const PASSING = /^[0-9a-f]{64}\.[0-9a-f]{16}\.(new|taken)$/;
/** Bytes of a file that are read at most. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Milliseconds by which the clocks of two machines may differ before one sweeps what the other waits for. */
const CLOCKS_DIFFER_MS = 60_000;
/** Milliseconds after which a passing file is of a process that died. */
const LEFT_BEHIND_MS = 600_000;

/** One folder of approvals. */
export class ApprovalFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  /**
   * Makes the folder where it is missing.
   * @returns whether everybody may write there, and so approve
   */
  async open(): Promise<boolean> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const { mode } = await stat(this.folder);
    return process.platform !== "win32" && (mode & 0o002) !== 0;
  }

  /** The ids that have files, and which. */
  async list(): Promise<Map<string, Set<Kind>>> {
    const found = new Map<string, Set<Kind>>();
    for (const name of await this.#names()) {
      const [, id, kind] = FILE.exec(name) ?? [];
      if (id !== undefined) found.set(id, (found.get(id) ?? new Set()).add(kind as Kind));
    }
    return found;
  }

  async has(approvalId: string, kind: Kind): Promise<boolean> {
    return await stat(this.#path(approvalId, kind)).then(
      () => true,
      (error: unknown) => unlessMissing(error, false),
    );
  }

  /**
   * Reads a request.
   * @returns undefined where there is none
   * @throws Error where it is not what it should be
   */
  async request(approvalId: string): Promise<ApprovalRequest | undefined> {
    const text = await read(this.#path(approvalId, "request"));
    return text === undefined ? undefined : requestOf(text, approvalId);
  }

  /** Puts a request there, whole or not at all, in place of an earlier one. */
  async putRequest(approvalId: string, text: string): Promise<void> {
    const passing = await this.#write(approvalId, text);
    await rename(passing, this.#path(approvalId, "request"));
  }

  /**
   * Puts a decision there, whole or not at all.
   * @returns false where there is one
   */
  async addDecision(approvalId: string, text: string): Promise<boolean> {
    const passing = await this.#write(approvalId, text);
    try {
      // A link is made or is not; a rename would put the second decision in place of the first.
      await link(passing, this.#path(approvalId, "decision"));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    } finally {
      await rm(passing, { force: true });
    }
  }

  /** Takes a decision back that was just added. @returns false where it is gone */
  async withdrawDecision(approvalId: string): Promise<boolean> {
    return await unlink(this.#path(approvalId, "decision")).then(
      () => true,
      (error: unknown) => unlessMissing(error, false),
    );
  }

  /**
   * Takes a decision out of everybody's reach, and reads it. Of several who try, one gets it; where that one dies, nobody
   * ever does.
   * @returns undefined where there is none
   * @throws Error where it is no file with text
   */
  async takeDecision(approvalId: string): Promise<string | undefined> {
    const taken = this.#passing(approvalId, "taken");
    try {
      await rename(this.#path(approvalId, "decision"), taken);
    } catch (error) {
      return unlessMissing<string | undefined>(error, undefined);
    }
    try {
      return await read(taken);
    } finally {
      rmSync(taken, { recursive: true, force: true });
    }
  }

  /** Removes an approval's files. At once: the process may be about to end. */
  remove(approvalId: string): void {
    for (const kind of ["request", "decision"] as const) {
      rmSync(this.#path(approvalId, kind), { recursive: true, force: true });
    }
  }

  /** Removes what nobody waits for: requests that have expired, decisions without one, what dead processes left. */
  async sweep(): Promise<void> {
    for (const [id, kinds] of await this.list()) {
      // Made while the folder was being read, a request is there after all.
      if (kinds.has("request") || (await this.has(id, "request"))) {
        const request = await this.request(id).catch(() => undefined);
        if (request && Date.parse(request.expiresAt) + CLOCKS_DIFFER_MS <= Date.now()) this.remove(id);
      } else if (await this.#isOld(`${id}.decision.json`)) this.remove(id);
    }
    for (const name of await this.#names()) {
      if (PASSING.test(name) && (await this.#isOld(name))) await rm(join(this.folder, name), { force: true });
    }
  }

  async #isOld(name: string): Promise<boolean> {
    // The time of its last change, of its name also: a decision may be used long after it was written.
    const { ctimeMs } = await stat(join(this.folder, name)).catch(() => ({ ctimeMs: Infinity }));
    return ctimeMs + LEFT_BEHIND_MS <= Date.now();
  }

  async #names(): Promise<string[]> {
    return await readdir(this.folder).catch((error: unknown) => unlessMissing(error, []));
  }

  async #write(approvalId: string, text: string): Promise<string> {
    const path = this.#passing(approvalId, "new");
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return path;
  }

  #path(approvalId: string, kind: Kind): string {
    return join(this.folder, `${approvalId}.${kind}.json`);
  }

  #passing(approvalId: string, what: "new" | "taken"): string {
    return join(this.folder, `${approvalId}.${randomBytes(8).toString("hex")}.${what}`);
  }
}

/** Reads a file that others may have put there: no link, no pipe that nobody writes to, nothing endless. */
async function read(path: string): Promise<string | undefined> {
  const noLink = (constants.O_NOFOLLOW as number | undefined) ?? 0;
  const noWait = (constants.O_NONBLOCK as number | undefined) ?? 0;
  let file;
  try {
    file = await open(path, constants.O_RDONLY | noLink | noWait);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(code === "ELOOP" ? "it is a link" : `it cannot be read (${String(code)})`, { cause: error });
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("it is no file");
    if (stats.size > MOST_BYTES) throw new Error("it is too large");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function unlessMissing<T>(error: unknown, value: T): T {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return value;
  throw error as Error;
}
