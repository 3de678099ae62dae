/** Checkpoints: what is saved before a tool writes, who saves it, who brings it back. */

/** What a call may write, and so what is saved before it does. */
export interface CheckpointResource {
  /** The slot by which the tool asks for it. */
  readonly slotName: string;
  /** The plan's name for it. */
  readonly resourceId: string;
  /** Absolute and real, where the resource is a file or a folder; there may be nothing yet. */
  readonly path?: string;
}

/** The call before which a checkpoint is taken. */
export interface CheckpointRequest {
  /** The plan that requires it. */
  readonly planId: string;
  /** The call's own id. */
  readonly callId: string;
  /** The call in whose course this one was made. */
  readonly parentCallId?: string;
  /** `namespace/name` */
  readonly toolName: string;
  /** What to save: what the plan binds with `read_write` and the tool names in `fs.write`. */
  readonly resources: readonly CheckpointResource[];
}

/** A checkpoint that was taken. */
export interface Checkpoint extends CheckpointRequest {
  /** By which it is restored; it is on the call's trace and on its changes. */
  readonly checkpointId: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Saves what a call may write, and brings it back. */
export interface CheckpointProvider {
  /**
   * Saves. Until it resolves the call does not run, and no other writing call of the plan either; where it rejects, the
   * call never runs.
   * @param signal aborts when the call was cancelled: the checkpoint is of no use any more
   */
  take(request: CheckpointRequest, signal: AbortSignal): Promise<Checkpoint>;
  /** Brings back all that a checkpoint has saved. */
  restore(checkpointId: string): Promise<void>;
  /** The checkpoints that can be restored, of one plan or of all, oldest first. */
  list(planId?: string): Promise<readonly Checkpoint[]>;
}

const FUNCTIONS = ["take", "restore", "list"] as const satisfies readonly (keyof CheckpointProvider)[];

/** Whether a value can be asked for checkpoints. */
export function isCheckpointProvider(value: unknown): value is CheckpointProvider {
  return FUNCTIONS.every((name) => typeof (value as Partial<CheckpointProvider> | null)?.[name] === "function");
}
