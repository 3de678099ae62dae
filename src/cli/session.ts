/** A runtime as the command line sets it up, and how Ctrl-C ends it. */
import { resolve } from "node:path";
import {
  builtins,
  createBoundResource,
  ToolExecutionContext,
  ToolRuntime,
  ToolRuntimeError,
  ToolSchemaValidationError,
  type ApprovalProvider,
  type BoundResource,
  type ToolRuntimeOptions,
} from "../index.js";
import { approvalsOf } from "./approval-provider.js";
import { loadConfig, type Config, type ConfiguredModule } from "./config.js";
import type { ExitCode } from "./exit-codes.js";
import { Interrupts, type Interrupted } from "./interrupts.js";
import type { Terminal } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Options that every command with a runtime takes. */
export interface SessionOptions {
  readonly config?: string;
  /** Modules to load beside those of the config. */
  readonly load?: readonly string[];
  /** `slot=path` */
  readonly bind?: readonly string[];
  /** Whether what is bound may be written. */
  readonly write?: boolean;
  /** Who approves what a human has to. */
  readonly approve?: string;
}

/** The slot that the tools that ship work on, and what it is where nothing else is said. */
const DEFAULT_SLOT = "repo";

/** One runtime, open until `close`. */
export class Session implements AsyncDisposable {
  readonly runtime: ToolRuntime;
  readonly config: Config;
  readonly resources: readonly BoundResource[];
  /** Who approves what a human has to; undefined where nothing is called. */
  readonly approvals: ApprovalProvider | undefined;
  /** Aborts at the first Ctrl-C or SIGTERM, and when nobody reads the results any more. */
  readonly signal: AbortSignal;
  readonly #terminal: Terminal;
  readonly #interrupts: Interrupts;
  #isOpen = false;

  private constructor(
    terminal: Terminal,
    runtime: ToolRuntime,
    config: Config,
    resources: readonly BoundResource[],
    approvals: ApprovalProvider | undefined,
  ) {
    this.approvals = approvals;
    this.#terminal = terminal;
    this.runtime = runtime;
    this.config = config;
    this.resources = resources;
    this.#interrupts = new Interrupts((name, isFirst) => {
      this.#interrupted(name, isFirst);
    });
    this.signal = AbortSignal.any([this.#interrupts.signal, terminal.gone]);
    runtime.on("warning", ({ message }) => {
      terminal.note(`warning: ${message}`, "yellow");
    });
  }

  /**
   * Loads the config, makes a runtime and registers the tools.
   * @param mayCall whether tools will be called, so that somebody may have to approve it
   * @throws UsageError
   * @throws Interrupted
   */
  static async open(
    terminal: Terminal,
    options: SessionOptions,
    more: ToolRuntimeOptions = {},
    mayCall = false,
  ): Promise<Session> {
    const folder = terminal.host.cwd;
    // Until here a signal ends the process as Node has it, also out of a config that is a program and never ends.
    const config = await loadConfig(folder, options.config);
    const approvals = mayCall ? approvalsOf(terminal, options.approve, config) : undefined;
    const resources = resourcesOf(config, options, folder);
    const runtime = makeRuntime(config, { ...more, ...(approvals && { approvals }) });
    const session = new Session(terminal, runtime, config, resources, approvals);
    try {
      const named = (options.load ?? []).map((module): ConfiguredModule => ({ module: resolve(folder, module) }));
      await session.unlessInterrupted(session.#load([...config.modules, ...named]));
      session.#isOpen = true;
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  /** A context with what is bound. */
  context(planId: string, readOnly = false): ToolExecutionContext {
    return new ToolExecutionContext({ planId, readOnly, boundResources: [...this.resources] });
  }

  /** The code to end with, where a signal or a closed pipe has settled it. */
  exitCode(code: ExitCode): ExitCode {
    return this.#interrupts.endedBy ?? this.#terminal.exitCode(code);
  }

  /**
   * Waits for what no call is under way for yet, and which nothing would be lost by leaving.
   * @throws Interrupted
   */
  async unlessInterrupted<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#interrupts;
    return await new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason as Interrupted);
      };
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      work.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", leave);
      });
    });
  }

  async close(): Promise<void> {
    const { quarantined } = await this.runtime.close();
    if (quarantined > 0) {
      this.#terminal.note(`${quarantined} of its threads could not be ended: the process has to be killed.`);
      this.#terminal.isStuck = true;
    }
    this.#interrupts.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #load(modules: readonly ConfiguredModule[]): Promise<void> {
    if (this.config.builtins) await this.runtime.use(builtins());
    await Promise.all(modules.map((module) => load(this.runtime, module)));
  }

  #interrupted(name: NodeJS.Signals, isFirst: boolean): void {
    if (!isFirst || !this.#isOpen) void this.runtime.close({ graceMs: 0 });
    else this.#terminal.note(name === "SIGINT" ? "Cancelling. Ctrl-C again kills what does not stop." : "Stopping.");
  }
}

function makeRuntime({ runtime, safetyProfile, file }: Config, more: ToolRuntimeOptions): ToolRuntime {
  if (safetyProfile && "safetyProfile" in runtime) {
    throw new UsageError(
      `${file ?? "config"}: there are two safety profiles, /safetyProfile and /runtime/safetyProfile.`,
    );
  }
  try {
    return new ToolRuntime({ ...(runtime as ToolRuntimeOptions), ...(safetyProfile && { safetyProfile }), ...more });
  } catch (error) {
    if (error instanceof ToolRuntimeError) throw new UsageError(`${file ?? "config"}: ${error.message}`);
    throw error;
  }
}

async function load(runtime: ToolRuntime, { module, ...options }: ConfiguredModule): Promise<void> {
  try {
    await runtime.registerModule(module, options);
  } catch (error) {
    const known = error instanceof ToolRuntimeError || error instanceof ToolSchemaValidationError;
    if (known) throw new UsageError(`${module}: ${error.message}`);
    throw error;
  }
}

function resourcesOf(config: Config, { bind = [], write = false }: SessionOptions, folder: string): BoundResource[] {
  const bound = new Map<string, { path: string; access?: "read_only" | "read_write" }>(
    Object.entries(config.resources),
  );
  if (bound.size === 0) bound.set(DEFAULT_SLOT, { path: folder });
  for (const text of bind) {
    const [, slot, path] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (slot === undefined || path === undefined) throw new UsageError(`--bind takes slot=path, not "${text}".`);
    bound.set(slot, { path: resolve(folder, path) });
  }
  return [...bound].map(([slotName, { path, access = "read_only" }]) =>
    createBoundResource({
      slotName,
      resourceId: slotName,
      resourceType: "folder",
      path,
      access: write ? "read_write" : access,
    }),
  );
}
