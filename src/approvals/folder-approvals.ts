/** Requests for approval that wait in a folder, until somebody decides there: another process, another day. */
import { ToolRuntimeError } from "../protocol/errors.js";
import type { ApprovalDecision, ApprovalProvider, ApprovalRequest } from "../runtime/approval.js";
import { ApprovalFiles } from "./approval-files.js";
import { checkFolderOptions, type FolderApprovalsOptions } from "./folder-options.js";
import { FolderWatch, type Bell } from "./folder-watch.js";
import type { Verdict } from "./memory-approvals.js";
import { decisionOf, isApprovalId, isExpired, textOfDecision, textOfRequest } from "./stored-approval.js";

/** Milliseconds from one sweep to the next. */
const SWEEP_MS = 60_000;

/**
 * Keeps requests as files in a folder. Whoever may write there, and nobody else, can list and answer them with a
 * `FolderApprovals` of the same folder, or with `toolcell approvals`. A request outlives the process that asked: the answer
 * to it is found by the same call (plan, call id, tool, version, input, actor) made again before the request has expired,
 * and is used once. Never grant the folder to a tool.
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { FolderApprovals, ToolRuntime } from "toolcell";
 *
 * const folder = await mkdtemp(join(tmpdir(), "approvals-"));
 * // This would be another process.
 * const desk = new FolderApprovals(folder);
 * const onRequest = () => void desk.pending().then(([request]) => desk.decide(request!.approvalId, { approved: true }));
 *
 * const runtime = new ToolRuntime({ approvals: new FolderApprovals(folder, { onRequest }) });
 * const spec = { name: "acme/double", description: "Doubles a number.", inputSchema: { type: "number" } };
 * runtime.register(spec, { execute: (input) => Number(input) * 2, capability: { requiresApproval: true } });
 * console.log((await runtime.plan({ planId: "sums" }).execute("acme/double", 21)).output); // → 42
 * await runtime.close();
 * await rm(folder, { recursive: true });
 * ```
 */
export class FolderApprovals implements ApprovalProvider {
  /** Its absolute path. */
  readonly folder: string;
  readonly #files: ApprovalFiles;
  readonly #watch: FolderWatch;
  readonly #onRequest: ((request: ApprovalRequest) => void) | undefined;
  readonly #onWarning: (message: string) => void;
  readonly #asked = new Set<string>();
  #sweptAt = -Infinity;
  #isExposureTold = false;

  /**
   * @param folder is made when the first request is, for its owner alone
   * @throws ToolRuntimeError `INVALID_OPTIONS`
   */
  constructor(folder: string, options: FolderApprovalsOptions = {}) {
    checkFolderOptions(folder, options);
    const { pollMs = 500, onRequest, onWarning } = options;
    this.#files = new ApprovalFiles(folder);
    this.folder = this.#files.folder;
    this.#watch = new FolderWatch(this.#files, pollMs);
    this.#onRequest = onRequest;
    this.#onWarning = onWarning ?? warn;
  }

