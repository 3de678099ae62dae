/** ToolRuntime: registry and the four stages, a thin face over the parts that do the work. */
import { ToolRuntimeError } from "../protocol/errors.js";
import { HOST_FUNCTIONS } from "../protocol/messages.js";
import type { JsonSchema, ToolResult, ToolSpec } from "../protocol/tool.js";
import { Activation, type ActivationHost } from "./activation.js";
import { Admission } from "./admission.js";
import { CancellationToken } from "./cancellation.js";
import { CellSupply } from "./cell-supply.js";
import { assertListener, assertMilliseconds, assertOptions } from "./arguments.js";
import { checkExecuteOptions, type DeactivateOptions, type ExecuteOptions } from "./execute-options.js";
import { execute, refuse, type Pipeline } from "./execute.js";
import { assertContext, ToolExecutionContext, type ToolExecutionContextOptions } from "./execution-context.js";
import { passGates, tierFor, type Tiers } from "./gates.js";
import { grantFor } from "./grant.js";
import { ToolLifecycleCache, type PlanCacheStats } from "./lifecycle-cache.js";
import { resolveOptions, type ResolvedOptions, type ToolRuntimeOptions } from "./options.js";
import type { PlanState } from "./plan-state.js";
import { Plan } from "./plan.js";
import { Plans } from "./plans.js";
import { RuntimeEvents, type RuntimeEventMap } from "./runtime-events.js";
import { ToolCall } from "./tool-call.js";
import { describeTool, type ToolDescriptor } from "./tool-descriptor.js";
import { entriesOf, type ToolProvider } from "./tool-provider.js";
import { moduleSource, REGISTRATION_OPTIONS, type RegistrationOptions, type ToolExecutor } from "./tool-executor.js";
import { ToolRegistry, type Registration, type ToolFilter } from "./tool-registry.js";
import { executorOf, isTool, nameOf } from "./given-tool.js";
import type { AnyTool, DefinedTool, Infer } from "../protocol/defined-tool.js";

/** What is left when a runtime has closed. */
export interface CloseReport {
  /** Cells that could not be ended: threads stuck in native code, which keep Node from exiting. */
  readonly quarantined: number;
}

/**
 * Runs tools.
 *
 * ```ts
 * await using runtime = new ToolRuntime();
 * runtime.register(wordCount);
 * await using plan = runtime.plan({ planId: "plan-1" });
 * const { output } = await plan.execute(wordCount, { text: "one two" });
 * ```
 */
export class ToolRuntime {
  readonly registry = new ToolRegistry();
  readonly cache = new ToolLifecycleCache<Activation>();
  readonly #options: ResolvedOptions;
  readonly #tiers: Tiers;
  readonly #events = new RuntimeEvents();
  readonly #admission: Admission;
  readonly #supply: CellSupply;
  readonly #plans: Plans;
  readonly #pipeline: Pipeline;
  readonly #host: ActivationHost;
  #closed: Promise<CloseReport> | undefined;
  #lateResults = 0;

