/**
 * A lease with nobody in it. A spare goes through one while nobody waits for it: what a first lease has to load and
 * compile, Node's module loader above all, is then there before a tool is.
 */
import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { releaseProxy, wrap } from "comlink";
import { packCall } from "../src/protocol/call-batch.js";
import { CancelWords, LIFECYCLE_SLOT } from "../src/protocol/cancel-words.js";
import type { LeaseMessage, ReadyMessage } from "../src/protocol/lease.js";
import type { CellControl, ToCell } from "../src/protocol/messages.js";

const CALL_SLOT = LIFECYCLE_SLOT + 1;
/** The second finds what the first has compiled. */
const CALLS = 2;

/** Leases this worker to itself, lets the stand-in answer, and releases it. */
export async function rehearse(
  { module, confinement }: ReadyMessage,
  lease: (message: LeaseMessage) => Promise<unknown>,
): Promise<void> {
  const slots = CALL_SLOT + 1;
  const words = CancelWords.allocate(slots);
  const calls = new MessageChannel();
  const control = new MessageChannel();
  const over = lease({
    module,
    activation: { toolName: "", planId: "", traceId: "", resources: [] },
    confinement,
    cancelBuffer: words.buffer,
    slots,
    limits: { maxBytes: 1, maxDepth: 1, maxValues: 1, maxLogBytes: 0, maxChanges: 0 },
    controlPort: control.port2,
    callPort: calls.port2,
  });
  const cell = wrap<CellControl>(control.port1);
  await cell.activate(words.open(LIFECYCLE_SLOT, 0));
  for (let generation = 0, left = CALLS; left > 0; left--) {
    generation = words.open(CALL_SLOT, generation);
    const batch: unknown[] = [];
    packCall(batch, { slot: CALL_SLOT, generation, callId: "", input: undefined });
    const answered = once(calls.port1, "message");
    calls.port1.postMessage({ type: "calls", calls: batch } satisfies ToCell);
    await answered;
  }
  await cell.release(false);
  await over;
  // The lease waits for a last word on its cancellations.
  words.ring();
  cell[releaseProxy]();
  calls.port1.close();
  control.port1.close();
}
