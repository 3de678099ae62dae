/** Checkpoints of the plans that require them: whose turn it is to write, what is saved before, what is brought back. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { takeCheckpoint, writableOf } from "./call-checkpoint.js";
import type { Checkpoint, CheckpointProvider } from "./checkpoint.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { GrantedResources } from "./grant.js";
import type { RuntimeEvents } from "./runtime-events.js";
import type { ToolCall } from "./tool-call.js";
import type { Registration } from "./tool-registry.js";
import { unlessInterrupted } from "./unless-interrupted.js";
import { WriteLine } from "./write-line.js";

/** What a plan's calls have in common. */
interface PlanLine {
  readonly line: WriteLine;
  /** Resolves when what is being brought back is there. */
  restoring: Promise<void> | undefined;
}

/** Takes checkpoints for calls, and restores them. */
export class PlanCheckpoints {
  readonly #provider: CheckpointProvider | undefined;
  readonly #events: RuntimeEvents;
  readonly #plans = new Map<string, PlanLine>();
  /** Plans that were told that nobody takes their checkpoints. */
  readonly #warned = new WeakSet<ToolExecutionContext>();

  constructor(provider: CheckpointProvider | undefined, events: RuntimeEvents) {
    this.#provider = provider;
    this.#events = events;
  }

  /**
   * Waits until a call of a plan that requires checkpoints may run: one that writes for its turn and its checkpoint, any
   * other for a restore that is under way.
   * @param context that of the plan, which settles what the tool may write
   * @throws ToolCheckpointRequiredError, and what stopped the call while it waited
   */
  async ready(
    call: ToolCall,
    tool: Registration,
    context: ToolExecutionContext,
    granted: () => GrantedResources,
  ): Promise<void> {
    const resources = tool.capability.fs.write.length > 0 ? writableOf(granted()) : [];
    // The word of a tool that does not write is no wall: one that may write is taken to do so.
    const writes = tool.capability.writes || resources.length > 0;
    if (!this.#provider) {
      if (writes) this.#warn(context);
      return;
    }
    const restoring = this.#plans.get(call.planId)?.restoring;
    if (!writes && !restoring) return;
    // What was checked is what the tool gets, whatever the caller does meanwhile.
    call.keepInput();
    if (!writes) {
      await unlessInterrupted(call, restoring ?? Promise.resolve());
      return;
    }
    const turn = this.#lineOf(call).enter();
    call.checkpoint = { turn, resources };
    if (!turn.isGiven) await unlessInterrupted(call, new Promise<void>((resolve) => (turn.onGiven = resolve)));
    await takeCheckpoint(this.#provider, call, call.checkpoint);
  }

  /** The checkpoints that can be restored, of one plan or of all. */
  async list(planId?: string): Promise<readonly Checkpoint[]> {
    return await this.#given().list(planId);
  }

  /**
   * Brings back what a checkpoint has saved.
   * @param calls those of a plan that are not over
   * @throws ToolRuntimeError `INVALID_ARGUMENT`, `PLAN_IN_USE`, `CHECKPOINT_FAILED`
   */
  async restore(checkpointId: string, calls: (planId: string) => readonly ToolCall[]): Promise<Checkpoint> {
    const provider = this.#given();
    const checkpoint = (await provider.list()).find((each) => each.checkpointId === checkpointId);
    if (!checkpoint) {
      throw new ToolRuntimeError(
        `There is no checkpoint "${checkpointId}"; checkpoints() lists those that there are.`,
        {
          code: "INVALID_ARGUMENT",
          details: { checkpointId },
        },
      );
    }
    const { planId } = checkpoint;
    const running = calls(planId);
    const plan = this.#plans.get(planId);
    if (running.length > 0 || plan) {
      const why = plan?.restoring
        ? "another checkpoint of it is being restored"
        : running.length > 0
          ? `calls of it are not over (${running.map(({ toolName, callId }) => `${toolName} ${callId}`).join(", ")})`
          : "a checkpoint of it is still being taken";
      throw new ToolRuntimeError(
        `Checkpoint "${checkpointId}" of plan "${planId}" was not restored: ${why}. Wait for their end, or deactivate the plan.`,
        { code: "PLAN_IN_USE", details: { checkpointId, planId, callIds: running.map(({ callId }) => callId) } },
      );
    }
    await this.#alone(planId, async () => provider.restore(checkpointId));
    return checkpoint;
  }

  /** Works while no call of a plan runs; those that come wait. */
  async #alone(planId: string, work: () => Promise<void>): Promise<void> {
    const plan = this.#planLine(planId);
    const turn = plan.line.enter();
    const done = work();
    plan.restoring = done.catch(() => undefined);
    try {
      await done;
    } finally {
      plan.restoring = undefined;
      turn.end();
    }
  }

  #given(): CheckpointProvider {
    if (this.#provider) return this.#provider;
    throw new ToolRuntimeError("There are no checkpoints: the runtime was made without `checkpoints`.", {
      code: "CHECKPOINT_FAILED",
    });
  }

  #warn(context: ToolExecutionContext): void {
    if (this.#warned.has(context)) return;
    this.#warned.add(context);
    const { planId } = context;
    this.#events.warn({
      code: "NO_CHECKPOINTS",
      message:
        `Plan "${planId}" requires checkpoints and nobody takes them: the runtime was made without \`checkpoints\`. ` +
        `Its tools write, and what they do cannot be undone.`,
      planId,
    });
  }

  /** That of the nearest caller that writes itself, which waits for this call; else that of the plan. */
  #lineOf(call: ToolCall): WriteLine {
    for (let caller = call.parent; caller; caller = caller.parent) {
      const turn = caller.checkpoint?.turn;
      if (turn?.isGiven === true && !turn.isOver) return turn.inner;
    }
    return this.#planLine(call.planId).line;
  }

  #planLine(planId: string): PlanLine {
    let plan = this.#plans.get(planId);
    if (!plan) {
      const line = new WriteLine(() => {
        this.#plans.delete(planId);
      });
      this.#plans.set(planId, (plan = { line, restoring: undefined }));
    }
    return plan;
  }
}
