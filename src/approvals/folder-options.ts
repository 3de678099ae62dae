/** The options of `FolderApprovals`, and their check. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { isObject, unknownField } from "../runtime/arguments.js";
import type { ApprovalRequest } from "../runtime/approval.js";

/** What `FolderApprovals` takes. */
export interface FolderApprovalsOptions {
  /** Milliseconds between two looks at a folder that does not tell of its changes. At least 1. Default 500. */
  readonly pollMs?: number;
  /** Hears of each request when it begins to wait. */
  readonly onRequest?: (request: ApprovalRequest) => void;
  /** Hears of files that are not what they should be. Default: `process.emitWarning`. */
  readonly onWarning?: (message: string) => void;
}

/** @throws ToolRuntimeError `INVALID_OPTIONS` */
export function checkFolderOptions(folder: unknown, options: FolderApprovalsOptions): void {
  if (!isObject(options)) throw refused("its options must be an object");
  const { pollMs = 1, onRequest, onWarning }: FolderApprovalsOptions = options;
  const isFunction = (value: unknown): boolean => value === undefined || typeof value === "function";
  const wrong =
    typeof folder !== "string" || folder === ""
      ? "the folder must be a path"
      : !Number.isInteger(pollMs) || pollMs < 1 || pollMs >= 2 ** 31
        ? "`pollMs` must be a whole number of at least 1"
        : !isFunction(onRequest) || !isFunction(onWarning)
          ? "`onRequest` and `onWarning` must be functions"
          : unknownField(options, ["pollMs", "onRequest", "onWarning"]);
  if (wrong !== undefined) throw refused(wrong);
}

function refused(wrong: string): ToolRuntimeError {
  return new ToolRuntimeError(`FolderApprovals: ${wrong}.`, { code: "INVALID_OPTIONS" });
}
