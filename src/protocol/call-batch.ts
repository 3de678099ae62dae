/**
 * Calls and answers as they travel: flat arrays, since the names of fields would be written,
 * sent and read again for each of them.
 */
import type { AnswerBatch, CallBatch, CallMessage, CellAnswer } from "./messages.js";

const CALL_MEMBERS = 5;
const ANSWER_MEMBERS = 4;
const NO_OUTPUT = -1;

/** Adds a call to a batch. */
export function packCall(
  batch: unknown[],
  { slot, generation, callId, input, attempt, idempotencyKey }: CallMessage,
): void {
  const rest = attempt === undefined && idempotencyKey === undefined ? undefined : { attempt, idempotencyKey };
  batch.push(slot, generation, callId, input, rest);
}

/** Reads a batch of calls. */
export function unpackCalls(batch: CallBatch): CallMessage[] {
  const calls: CallMessage[] = [];
  for (let at = 0; at < batch.length; at += CALL_MEMBERS) {
    const [slot, generation, callId, input, rest] = batch.slice(at, at + CALL_MEMBERS) as [
      number,
      number,
      string,
      unknown,
      object?,
    ];
    calls.push({ slot, generation, callId, input, ...rest });
  }
  return calls;
}

/** Adds an answer to a batch. */
export function packAnswer(batch: unknown[], answer: CellAnswer): void {
  if (answer.kind === "output" && !answer.changes)
    batch.push(answer.slot, answer.generation, answer.size, answer.output);
  else batch.push(answer.slot, answer.generation, NO_OUTPUT, answer);
}

/** Reads a batch of answers, of whatever form it is. */
export function unpackAnswers(batch: AnswerBatch, take: (answer: CellAnswer) => void): void {
  for (let at = 0; at + ANSWER_MEMBERS <= batch.length; at += ANSWER_MEMBERS) {
    const slot = batch[at];
    const generation = batch[at + 1];
    const size = batch[at + 2];
    const output = batch[at + 3];
    if (typeof slot !== "number" || typeof generation !== "number" || typeof size !== "number") continue;
    if (size >= 0) take({ slot, generation, kind: "output", output, size });
    else if (typeof output === "object" && output !== null) take({ ...(output as CellAnswer), slot, generation });
  }
}