  /** @throws ToolRuntimeError `INVALID_OPTIONS` */
  constructor(options: ToolRuntimeOptions | undefined, tiers: (options: ResolvedOptions) => Tiers) {
    this.#options = resolveOptions(options);
    this.#tiers = tiers(this.#options);
    this.#admission = new Admission(this.#options);
    this.#supply = new CellSupply(this.#options.maxLiveCells);
    this.#plans = new Plans(this.#options, this.cache);
    this.#host = {
      options: this.#options,
      graceMs: this.#options.graceMs,
      supply: this.#supply,
      events: this.#events,
      pauseTurn: (call) => {
        this.#admission.lend(call);
      },
      resumeTurn: (call) => {
        this.#admission.takeBack(call);
      },
      ask: (call, name, args) => this.#answer(call, name, args),
      lateResult: () => {
        this.#lateResults++;
      },
      activated: (activation) => {
        this.#plans.activated(activation);
      },
      evicted: (activation) => {
        this.#plans.evict(activation);
      },
    };
    this.#pipeline = {
      options: this.#options,
      registry: this.registry,
      tiers: this.#tiers,
      admission: this.#admission,
      events: this.#events,
      activationOf: (plan, tool, tier) => this.#activationOf(plan, tool, tier),
      executed: (call) => {
        this.cache.incrementExecution(call.planId, call.toolName);
      },
      closed: (plan, call) => {
        this.#admission.end(call);
        this.#plans.left(plan, call);
      },
    };
  }

  // ── tools ──────────────────────────────────────────────────────────────

  /**
   * Registers a tool: one from `defineTool`, or a specification with `{ module }`, `{ instance }` or `{ execute }`.
   * A module runs in a cell and is never imported by the host.
   * @throws ToolRuntimeError `INVALID_SPEC`, `INVALID_ARGUMENT`, `ALREADY_REGISTERED`
   * @throws ToolSchemaValidationError where a schema cannot be used
   */
  register(tool: AnyTool, options?: RegistrationOptions): ToolSpec;
  register(spec: ToolSpec, executor: ToolExecutor): ToolSpec;
  register(first: ToolSpec | AnyTool, second?: RegistrationOptions | ToolExecutor): ToolSpec {
    this.#assertOpen();
    if (isTool(first)) assertOptions(second, "register", REGISTRATION_OPTIONS);
    const spec = this.registry.register(first, isTool(first) ? executorOf(first, second) : (second as ToolExecutor));
    const registration = this.registry.registration(spec.name);
    if (registration) {
      this.#warnNativePatterns(registration);
      tierFor(registration, this.#tiers)?.expect(registration.source);
    }
    return spec;
  }

  /**
   * Registers a module's tool by the specification that the module itself brings, read in a cell without grants.
   * @throws ToolRuntimeError as {@link register}
   * @throws ToolActivationError where the module cannot be loaded
   */
  async registerModule(
    url: string | URL,
    options: RegistrationOptions & { readonly codeFiles?: readonly string[] } = {},
  ): Promise<ToolSpec> {
    this.#assertOpen();
    assertOptions(options, "registerModule", [...REGISTRATION_OPTIONS, "codeFiles"]);
    const source = moduleSource(url, options);
    const tier = this.#tiers.find((candidate) => candidate.accepts(source));
    if (!tier) throw new ToolRuntimeError("This runtime has no tier that runs modules.", { code: "INVALID_ARGUMENT" });
    const spec = await tier.describe(source, this.#options.activationTimeoutMs);
    if (typeof spec !== "object" || spec === null) {
      throw new ToolRuntimeError(
        `The module "${source.url}" brings no specification: export \`spec\`, or make defineTool(…) the default export.`,
        { code: "INVALID_SPEC", details: { module: source.url } },
      );
    }
    return this.register(spec as ToolSpec, { ...options, module: source.url });
  }

  /**
   * Registers every tool of a provider, all or none.
   * @returns their specifications
   * @throws ToolRuntimeError as {@link register}
   */
  async use(provider: ToolProvider): Promise<ToolSpec[]> {
    this.#assertOpen();
    const entries = await entriesOf(provider);
    const specs: ToolSpec[] = [];
    try {
      for (const { spec, executor } of entries) specs.push(this.register(spec, executor));
    } catch (error) {
      for (const { name } of specs) this.registry.unregister(name);
      throw error;
    }
    return specs;
  }

  /** Forgets a tool; what is activated stays until its plan ends. @returns whether there was one */
  unregister(tool: string | AnyTool): boolean {
    const name = nameOf(tool);
    const registration = this.registry.registration(name);
    if (registration) tierFor(registration, this.#tiers)?.forget(registration.source);
    return this.registry.unregister(name);
  }

  list(filter?: ToolFilter): ToolSpec[] {
    return this.registry.list(filter);
  }

  get(tool: string | AnyTool): ToolSpec | undefined {
    return this.registry.get(nameOf(tool));
  }

  /**
   * Describes a tool without activating it.
   * @param context the plan whose grant is meant
   * @throws ToolRuntimeError `NO_IMPLEMENTATION`
   */
  async discover(tool: string | AnyTool, context?: ToolExecutionContext): Promise<ToolDescriptor> {
    const name = nameOf(tool);
    if (context !== undefined) assertContext(context);
    const registration = this.registry.registration(name);
    if (!registration) {
      throw new ToolRuntimeError(`No implementation registered for tool "${name}".`, {
        code: "NO_IMPLEMENTATION",
        details: { tool: name },
      });
    }
    const tier = tierFor(registration, this.#tiers);
    const described = describeTool(registration, tier, this.#plans.plansOf(name), this.#options.memoryMb, context);
    const own = (await registration.instance?.discover?.()) ?? {};
    return {
      ...described,
      ...(own.description !== undefined && { description: own.description }),
      ...(own.version !== undefined && { version: own.version }),
    };
  }

  // ── plans ──────────────────────────────────────────────────────────────

  /** A disposable plan; takes a context or what makes one. */
  plan(context: ToolExecutionContext | ToolExecutionContextOptions): Plan {
    return new Plan(this, context instanceof ToolExecutionContext ? context : new ToolExecutionContext(context));
  }

  /**
   * Makes a tool ready for a plan, once.
   * @throws ToolRuntimeError `NOT_REGISTERED`, the gates' errors, ToolActivationError, ToolCancelledError
   */
  async activate(tool: string | AnyTool, context: ToolExecutionContext): Promise<void> {
    this.#assertOpen();
    assertContext(context);
    const name = nameOf(tool);
    context.cancellationToken.check();
    const registration = this.registry.registration(name);
    if (!registration) {
      throw new ToolRuntimeError(`Tool "${name}" is not registered (plan "${context.planId}").`, {
        code: "NOT_REGISTERED",
        details: { tool: name, planId: context.planId },
      });
    }
    const tier = passGates(registration, context, this.#tiers);
    const plan = this.#plans.open(context);
    try {
      await this.#activationOf(plan, registration, tier).activate(context.cancellationToken);
    } finally {
      this.#plans.tidy(plan);
    }
  }

  /**
   * Runs a tool: gates, input check, activation, run, output check, all under a trace.
   * The input is checked now and copied before the running job's end; leave it unchanged until then.
   * @returns a result; `success: false` where the input or output breaks its schema or the tool answers with an error
   * @throws ToolRuntimeError and its kinds, ToolCancelledError; the context has a trace of each
   */
  execute<Input extends JsonSchema, Output extends JsonSchema>(
    tool: DefinedTool<Input, Output>,
    input: Infer<Input>,
    context: ToolExecutionContext,
    options?: ExecuteOptions,
  ): Promise<ToolResult<Infer<Output>>>;
  execute<Output = unknown>(
    tool: string,
    input: unknown,
    context: ToolExecutionContext,
    options?: ExecuteOptions,
  ): Promise<ToolResult<Output>>;
  execute(
    tool: string | AnyTool,
    input: unknown,
    context: ToolExecutionContext,
    options?: ExecuteOptions,
  ): Promise<ToolResult> {
    try {
      assertContext(context);
      return this.#execute(nameOf(tool), input, context, checkExecuteOptions(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Deactivates one tool of a plan. Never rejects: a failure is a warning event. */
  async deactivate(tool: string | AnyTool, planId: string, options?: DeactivateOptions): Promise<void> {
    const name = nameOf(tool);
    assertOptions(options, "deactivate", ["drain"]);
    await this.#plans.deactivate(planId, name, options?.drain ?? false);
  }

  /** Ends a plan: its calls, then its tools. Never rejects: a failure is a warning event. */
  async deactivatePlan(planId: string, options?: DeactivateOptions): Promise<void> {
    assertOptions(options, "deactivatePlan", ["drain"]);
    await this.#plans.deactivatePlan(planId, options?.drain ?? false);
  }

  /** Answers that came after their call had ended, and were discarded. */
  get lateResults(): number {
    return this.#lateResults;
  }

  /** What is activated in a plan. */
  cacheStats(planId: string): PlanCacheStats {
    return this.cache.stats(planId);
  }

  // ── life ───────────────────────────────────────────────────────────────

  /** Listens to the runtime: `log`, `progress`, `warning`, `cell`. */
  on<Name extends keyof RuntimeEventMap>(name: Name, listener: (event: RuntimeEventMap[Name][0]) => void): this {
    assertListener(listener);
    (this.#events.on as (name: string, listener: (event: never) => void) => unknown).call(this.#events, name, listener);
    return this;
  }

  /** Stops listening. */
  off<Name extends keyof RuntimeEventMap>(name: Name, listener: (event: RuntimeEventMap[Name][0]) => void): this {
    assertListener(listener);
    (this.#events.off as (name: string, listener: (event: never) => void) => unknown).call(
      this.#events,
      name,
      listener,
    );
    return this;
  }

  /** Ends every call, plan and cell, in bounded time whatever they do. Nothing runs afterwards. */
  close(options?: { readonly graceMs?: number }): Promise<CloseReport> {
    try {
      assertOptions(options, "close", ["graceMs"]);
      assertMilliseconds(options?.graceMs, "graceMs");
    } catch (error) {
      return Promise.reject(error);
    }
    this.#closed ??= this.#close(options?.graceMs ?? this.#options.graceMs);
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(graceMs: number): Promise<CloseReport> {
    this.#host.graceMs = graceMs;
    await Promise.all(this.#plans.ids().map((planId) => this.#plans.deactivatePlan(planId, false, "runtime_closed")));
    await this.#plans.settled();
    this.#plans.close();
    this.#supply.close();
    await Promise.all(this.#tiers.map((tier) => tier.close()));
    return { quarantined: this.#tiers.reduce((sum, tier) => sum + tier.quarantined, 0) };
  }

  // ── inside ─────────────────────────────────────────────────────────────

  #assertOpen(): void {
    if (this.#closed) throw new ToolRuntimeError("The runtime is closed; make a new one.", { code: "RUNTIME_CLOSED" });
  }

  #warnNativePatterns({ spec, input, output }: Registration): void {
    const patterns = [...input.nativePatterns, ...(output?.nativePatterns ?? [])];
    if (patterns.length === 0) return;
    this.#events.warn({
      code: "NATIVE_PATTERN",
      message: `A pattern of tool "${spec.name}" cannot run in linear time and runs on the native engine: ${patterns.join(", ")}`,
      toolName: spec.name,
    });
  }

  #activationOf(plan: PlanState, tool: Registration, tier: Tiers[number]): Activation {
    const present = plan.activations.get(tool.spec.name);
    if (present?.tool === tool) return present;
    // The name was registered anew; the old tool's calls finish, then it is deactivated.
    if (present) void this.#plans.deactivate(plan.planId, tool.spec.name, true);
    const granted = grantFor(tool.capability, plan.context, this.#options.memoryMb);
    const activation = new Activation(this.#host, tool, tier, granted, {
      toolName: tool.spec.name,
      planId: plan.planId,
      traceId: plan.traceId,
      resources: granted.resources,
    });
    this.#plans.add(plan, activation);
    return activation;
  }

  #execute(
    toolName: string,
    input: unknown,
    context: ToolExecutionContext,
    options: ExecuteOptions,
    parent?: ToolCall,
  ): Promise<ToolResult> {
    const timeoutMs =
      options.timeoutMs ?? this.registry.registration(toolName)?.capability.timeoutMs ?? this.#options.timeoutMs;
    const tokens = [context.cancellationToken];
    if (options.signal) tokens.push(CancellationToken.from(options.signal));
    const call = new ToolCall({
      callId: options.callId,
      context,
      toolName,
      input,
      transfer: options.transfer,
      parent,
      tokens,
      timeoutMs,
    });
    let plan: PlanState;
    try {
      this.#assertOpen();
      plan = parent ? this.#planOf(parent) : this.#plans.open(context);
      plan.add(call);
    } catch (error) {
      refuse(call, context, error);
      throw error;
    }
    return execute(this.#pipeline, plan, call, context);
  }

  /** A call that runs may call others also while its plan drains. */
  #planOf(parent: ToolCall): PlanState {
    const plan = this.#plans.get(parent.planId);
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
    const { maxCallDepth } = this.#options;
    if (parent.depth + 1 > maxCallDepth) {
      throw new ToolRuntimeError(
        `Tool "${parent.toolName}" may not call "${tool}": tools call each other more than ${maxCallDepth} deep in plan "${parent.planId}".`,
        { code: "CALL_DEPTH_EXCEEDED", details: { tool, planId: parent.planId, depth: parent.depth + 1 } },
      );
    }
    // The caller's turn is free while it waits.
    this.#admission.lend(parent);
    try {
      return await this.#execute(tool, input, parent.context, {}, parent);
    } finally {
      this.#admission.takeBack(parent);
    }
  }
}
