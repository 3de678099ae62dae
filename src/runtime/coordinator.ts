/** The main-thread coordinator: where the calls, plans and cells of one runtime meet. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { HOST_FUNCTIONS } from "../protocol/messages.js";
import type { ToolResult } from "../protocol/tool.js";
import { Activation, type ActivationHost } from "./activation.js";
import { Admission } from "./admission.js";
import { CallMeter } from "./call-meter.js";
import { CancellationToken } from "./cancellation.js";
import { CellMeter } from "./cell-meter.js";
import { CellSupply } from "./cell-supply.js";
import type { Checkpoint } from "./checkpoint.js";
import type { ExecuteOptions } from "./execute-options.js";
import { execute, refuse, type Pipeline } from "./execute.js";
import type { ToolExecutionContext } from "./execution-context.js";
import { passGates, type Tiers } from "./gates.js";
import { grantFor, type GrantedResources } from "./grant.js";
import { healthOf, type RuntimeHealth } from "./health.js";
import { ToolLifecycleCache } from "./lifecycle-cache.js";
import type { RuntimeMetrics } from "./metric.js";
import { metricsOf } from "./metrics.js";
import type { ResolvedDeciders, ResolvedOptions } from "./options.js";
import { PlanCheckpoints } from "./plan-checkpoints.js";
import type { PlanState } from "./plan-state.js";
import { Plans } from "./plans.js";
import { repeatCall, type RepeatHost } from "./repeat-call.js";
import type { RuntimeEvents } from "./runtime-events.js";
import { ToolCall } from "./tool-call.js";
import type { Registration, ToolRegistry } from "./tool-registry.js";

/** What is left when a runtime has closed. */
export interface CloseReport {
  /** Cells that could not be ended: threads stuck in native code, which keep Node from exiting. */
  readonly quarantined: number;
}

/** What a coordinator works with. */
export interface CoordinatorParts extends ResolvedDeciders {
  readonly options: ResolvedOptions;
  readonly registry: ToolRegistry;
  readonly tiers: Tiers;
  readonly events: RuntimeEvents;
}

/** Coordinates. */
export class Coordinator {
  readonly cache = new ToolLifecycleCache<Activation>();
  readonly plans: Plans;
  readonly #checkpoints: PlanCheckpoints;
  /** Answers that came after their call had ended, and were discarded. */
  lateResults = 0;
  readonly #startTime = new Date().toISOString();
  readonly #calls: CallMeter;
  readonly #cells = new CellMeter();
  readonly #parts: CoordinatorParts;
  readonly #admission: Admission;
  readonly #supply: CellSupply;
  readonly #pipeline: Pipeline;
  readonly #host: ActivationHost;
  #closed: Promise<CloseReport> | undefined;

