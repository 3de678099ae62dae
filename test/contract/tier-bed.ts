/** What a suite that runs against every tier needs of one. */
import type {
  IsolationTier,
  Plan,
  RegistrationOptions,
  ToolExecutionTrace,
  ToolInstance,
  ToolRuntime,
  ToolRuntimeOptions,
  ToolSpec,
} from "../../src/index.js";
import { ToolRuntime as Runtime } from "../../src/index.js";
import { fixtureOptions, fixtureSpec, fixtureUrl, type Fixture } from "../fixtures/tools.js";
import { Recorder } from "./recorder.js";

/** How registration of a fixture may differ from its default. */
export interface RegisterFixture extends RegistrationOptions {
  readonly spec?: Partial<ToolSpec>;
}

/** One tier under test. */
export interface Tier {
  readonly name: IsolationTier;
  /** Whether tool code is apart from the host: it may spin, be killed and crash, and what it prints is caught. */
  readonly apart: boolean;
  makeRuntime(options: ToolRuntimeOptions): ToolRuntime;
  register(runtime: ToolRuntime, fixture: Fixture, options?: RegisterFixture): Promise<ToolSpec>;
}

/** Short enough for a suite, long enough for an honest tool on a busy machine. */
export const GRACE_MS = 50;

/** A runtime with what it tells; made for each test and closed after it. */
export class Bed {
  readonly tier: Tier;
  #runtime: ToolRuntime | undefined;
  #recorder: Recorder | undefined;
  #plans = 0;

  constructor(tier: Tier) {
    this.tier = tier;
    afterEach(() => this.#runtime?.close());
    beforeEach(() => {
      this.#runtime = this.#recorder = undefined;
    });
  }

  get runtime(): ToolRuntime {
    return (this.#runtime ??= this.open());
  }

  get recorder(): Recorder {
    return (this.#recorder ??= new Recorder(this.runtime));
  }

  /** Makes the test's runtime with options of its own. */
  open(options: ToolRuntimeOptions = {}): ToolRuntime {
    if (this.#runtime) throw new Error("the test has its runtime already");
    this.#runtime = this.tier.makeRuntime({ graceMs: GRACE_MS, spareCells: 0, ...options });
    this.#recorder = new Recorder(this.#runtime);
    return this.#runtime;
  }

  /** Registers fixtures as they are. */
  async tools(...fixtures: readonly Fixture[]): Promise<void> {
    for (const fixture of fixtures) await this.tier.register(this.runtime, fixture);
  }

  tool(fixture: Fixture, options?: RegisterFixture): Promise<ToolSpec> {
    return this.tier.register(this.runtime, fixture, options);
  }

  /** A plan of its own; deactivated with the runtime. */
  plan(options: Partial<Parameters<ToolRuntime["plan"]>[0] & object> = {}): Plan {
    return this.runtime.plan({ planId: `plan-${++this.#plans}`, ...options } as Parameters<ToolRuntime["plan"]>[0]);
  }
}

/** Registers fixtures as modules, which run in cells. */
export async function registerModule(
  runtime: ToolRuntime,
  fixture: Fixture,
  { spec, ...options }: RegisterFixture = {},
): Promise<ToolSpec> {
  return runtime.register(await specOf(fixture, spec), {
    ...fixtureOptions(fixture, options),
    module: fixtureUrl(fixture),
  });
}

/** Registers fixtures as objects, which run inline. */
export async function registerInline(
  runtime: ToolRuntime,
  fixture: Fixture,
  { spec, ...options }: RegisterFixture = {},
): Promise<ToolSpec> {
  const { tool } = await load(fixture);
  return runtime.register(await specOf(fixture, spec), { ...fixtureOptions(fixture, options), instance: tool });
}

/** A runtime of the shipped tiers. */
export function makeRuntime(options: ToolRuntimeOptions): ToolRuntime {
  return new Runtime(options);
}

/** The one trace of a plan that ran one call. */
export function onlyTrace(plan: Plan): ToolExecutionTrace {
  const { traces } = plan.context;
  if (traces.length !== 1)
    throw new Error(`expected one trace, got ${traces.map(({ outcome }) => outcome).join(", ")}`);
  return traces[0] as ToolExecutionTrace;
}

async function load(fixture: Fixture): Promise<{ tool: ToolInstance; spec: ToolSpec | undefined }> {
  const module = (await import(fixtureUrl(fixture).href)) as { default?: ToolInstance & ToolSpec } & ToolInstance;
  return { tool: module.default ?? module, spec: module.default };
}

async function specOf(fixture: Fixture, overrides: Partial<ToolSpec> = {}): Promise<ToolSpec> {
  const { spec } = await load(fixture);
  return spec ? { ...pick(spec), ...overrides } : fixtureSpec(fixture, overrides);
}

function pick({ name, description, version, inputSchema, outputSchema }: ToolSpec): ToolSpec {
  return { name, description, inputSchema, ...(version && { version }), ...(outputSchema && { outputSchema }) };
}
