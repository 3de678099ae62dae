/** ToolRuntime: what a user holds, a thin face over the coordinator and the catalogue. */
import type { AnyTool, DefinedTool, Infer } from "../protocol/defined-tool.js";
import type { JsonSchema, ToolResult, ToolSpec } from "../protocol/tool.js";
import { assertListener, assertMilliseconds, assertOptions } from "./arguments.js";
import type { Checkpoint } from "./checkpoint.js";
import { Coordinator, type CloseReport } from "./coordinator.js";
import { checkExecuteOptions, type DeactivateOptions, type ExecuteOptions } from "./execute-options.js";
import { assertContext, ToolExecutionContext, type ToolExecutionContextOptions } from "./execution-context.js";
import type { Tiers } from "./gates.js";
import { nameOf } from "./given-tool.js";
import type { RuntimeHealth } from "./health.js";
import type { ActivatedTool, PlanCacheStats, ToolLifecycleCache } from "./lifecycle-cache.js";
import type { RuntimeMetrics } from "./metric.js";
import { openCall, type OpenCall } from "./open-call.js";
import { resolveDeciders, resolveOptions, type ResolvedOptions, type ToolRuntimeOptions } from "./options.js";
import { Plan } from "./plan.js";
import { RuntimeEvents, type RuntimeEventMap } from "./runtime-events.js";
import { ToolCatalogue } from "./tool-catalogue.js";
import type { ToolDescriptor } from "./tool-descriptor.js";
import type { ModuleOptions, RegistrationOptions, ToolExecutor } from "./tool-executor.js";
import type { ToolProvider } from "./tool-provider.js";
import { ToolRegistry, type ToolFilter } from "./tool-registry.js";

/** Runs tools, in the tiers that it is given. */
export class ToolRuntime {
  /** What is registered. */
  readonly registry = new ToolRegistry();
  /** What is activated, by plan. */
  readonly cache: ToolLifecycleCache<ActivatedTool>;
  readonly #options: ResolvedOptions;
  readonly #events = new RuntimeEvents();
  readonly #catalogue: ToolCatalogue;
  readonly #coordinator: Coordinator;