  constructor(parts: CoordinatorParts) {
    const { options, events } = parts;
    this.#parts = parts;
    this.#calls = new CallMeter((name) => parts.registry.registration(name) !== undefined);
    events.on("cell", this.#cells.heard);
    this.#admission = new Admission(options);
    this.#supply = new CellSupply(options.maxLiveCells);
    this.plans = new Plans(options, this.cache);
    this.#checkpoints = new PlanCheckpoints(parts.checkpoints, events);
    this.#host = {
      options,
      graceMs: options.graceMs,
      supply: this.#supply,
      events,
      pauseTurn: (call) => {
        this.#admission.lend(call);
      },
      resumeTurn: (call) => {
        this.#admission.takeBack(call);
      },
      ask: (call, name, args) => this.#answer(call, name, args),
      lateResult: () => {
        this.lateResults++;
      },
      activated: (activation, cell) => {
        this.plans.get(activation.planId)?.budget?.meter(activation.toolName, cell);
        this.plans.activated(activation);
      },
      evicted: (activation) => {
        this.plans.evict(activation);
      },
    };
    this.#pipeline = {
      ...parts,
      admission: this.#admission,
      checkpointed: (plan, call, tool) =>
        this.#checkpoints.ready(call, tool, plan.context, () => this.#grantedTo(plan, tool)),
      activationOf: (plan, tool, tier) => this.#activationOf(plan, tool, tier),
      executed: (call) => {
        this.cache.incrementExecution(call.planId, call.toolName);
      },
      closed: (plan, call) => {
        this.#admission.end(call);
        call.budget?.close(call);
        call.checkpoint?.turn.end();
        this.plans.left(plan, call);
      },
    };
  }

  readonly #repeatHost: RepeatHost = {
    enter: (call, plan) => this.#enter(call, plan),
    execute: (plan, call) => execute(this.#pipeline, plan, call),
    isIdempotent: (toolName) => this.#parts.registry.registration(toolName)?.capability.idempotent ?? false,
    over: (plan) => {
      this.plans.tidy(plan);
    },
  };

  /** @throws ToolRuntimeError `RUNTIME_CLOSED` */
  assertOpen(): void {
    if (this.#closed) throw new ToolRuntimeError("The runtime is closed; make a new one.", { code: "RUNTIME_CLOSED" });
  }

  /** Makes a tool ready for a plan, once. */
  async activate(toolName: string, context: ToolExecutionContext): Promise<void> {
    const { registry } = this.#parts;
    context.cancellationToken.check();
    const registration = registry.registration(toolName);
    if (!registration) {
      throw new ToolRuntimeError(`Tool "${toolName}" is not registered (plan "${context.planId}").`, {
        code: "NOT_REGISTERED",
        details: { tool: toolName, planId: context.planId },
      });
    }
    let tier: Tiers[number];
    let plan: PlanState | undefined;
    try {
      tier = passGates(registration, context, this.#parts);
      plan = this.plans.open(context);
      plan.budget?.check(toolName, 0);
    } catch (error) {
      this.#refuseActivation(toolName, context, error);
      if (plan) this.plans.tidy(plan);
      throw error;
    }
    try {
      await this.#activationOf(plan, registration, tier).activate(context.cancellationToken);
    } finally {
      this.plans.tidy(plan);
    }
  }

  /** A gate leaves a trace of what it refused, also where no call was made. */
  #refuseActivation(toolName: string, context: ToolExecutionContext, error: unknown): void {
    const call = new ToolCall({ context, toolName, input: undefined, tokens: [] });
    call.tool = this.#parts.registry.registration(toolName);
    refuse(call, error);
    call.release();
  }

  /** Runs a call, of a tool where `parent` is given. */
  execute(
    toolName: string,
    input: unknown,
    context: ToolExecutionContext,
    options: ExecuteOptions,
    parent?: ToolCall,
  ): Promise<ToolResult> {
    const { registry, options: defaults } = this.#parts;
    const ownMs = registry.registration(toolName)?.capability.timeoutMs ?? defaults.timeoutMs;
    const tokens = [context.cancellationToken];
    if (options.signal) tokens.push(CancellationToken.from(options.signal));
    const { callId, transfer, retry } = options;
    const meter = this.#calls;
    const init = { callId, context, toolName, input, transfer, parent, tokens, meter };
    // A call that is cancelled already ends as such, in one attempt.
    if (retry && retry.attempts > 1 && !tokens.some((token) => token.isCancelled)) {
      // The caller's deadline is for all attempts, the tool's own for each.
      const { timeoutMs } = options;
      const attemptTimeoutMs = retry.attemptTimeoutMs ?? (timeoutMs === undefined ? ownMs : undefined);
      return repeatCall(this.#repeatHost, { ...init, timeoutMs }, { ...retry, attemptTimeoutMs });
    }
    const call = new ToolCall({ ...init, timeoutMs: options.timeoutMs ?? ownMs });
    return execute(this.#pipeline, this.#enter(call), call);
  }

  /**
   * Adds a call to its plan, which is begun where it is not in use.
   * @param known the plan, where an attempt before was a call of it
   * @throws ToolRuntimeError of which the call leaves a trace
   */
  #enter(call: ToolCall, known?: PlanState): PlanState {
    this.#calls.made++;
    try {
      this.assertOpen();
      const plan = known ?? (call.parent ? this.#planOf(call.parent) : this.plans.open(call.context));
      plan.add(call);
      return plan;
    } catch (error) {
      refuse(call, error);
      call.release();
      throw error;
    }
  }

  /** The checkpoints that can be restored, of one plan or of all. */
  checkpoints(planId: string | undefined): Promise<readonly Checkpoint[]> {
    return this.#checkpoints.list(planId);
  }

  /** Brings back what a checkpoint has saved, where no call of its plan runs. */
  restore(checkpointId: string): Promise<Checkpoint> {
    return this.#checkpoints.restore(checkpointId, (planId) => this.plans.calls(planId));
  }

  /** Every number that is counted. */
  metrics(): RuntimeMetrics {
    return metricsOf({ ...this.#examined(), startTime: this.#startTime, lateResults: this.lateResults });
  }

  health(): RuntimeHealth {
    return healthOf({
      ...this.#examined(),
      closing: this.#closed !== undefined,
      maxRssMb: this.#parts.options.maxRssMb,
    });
  }

  /** Ends every call, plan and cell, in bounded time whatever they do. */
  close(graceMs: number): Promise<CloseReport> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<CloseReport> {
    const { tiers } = this.#parts;
    this.#host.graceMs = graceMs;
    await Promise.all(this.plans.ids().map((planId) => this.plans.deactivatePlan(planId, false, "runtime_closed")));
    await this.plans.settled();
    this.plans.close();
    this.#supply.close();
    await Promise.all(tiers.map((tier) => tier.close()));
    return { quarantined: tiers.reduce((sum, tier) => sum + tier.quarantined, 0) };
  }

  #examined() {
    return {
      calls: this.#calls,
      cells: this.#cells,
      admission: this.#admission,
      supply: this.#supply,
      plans: this.plans,
      tiers: this.#parts.tiers,
    };
  }

  #activationOf(plan: PlanState, tool: Registration, tier: Tiers[number]): Activation {
    const { planId } = plan;
    const toolName = tool.spec.name;
    const present = plan.activations.get(toolName);
    if (present?.tool === tool) return present;
    // The name was registered anew; the old tool's calls finish, then it is deactivated.
    if (present) void this.plans.deactivate(planId, toolName, true);
    const granted = this.#grantedTo(plan, tool);
    const message = { toolName, planId, traceId: plan.traceId, resources: granted.resources };
    const activation = new Activation(this.#host, tool, tier, granted, message);
    this.plans.add(plan, activation);
    return activation;
  }

  /** What a tool may touch in a plan: as it is activated, or as it would be now. */
  #grantedTo(plan: PlanState, tool: Registration): GrantedResources {
    const present = plan.activations.get(tool.spec.name);
    if (present?.tool === tool) return present.granted;
    return grantFor(tool.capability, plan.context, this.#parts.options.memoryMb);
  }

  /** A call that runs may call others also while its plan drains. */
  #planOf(parent: ToolCall): PlanState {
    const plan = this.plans.get(parent.planId);
    if (plan && !parent.settled) return plan;
    throw new ToolRuntimeError(`Tool "${parent.toolName}" may not call another: its call or its plan is over.`, {
      code: "PLAN_CLOSING",
      details: { tool: parent.toolName, planId: parent.planId },
    });
  }

  /** What a cell may ask of its host: to call another tool of its plan, through the same gates. */
  async #answer(parent: ToolCall, name: string, args: unknown): Promise<unknown> {
    const { tool, input } = (args ?? {}) as { tool?: unknown; input?: unknown };
    if (!HOST_FUNCTIONS.some((offered) => offered === name) || typeof tool !== "string") {
      throw new ToolRuntimeError(`Tool "${parent.toolName}" asked its host for something it does not offer.`, {
        code: "INVALID_ARGUMENT",
      });
    }
    const { maxCallDepth } = this.#parts.options;
    if (parent.depth + 1 > maxCallDepth) {
      throw new ToolRuntimeError(
        `Tool "${parent.toolName}" may not call "${tool}": tools call each other more than ${maxCallDepth} deep in plan "${parent.planId}".`,
        { code: "CALL_DEPTH_EXCEEDED", details: { tool, planId: parent.planId, depth: parent.depth + 1 } },
      );
    }
    // The caller's turn is free while it waits.
    this.#admission.lend(parent);
    try {
      return await this.execute(tool, input, parent.context, {}, parent);
    } finally {
      this.#admission.takeBack(parent);
    }
  }
}
