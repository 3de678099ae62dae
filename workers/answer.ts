/** Turns what a tool returned or threw into what may leave the cell. */
import { encodeError } from "../src/protocol/error-codec.js";
import { ToolExecutionError } from "../src/protocol/errors.js";
import type { CallKey, CellAnswer } from "../src/protocol/messages.js";
import { measurePayload, type PayloadLimits, type PayloadRefusal } from "../src/protocol/payload.js";
import { isAnswer } from "../src/protocol/tool.js";
import { stampChange } from "./tool-context.js";

/** An answer with the buffers that go over without a copy. */
export interface OutgoingAnswer {
  readonly answer: CellAnswer;
  readonly transfer: readonly ArrayBuffer[];
}

const NOTHING: readonly ArrayBuffer[] = [];

/** The answer for a tool that returned. Never throws: an output that cannot leave becomes an error. */
export function answerReturned(key: CallKey, returned: unknown, limits: PayloadLimits): OutgoingAnswer {
  try {
    if (!isAnswer(returned)) return answerOutput(key, returned, NOTHING, undefined, limits);
    const changes = returned.changes.length > 0 ? { changes: returned.changes.map(stampChange) } : undefined;
    if (returned.success) return answerOutput(key, returned.output, returned.transfer, changes, limits);
    const error = returned.error ?? { code: "TOOL_ERROR", message: "the tool answered with an error", details: {} };
    const refusal = measurePayload(error, limits);
    if (typeof refusal === "object") return answerThrown(key, resultError(refusal));
    return { answer: { ...key, kind: "tool_error", error, ...changes }, transfer: NOTHING };
  } catch (error) {
    return answerThrown(key, error);
  }
}

/** The answer for a tool that threw. */
export function answerThrown(key: CallKey, thrown: unknown): OutgoingAnswer {
  return { answer: { ...key, kind: "threw", error: encodeError(thrown) }, transfer: NOTHING };
}

/** The answer for an output that the port refused. */
export function answerUncloneable(key: CallKey, reason: unknown): OutgoingAnswer {
  const detail = reason instanceof Error ? reason.message : String(reason);
  return answerThrown(key, resultError({ reason: "not_cloneable", message: `cannot be copied: ${detail}` }));
}

function answerOutput(
  key: CallKey,
  output: unknown,
  transfer: readonly ArrayBuffer[],
  changes: Pick<CellAnswer & { kind: "output" }, "changes"> | undefined,
  limits: PayloadLimits,
): OutgoingAnswer {
  const size = measurePayload(output, limits);
  if (typeof size !== "number") return answerThrown(key, resultError(size));
  return {
    answer: { slot: key.slot, generation: key.generation, kind: "output", output, size, ...changes },
    transfer,
  };
}

function resultError({ reason, message }: PayloadRefusal): ToolExecutionError {
  const code = reason === "too_large" ? "RESULT_TOO_LARGE" : "RESULT_NOT_CLONEABLE";
  return new ToolExecutionError(`The output ${message}.`, { code });
}