  /** @throws ToolRuntimeError `INVALID_OPTIONS` */
  constructor(options: ToolRuntimeOptions | undefined, tiers: (options: ResolvedOptions) => Tiers) {
    this.#options = resolveOptions(options);
    const parts = {
      options: this.#options,
      ...resolveDeciders(options),
      registry: this.registry,
      tiers: tiers(this.#options),
      events: this.#events,
    };
    this.#coordinator = new Coordinator(parts);
    this.#catalogue = new ToolCatalogue({
      ...parts,
      assertOpen: () => {
        this.#coordinator.assertOpen();
      },
    });
    this.cache = this.#coordinator.cache;
  }

  // ── tools ──────────────────────────────────────────────────────────────

  /**
   * Registers a tool: one from `defineTool`, or a specification with `{ module }`, `{ instance }` or `{ execute }`.
   * A module runs in a cell and is never imported by the host.
   * @throws ToolRuntimeError `INVALID_SPEC`, `INVALID_ARGUMENT`, `ALREADY_REGISTERED`
   * @throws ToolSchemaValidationError where a schema cannot be used
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * const spec = { name: "acme/double", description: "Doubles a number.", inputSchema: { type: "number" }, readOnly: true };
   * runtime.register(spec, { execute: (input) => Number(input) * 2 });
   * await using plan = runtime.plan({ planId: "sums" });
   * console.log((await plan.execute("acme/double", 21)).output); // → 42
   * ```
   */
  register(tool: AnyTool, options?: RegistrationOptions): ToolSpec;
  register(spec: ToolSpec, executor: ToolExecutor): ToolSpec;
  register(first: ToolSpec | AnyTool, second?: RegistrationOptions | ToolExecutor): ToolSpec {
    return this.#catalogue.register(first, second);
  }

  /**
   * Registers a module's tool by the specification that the module itself brings, read in a cell without grants.
   * @throws ToolRuntimeError as {@link register}
   * @throws ToolActivationError where the module cannot be loaded
   * @example
   * ```ts
   * // shout.ts
   * export const spec = { name: "acme/shout", description: "Shouts.", inputSchema: { type: "string" }, readOnly: true };
   * export const execute = (text: string): string => text.toUpperCase();
   * ```
   *
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * const { name } = await runtime.registerModule(new URL("./shout.js", import.meta.url), { capability: { timeoutMs: 5_000 } });
   * await using plan = runtime.plan({ planId: "loud" });
   * console.log((await plan.execute(name, "hello")).output); // → HELLO
   * ```
   */
  registerModule(url: string | URL, options: ModuleOptions = {}): Promise<ToolSpec> {
    return this.#catalogue.registerModule(url, options);
  }

  /**
   * Registers every tool of a provider, all or none.
   * @returns their specifications
   * @throws ToolRuntimeError as {@link register}
   * @example
   * ```ts
   * import { builtins, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * console.log(runtime.get("builtin/read-file")?.readOnly); // → true
   * ```
   */
  use(provider: ToolProvider): Promise<ToolSpec[]> {
    return this.#catalogue.use(provider);
  }

  /** Forgets a tool; what is activated stays until its plan ends. @returns whether there was one */
  unregister(tool: string | AnyTool): boolean {
    return this.#catalogue.unregister(nameOf(tool));
  }

  /** The specifications of the registered tools, in the order of their registration. */
  list(filter?: ToolFilter): ToolSpec[] {
    return this.registry.list(filter);
  }

  /** @returns a tool's specification as it is registered, if there is one */
  get(tool: string | AnyTool): ToolSpec | undefined {
    return this.registry.get(nameOf(tool));
  }

  /**
   * Describes a tool without activating it.
   * @param context the plan whose grant is meant
   * @throws ToolRuntimeError `NO_IMPLEMENTATION`
   * @example
   * ```ts
   * import { builtins, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * const { isolation, readOnly, enforcement } = await runtime.discover("builtin/read-file");
   * console.log(isolation.granted, readOnly.enforced); // → thread true
   * for (const { subject, granted, enforcedBy } of enforcement) console.log(subject, granted, enforcedBy);
   * ```
   */
  async discover(tool: string | AnyTool, context?: ToolExecutionContext): Promise<ToolDescriptor> {
    const name = nameOf(tool);
    if (context !== undefined) assertContext(context);
    return this.#catalogue.discover(name, this.#coordinator.plans.plansOf(name), context);
  }

  // ── plans ──────────────────────────────────────────────────────────────

  /**
   * A disposable plan; takes a context or what makes one.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where no context can be made of it
   * @example
   * ```ts
   * import { builtins, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * const repo = { slotName: "repo", resourceId: "here", resourceType: "folder", path: process.cwd() };
   * await using plan = runtime.plan({ planId: "look", readOnly: true, boundResources: [repo] });
   * const { success } = await plan.execute("builtin/read-file", { path: "README.md" });
   * console.log(success); // → true
   * ```
   */
  plan(context: ToolExecutionContext | ToolExecutionContextOptions): Plan {
    return new Plan(this, context instanceof ToolExecutionContext ? context : new ToolExecutionContext(context));
  }

  /**
   * Makes a tool ready for a plan, once.
   * @throws ToolRuntimeError `NOT_REGISTERED`, the gates' errors, ToolActivationError, ToolCancelledError
   * @example
   * ```ts
   * import { builtins, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * await using plan = runtime.plan({ planId: "ready" });
   * await runtime.activate("builtin/diff-text", plan.context);
   * console.log(runtime.cacheStats("ready").activeTools); // → 1
   * ```
   */
  async activate(tool: string | AnyTool, context: ToolExecutionContext): Promise<void> {
    this.#coordinator.assertOpen();
    assertContext(context);
    await this.#coordinator.activate(nameOf(tool), context);
  }

  /**
   * Runs a tool: gates, input check, activation, run, output check, all under a trace.
   * The input is checked now and copied before the running job's end; leave it unchanged until then.
   * @returns a result; `success: false` where the input or output breaks its schema or the tool answers with an error
   * @throws ToolRuntimeError and its kinds, ToolCancelledError; the context has a trace of each
   * @example
   * ```ts
   * import { builtins, ToolExecutionContext, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * const context = new ToolExecutionContext({ planId: "p" });
   * const { success, error } = await runtime.execute("builtin/diff-text", { left: 1 }, context, { timeoutMs: 5_000 });
   * console.log(success, error?.code); // → false SCHEMA_VALIDATION_FAILED
   * ```
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
      return this.#coordinator.execute(nameOf(tool), input, context, checkExecuteOptions(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Deactivates one tool of a plan. Never rejects: a failure is a warning event. */
  async deactivate(tool: string | AnyTool, planId: string, options?: DeactivateOptions): Promise<void> {
    const name = nameOf(tool);
    assertOptions(options, "deactivate", ["drain"]);
    await this.#coordinator.plans.deactivate(planId, name, options?.drain ?? false);
  }

  /**
   * Ends a plan: its calls, then its tools. Never rejects: a failure is a warning event.
   * @example
   * ```ts
   * import { builtins, ToolExecutionContext, ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * await runtime.use(builtins());
   * const context = new ToolExecutionContext({ planId: "short" });
   * await runtime.activate("builtin/diff-text", context);
   * await runtime.deactivatePlan("short", { drain: true });
   * console.log(runtime.cacheStats("short").activeTools); // → 0
   * ```
   */
  async deactivatePlan(planId: string, options?: DeactivateOptions): Promise<void> {
    assertOptions(options, "deactivatePlan", ["drain"]);
    await this.#coordinator.plans.deactivatePlan(planId, options?.drain ?? false);
  }

  /** Answers that came after their call had ended, and were discarded. */
  get lateResults(): number {
    return this.#coordinator.lateResults;
  }

  /**
   * The calls that are not over and where each spends its time, of one plan or of all.
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * const spec = { name: "acme/wait", description: "Waits.", inputSchema: {}, readOnly: true };
   * runtime.register(spec, { execute: () => new Promise((resolve) => setTimeout(resolve, 50)) });
   * await using plan = runtime.plan({ planId: "p" });
   * const call = plan.execute("acme/wait", {});
   * for (const { toolName } of runtime.calls()) console.log(toolName); // → acme/wait
   * await call;
   * console.log(runtime.calls().length); // → 0
   * ```
   */
  calls(planId?: string): OpenCall[] {
    return this.#coordinator.plans.calls(planId).map(openCall);
  }

  /** What is activated in a plan. */
  cacheStats(planId: string): PlanCacheStats {
    return this.cache.stats(planId);
  }

  // ── checkpoints ────────────────────────────────────────────────────────

  /**
   * The checkpoints that can be restored, of one plan or of all, oldest first.
   * @throws ToolRuntimeError `CHECKPOINT_FAILED` where nobody takes any, or they cannot be read
   * @example
   * ```ts
   * import { ToolRuntime, type Checkpoint } from "toolcell";
   *
   * const taken: Checkpoint[] = [];
   * const checkpoints = {
   *   take: (request: Omit<Checkpoint, "checkpointId" | "createdAt">) => {
   *     taken.push({ ...request, checkpointId: String(taken.length), createdAt: new Date().toISOString() });
   *     return Promise.resolve(taken.at(-1)!);
   *   },
   *   restore: () => Promise.resolve(),
   *   list: () => Promise.resolve(taken),
   * };
   * await using runtime = new ToolRuntime({ checkpoints });
   * runtime.register({ name: "acme/write", description: "Writes.", inputSchema: {} }, { execute: () => "done" });
   * await using plan = runtime.plan({ planId: "p", requireCheckpoints: true });
   * const { trace } = await plan.execute("acme/write", {});
   * console.log(trace.checkpointId, (await runtime.checkpoints("p")).length); // → 0 1
   * ```
   */
  async checkpoints(planId?: string): Promise<readonly Checkpoint[]> {
    return await this.#coordinator.checkpoints(planId);
  }

  /**
   * Brings back what a checkpoint has saved; what was written since is gone. Calls of its plan that come meanwhile wait.
   * `close` does not wait for it; one that was cut short is completed by restoring again.
   * @returns the checkpoint
   * @throws ToolRuntimeError `PLAN_IN_USE` while calls of its plan run, `INVALID_ARGUMENT` where there is no such
   *   checkpoint, `CHECKPOINT_FAILED` where it cannot be restored, `RUNTIME_CLOSED`
   * @example
   * ```ts
   * import { mkdtemp, readdir } from "node:fs/promises";
   * import { tmpdir } from "node:os";
   * import { join } from "node:path";
   * import { builtins, DirectoryCheckpoints, ToolRuntime } from "toolcell";
   *
   * const path = await mkdtemp(join(tmpdir(), "restore-"));
   * const store = await mkdtemp(join(tmpdir(), "store-"));
   * await using runtime = new ToolRuntime({ checkpoints: new DirectoryCheckpoints({ folder: store }) });
   * await runtime.use(builtins());
   * await using plan = runtime.plan({
   *   planId: "p",
   *   requireCheckpoints: true,
   *   boundResources: [{ slotName: "repo", resourceId: "r", resourceType: "folder", access: "read_write", path }],
   * });
   * const { trace } = await plan.execute("builtin/write-file", { path: "a.txt", content: "hello" });
   * console.log(await readdir(path)); // → [ 'a.txt' ]
   * await runtime.restore(trace.checkpointId!);
   * console.log(await readdir(path)); // → []
   * ```
   */
  async restore(checkpointId: string): Promise<Checkpoint> {
    this.#coordinator.assertOpen();
    return await this.#coordinator.restore(checkpointId);
  }

  /**
   * What was counted since the runtime was made: counters, gauges and histograms, as plain JSON.
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * runtime.register({ name: "acme/answer", description: "Answers.", inputSchema: {}, readOnly: true }, { execute: () => 42 });
   * await using plan = runtime.plan({ planId: "p" });
   * await plan.execute("acme/answer", {});
   * const { points } = runtime.metrics().counters["toolcell.call.ended"];
   * console.log(points); // → [ { attributes: { tool: 'acme/answer', outcome: 'ok' }, value: 1 } ]
   * ```
   */
  metrics(): RuntimeMetrics {
    return this.#coordinator.metrics();
  }

  /**
   * How the runtime is, for a health route; cheap enough to be asked every second.
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * const runtime = new ToolRuntime();
   * console.log(runtime.health().status); // → ok
   * await runtime.close();
   * console.log(runtime.health().status); // → closing
   * ```
   */
  health(): RuntimeHealth {
    return this.#coordinator.health();
  }

  // ── life ───────────────────────────────────────────────────────────────

  /**
   * Listens to the runtime: `log`, `progress`, `warning`, `cell`. A listener that throws ends no call.
   * @throws ToolRuntimeError `INVALID_ARGUMENT` where the listener is no function
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * await using runtime = new ToolRuntime();
   * runtime.on("log", ({ toolName, level, message }) => {
   *   console.log(toolName, level, message); // → acme/greet info hello
   * });
   * const spec = { name: "acme/greet", description: "Greets.", inputSchema: {}, readOnly: true };
   * runtime.register(spec, { execute: (_input, { log }) => log.info("hello") });
   * await using plan = runtime.plan({ planId: "p" });
   * await plan.execute("acme/greet", {});
   * ```
   */
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

  /**
   * Ends every call, plan and cell, in bounded time whatever they do. Nothing runs afterwards.
   * @param options `graceMs`: milliseconds that calls have to stop before their cells are killed; by default the runtime's
   * @throws ToolRuntimeError `INVALID_ARGUMENT`
   * @example
   * ```ts
   * import { ToolRuntime } from "toolcell";
   *
   * const runtime = new ToolRuntime();
   * const { quarantined } = await runtime.close({ graceMs: 100 });
   * console.log(quarantined); // → 0
   * ```
   */
  close(options?: { readonly graceMs?: number }): Promise<CloseReport> {
    try {
      assertOptions(options, "close", ["graceMs"]);
      assertMilliseconds(options?.graceMs, "graceMs");
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#coordinator.close(options?.graceMs ?? this.#options.graceMs);
  }

  /** Closes the runtime when it goes out of scope, as {@link close} without options. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
