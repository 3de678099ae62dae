/** How tools come into a runtime and leave it, and what can be told of them. */
import { ToolRuntimeError, ToolSafetyViolationError } from "../protocol/errors.js";
import type { AnyTool } from "../protocol/defined-tool.js";
import type { ToolSpec } from "../protocol/tool.js";
import type { CellTier } from "./cell.js";
import type { ToolExecutionContext } from "./execution-context.js";
import { policiesOf, tierFor, type GateKeepers } from "./gates.js";
import { executorOf, isTool } from "./given-tool.js";
import { assertOptions } from "./arguments.js";
import type { ResolvedOptions } from "./options.js";
import type { RuntimeEvents } from "./runtime-events.js";
import { describeTool, type ToolDescriptor } from "./tool-descriptor.js";
import { moduleSource, REGISTRATION_OPTIONS, type ModuleOptions, type ToolExecutor } from "./tool-executor.js";
import { entriesOf, type ToolProvider } from "./tool-provider.js";
import type { Registration, ToolRegistry } from "./tool-registry.js";

/** What a catalogue works with. */
export interface CatalogueParts extends Pick<GateKeepers, "tiers" | "safety"> {
  readonly options: ResolvedOptions;
  readonly registry: ToolRegistry;
  readonly events: RuntimeEvents;
  /** @throws ToolRuntimeError `RUNTIME_CLOSED` */
  assertOpen(): void;
}

/** Puts tools into a registry, with all that a runtime does beside. */
export class ToolCatalogue {
  readonly #parts: CatalogueParts;

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
  }

  register(first: ToolSpec | AnyTool, second: unknown): ToolSpec {
    const { registry } = this.#parts;
    this.#parts.assertOpen();
    if (isTool(first)) assertOptions(second, "register", REGISTRATION_OPTIONS);
    const spec = registry.register(first, isTool(first) ? executorOf(first, second ?? {}) : (second as ToolExecutor));
    const registration = registry.registration(spec.name);
    if (registration) {
      this.#assertGrantable(registration);
      this.#warnNativePatterns(registration);
      this.#tierOf(registration)?.expect(registration.source);
    }
    return spec;
  }

  async registerModule(url: string | URL, options: ModuleOptions): Promise<ToolSpec> {
    this.#parts.assertOpen();
    assertOptions(options, "registerModule", [...REGISTRATION_OPTIONS, "codeFiles"]);
    const source = moduleSource(url, options);
    const tier = this.#parts.tiers.find((candidate) => candidate.accepts(source));
    if (!tier) throw new ToolRuntimeError("This runtime has no tier that runs modules.", { code: "INVALID_ARGUMENT" });
    const spec = await tier.describe(source, this.#parts.options.activationTimeoutMs);
    if (typeof spec !== "object" || spec === null) {
      throw new ToolRuntimeError(
        `The module "${source.url}" brings no specification: export \`spec\`, or make defineTool(…) the default export.`,
        { code: "INVALID_SPEC", details: { module: source.url } },
      );
    }
    return this.register(spec as ToolSpec, { ...options, module: source.url });
  }

  async use(provider: ToolProvider): Promise<ToolSpec[]> {
    this.#parts.assertOpen();
    const entries = await entriesOf(provider);
    const specs: ToolSpec[] = [];
    try {
      for (const { spec, executor } of entries) specs.push(this.register(spec, executor));
    } catch (error) {
      for (const { name } of specs) this.unregister(name);
      throw error;
    }
    return specs;
  }

  unregister(name: string): boolean {
    const { registry } = this.#parts;
    const registration = registry.registration(name);
    if (registration) this.#tierOf(registration)?.forget(registration.source);
    return registry.unregister(name);
  }

  /** @param plans the plans in which the tool is activated */
  async discover(name: string, plans: readonly string[], context?: ToolExecutionContext): Promise<ToolDescriptor> {
    const { registry, options } = this.#parts;
    const registration = registry.registration(name);
    if (!registration) {
      throw new ToolRuntimeError(`No implementation registered for tool "${name}".`, {
        code: "NO_IMPLEMENTATION",
        details: { tool: name },
      });
    }
    const policies = policiesOf(context, this.#parts);
    const tier = tierFor(registration, this.#parts.tiers, policies);
    const described = describeTool({ tool: registration, tier, plans, policies, memoryMb: options.memoryMb, context });
    const own = (await registration.instance?.discover?.()) ?? {};
    return {
      ...described,
      ...(own.description !== undefined && { description: own.description }),
      ...(own.version !== undefined && { version: own.version }),
    };
  }

  #tierOf(tool: Registration): CellTier | undefined {
    return tierFor(tool, this.#parts.tiers, policiesOf(undefined, this.#parts));
  }

  /** A grant that the runtime's profile does not allow is refused when it is given, not when it is used. */
  #assertGrantable(tool: Registration): void {
    const { safety, registry } = this.#parts;
    const excess = safety?.excessOf(tool);
    if (excess === undefined) return;
    const { name } = tool.spec;
    registry.unregister(name);
    throw new ToolSafetyViolationError(
      `Tool "${name}" was not registered: ${excess}, which the runtime's safety profile "${safety?.name}" does not allow. Grant it ` +
        `less, or change the profile.`,
      { details: { tool: name, safetyProfile: safety?.name } },
    );
  }

  #warnNativePatterns({ spec, input, output }: Registration): void {
    const patterns = [...input.nativePatterns, ...(output?.nativePatterns ?? [])];
    if (patterns.length === 0) return;
    this.#parts.events.warn({
      code: "NATIVE_PATTERN",
      message: `A pattern of tool "${spec.name}" cannot run in linear time and runs on the native engine: ${patterns.join(", ")}`,
      toolName: spec.name,
    });
  }
}
