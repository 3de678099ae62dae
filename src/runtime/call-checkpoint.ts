/** The checkpoint of one call: what it saves, and that nothing is written that it has not saved. */
import { ToolCheckpointRequiredError } from "../protocol/errors.js";
import type { Checkpoint, CheckpointProvider, CheckpointRequest, CheckpointResource } from "./checkpoint.js";
import type { GrantedResources } from "./grant.js";
import type { CallCheckpoint, ToolCall } from "./tool-call.js";
import { unlessInterrupted } from "./unless-interrupted.js";

/**
 * Takes the checkpoint of a call that has its turn.
 * @throws ToolCheckpointRequiredError, and what stopped the call meanwhile
 */
export async function takeCheckpoint(
  provider: CheckpointProvider,
  call: ToolCall,
  { turn, resources }: CallCheckpoint,
): Promise<void> {
  const { planId, callId, toolName, parent } = call;
  const stop = new AbortController();
  const request: CheckpointRequest = Object.freeze({
    planId,
    callId,
    ...(parent && { parentCallId: parent.callId }),
    toolName,
    resources: Object.freeze([...resources]),
  });
  const taking = asked(provider, request, stop.signal);
  // While it reads nobody else may write, also where its call has been given up.
  void turn.keepFor(taking);
  let taken: unknown;
  try {
    taken = await unlessInterrupted(call, taking, stop);
  } catch (cause) {
    if (call.interruption) throw cause;
    throw refused(call, `it could not be taken: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  const checkpointId = (taken as Partial<Checkpoint> | null | undefined)?.checkpointId;
  if (typeof checkpointId !== "string" || checkpointId === "") {
    throw refused(call, "what was given for it has no `checkpointId`");
  }
  call.checkpoint = { turn, resources, checkpointId };
}

/** What a tool may write of what it is granted. */
export function writableOf({ resources }: GrantedResources): readonly CheckpointResource[] {
  return resources
    .filter(({ access }) => access === "read_write")
    .map(({ slotName, resourceId, path }) =>
      Object.freeze({ slotName, resourceId, ...(path !== undefined && { path }) }),
    );
}

/**
 * What a tool may write can change between the checkpoint and the tool's activation, where resources are bound anew.
 * @throws ToolCheckpointRequiredError where something could be written that was not saved
 */
export function assertSaved(call: ToolCall, granted: GrantedResources): void {
  if (!call.checkpoint) return;
  const saved = new Set(call.checkpoint.resources.map(keyOf));
  const missing = writableOf(granted).find((resource) => !saved.has(keyOf(resource)));
  if (missing) throw refused(call, `slot "${missing.slotName}" was bound anew after it was taken`);
}

function keyOf({ slotName, resourceId, path }: CheckpointResource): string {
  return JSON.stringify([slotName, resourceId, path]);
}

/** Asks, so that a provider that throws is one that rejects. */
async function asked(provider: CheckpointProvider, request: CheckpointRequest, signal: AbortSignal): Promise<unknown> {
  return await provider.take(request, signal);
}

function refused(call: ToolCall, why: string, cause?: unknown): ToolCheckpointRequiredError {
  const { toolName, planId, callId } = call;
  return new ToolCheckpointRequiredError(
    `Tool "${toolName}" (plan "${planId}", call ${callId}) needs a checkpoint before it may write, and ${why}.`,
    { details: { tool: toolName, planId, callId }, ...(cause !== undefined && { cause }) },
  );
}
