/** What can be said of one call, and of the end of calls. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { retryProblem, type RetryPolicy } from "./retry-policy.js";
import { isObject, unknownField } from "./arguments.js";

/** Options of one call. */
export interface ExecuteOptions {
  /** Cancels this call only. Default: the plan's token alone cancels it. */
  readonly signal?: AbortSignal;
  /**
   * Deadline in milliseconds from now, queue and activation included; above 0, below 2,147,483,648.
   * Default: the tool's `capability.timeoutMs`, else the runtime's `timeoutMs`.
   */
  readonly timeoutMs?: number;
  /** Your own id, unique among the plan's running calls, of 1 to 256 characters. Default: one that is made. */
  readonly callId?: string;
  /** Buffers inside the input to hand over without a copy. Such a call cannot move to another cell. Default: none. */
  readonly transfer?: readonly ArrayBuffer[];
  /**
   * Makes the call again where it fails: each attempt under the same call id and idempotency key, with a trace of its
   * own. `timeoutMs` covers them all. Default: one attempt.
   */
  readonly retry?: RetryPolicy;
}

/** How running calls end when their plan or tool is deactivated. */
export interface DeactivateOptions {
  /** Lets them finish. Default false: they are cancelled, and killed after the grace. */
  readonly drain?: boolean;
}

/**
 * Options may be left out.
 * @throws ToolRuntimeError `INVALID_ARGUMENT`
 */
export function checkExecuteOptions(options: ExecuteOptions | undefined): ExecuteOptions {
  if (options === undefined) return NONE;
  const problem = isObject(options)
    ? (unknownField(options, NAMES) ?? executeOptionsProblem(options))
    : "they must be an object";
  if (problem) throw new ToolRuntimeError(`Options of execute: ${problem}.`, { code: "INVALID_ARGUMENT" });
  return options;
}

const NAMES = [
  "signal",
  "timeoutMs",
  "callId",
  "transfer",
  "retry",
] as const satisfies readonly (keyof ExecuteOptions)[];
const NONE: ExecuteOptions = Object.freeze({});

function executeOptionsProblem({ signal, timeoutMs, callId, transfer, retry }: ExecuteOptions): string | undefined {
  if (signal !== undefined && !((signal as unknown) instanceof AbortSignal)) return "`signal` must be an AbortSignal";
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    return "`timeoutMs` must be a number of milliseconds above 0";
  }
  if (callId !== undefined && (typeof callId !== "string" || callId === "" || callId.length > 256)) {
    return "`callId` must be a text of 1 to 256 characters";
  }
  if (
    transfer !== undefined &&
    !(Array.isArray(transfer) && transfer.every((member) => member instanceof ArrayBuffer))
  ) {
    return "`transfer` must be a list of ArrayBuffers";
  }
  if (retry !== undefined) {
    if (transfer && transfer.length > 0)
      return "a call whose buffers are handed over cannot be made again: leave out `retry` or `transfer`";
    return retryProblem(retry);
  }
  return undefined;
}
