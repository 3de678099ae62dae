/** What a tool sees of its call, without an engine around it. */
import { mkdtemp, readdir, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ToolCancelledError,
  type BoundResource,
  type ChangeInput,
  type ToolAnswer,
  type ToolContext,
} from "../../src/tool.js";

/** How a fake call is set up. */
export interface FakeOptions {
  /** Path of the resource in slot `repo`; none is bound without it. */
  path?: string;
  access?: BoundResource["access"];
  /** Runs at every look at the token; may cancel. */
  onPoll?: (polls: number, cancel: () => void) => void;
  /** Runs at every report of progress; may cancel. */
  onProgress?: (done: number, cancel: () => void) => void;
}

/** A context and what the tool did with it. */
export interface FakeCall {
  readonly context: ToolContext;
  readonly progress: [done: number, total: number | undefined][];
  readonly changes: ChangeInput[];
  readonly polls: () => number;
  readonly cancel: () => void;
}

/** A call of its own for each test. */
export function fakeCall({ path, access = "read_write", onPoll, onProgress }: FakeOptions = {}): FakeCall {
  const controller = new AbortController();
  const progress: FakeCall["progress"] = [];
  const changes: ChangeInput[] = [];
  let polls = 0;
  const cancel = (): void => controller.abort();
  const nothing = (): void => undefined;
  const context: ToolContext = {
    planId: "plan",
    callId: "call",
    attempt: 1,
    idempotencyKey: "key",
    traceparent: "00-00000000000000000000000000000001-0000000000000001-01",
    cancellationToken: {
      signal: controller.signal,
      get isCancelled() {
        return controller.signal.aborted;
      },
      check() {
        polls++;
        onPoll?.(polls, cancel);
        if (controller.signal.aborted) throw new ToolCancelledError("cancelled");
      },
    },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    resource(slot) {
      if (slot !== "repo" || path === undefined) throw new Error(`nothing is bound to ${slot}`);
      return { slotName: slot, resourceId: "repo-1", resourceType: "folder", access, path };
    },
    progress(done, total) {
      progress.push([done, total]);
      onProgress?.(done, cancel);
    },
    recordChange(change) {
      changes.push(change);
    },
    reportCost: nothing,
    call: () => Promise.reject(new Error("there is no other tool")),
  };
  return { context, progress, changes, polls: () => polls, cancel };
}

/** The output of an answer that must be a success. */
export function outputOf<Output>(answer: ToolAnswer<Output>): Output {
  if (!answer.success || answer.output === undefined) {
    throw new Error(`expected a success, got ${answer.error?.code}: ${answer.error?.message}`);
  }
  return answer.output;
}

/** The code of an answer that must be a failure. */
export function codeOf(answer: ToolAnswer): string | undefined {
  return answer.success ? "success" : answer.error?.code;
}

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection");
}

/** A folder of its own, by its real path. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "toolcell-tools-")));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The files below a folder that this process has open, where the host tells (Linux); else none. */
export async function filesOpenBelow(folder: string): Promise<string[]> {
  const numbers = await readdir("/proc/self/fd").catch(() => []);
  const open = await Promise.all(numbers.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")));
  return open.filter((path) => path.startsWith(`${folder}/`));
}