  /** Asks. Called by the runtime. */
  async requestApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { approvalId } = request;
    if (!isApprovalId(approvalId)) throw new Error("its id is no SHA-256 in hex");
    if (this.#asked.has(approvalId)) throw new Error("the same request is waiting already");
    this.#asked.add(approvalId);
    let bell: Bell | undefined;
    // Whether the files with its id are this asker's to remove.
    let isOurs = false;
    const isOver = (): boolean => signal.aborted;
    const leave = (): void => {
      if (isOurs) this.#remove(approvalId);
      bell?.ring();
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      await this.#open();
      bell = this.#watch.add(approvalId);
      isOurs = true;
      await this.#put(request);
      while (!isOver()) {
        const text = await this.#takeDecision(approvalId);
        if (text !== undefined) return await this.#use(text, request);
        if (!(await this.#files.has(approvalId, "request")) && !isOver()) {
          isOurs = false;
          throw new Error("its request was removed, or answered to another asker");
        }
        await bell.rung();
      }
      throw new Error("nobody waits for it any more");
    } finally {
      signal.removeEventListener("abort", leave);
      if (isOurs) this.#remove(approvalId);
      this.#watch.remove(approvalId);
      this.#asked.delete(approvalId);
    }
  }

  /**
   * The requests that wait for an answer, oldest first, whichever process made them. Rejects where the folder cannot be
   * read; one that does not exist holds none.
   */
  async pending(): Promise<ApprovalRequest[]> {
    const waiting: ApprovalRequest[] = [];
    for (const [id, kinds] of await this.#files.list()) {
      if (!kinds.has("request") || kinds.has("decision")) continue;
      const request = await this.#stored(id);
      if (request && !isExpired(request)) waiting.push(request);
    }
    const order = ({ requestedAt, approvalId }: ApprovalRequest): string => requestedAt + approvalId;
    return waiting.sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  /**
   * Answers a request, whichever process made it. The first answer counts.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where no such request waits (it was answered, has expired, was tampered
   *   with, or never was), or the verdict is none
   */
  async decide(approvalId: string, verdict: Verdict): Promise<void> {
    if (!isApprovalId(approvalId)) {
      throw invalid(approvalId, `"${String(approvalId)}" is no approval's id, which has 64 hex digits`);
    }
    const { approved, decidedBy, reason } = verdict;
    const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
    if (typeof (approved as unknown) !== "boolean" || !isText(decidedBy) || !isText(reason)) {
      throw invalid(approvalId, "A verdict is { approved: true or false, decidedBy?: text, reason?: text }");
    }
    const request = await this.#files.request(approvalId).catch((error: unknown) => {
      throw invalid(approvalId, `The request for approval "${approvalId}" cannot be answered: ${messageOf(error)}`);
    });
    if (!request) throw notWaiting(approvalId);
    const { expiresAt } = request;
    if (isExpired(request)) {
      throw invalid(approvalId, `The request for approval "${approvalId}" expired at ${expiresAt}; ask for it anew`);
    }
    const said = { ...(decidedBy !== undefined && { decidedBy }), ...(reason !== undefined && { reason }) };
    const text = textOfDecision({ approvalId, approved, ...said, expiresAt });
    if (!(await this.#files.addDecision(approvalId, text))) {
      throw invalid(
        approvalId,
        `The request for approval "${approvalId}" was decided already; the first decision counts`,
      );
    }
    // Where the asker has left in between, the answer must not lie about; where it has used it, it is gone.
    const isLeft = !(await this.#files.has(approvalId, "request"));
    if (isLeft && (await this.#files.withdrawDecision(approvalId))) throw notWaiting(approvalId);
  }

  async #open(): Promise<void> {
    const isExposed = await this.#files.open();
    if (isExposed && !this.#isExposureTold) {
      this.#isExposureTold = true;
      this.#onWarning(`Everybody on this host may write to the approvals in ${this.folder}, and so approve.`);
    }
    if (performance.now() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = performance.now();
    await this.#files.sweep();
  }

  /** Puts the request there, unless the same one was asked before and has its answer. */
  async #put(request: ApprovalRequest): Promise<void> {
    const { approvalId } = request;
    const earlier = await this.#stored(approvalId);
    const isLive = earlier !== undefined && !isExpired(earlier);
    if (isLive && (await this.#files.has(approvalId, "decision"))) return;
    if (!isLive) this.#files.remove(approvalId);
    await this.#files.putRequest(approvalId, textOfRequest(request));
    this.#onRequest?.(request);
  }

  /** A request that is in order; of another one people hear. */
  async #stored(approvalId: string): Promise<ApprovalRequest | undefined> {
    try {
      return await this.#files.request(approvalId);
    } catch (error) {
      this.#onWarning(
        `The request for approval ${approvalId} in ${this.folder} counts for nothing: ${messageOf(error)}.`,
      );
      return undefined;
    }
  }

  /** What cannot be removed is of no use to anybody: a decision counts for one asker only. */
  #remove(approvalId: string): void {
    try {
      this.#files.remove(approvalId);
    } catch (error) {
      this.#onWarning(
        `The files of approval ${approvalId} cannot be removed from ${this.folder}: ${messageOf(error)}.`,
      );
    }
  }

  async #takeDecision(approvalId: string): Promise<string | undefined> {
    try {
      return await this.#files.takeDecision(approvalId);
    } catch (error) {
      throw this.#unusable(approvalId, error);
    }
  }

  /** What a decision says, if it is one on this very request, as people were shown it. */
  async #use(text: string, request: ApprovalRequest): Promise<ApprovalDecision> {
    const { approvalId } = request;
    try {
      const shown = await this.#files.request(approvalId);
      if (!shown) throw new Error("its request is gone");
      if (isExpired(shown)) throw new Error("its request has expired");
      return decisionOf(text, request);
    } catch (error) {
      throw this.#unusable(approvalId, error);
    }
  }

  #unusable(approvalId: string, cause: unknown): Error {
    const message = `the decision in ${this.folder} counts for nothing: ${messageOf(cause)}`;
    this.#onWarning(`Approval ${approvalId}: ${message}.`);
    return new Error(message, { cause });
  }
}

function warn(message: string): void {
  process.emitWarning(message, "ToolcellApprovalWarning");
}

function notWaiting(approvalId: string): ToolRuntimeError {
  return invalid(approvalId, `No request for approval "${approvalId}" waits; pending() lists those that do`);
}

function invalid(approvalId: string, message: string): ToolRuntimeError {
  return new ToolRuntimeError(`${message}.`, { code: "INVALID_ARGUMENT", details: { approvalId } });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
