/** What can be told of a tool before it runs. */
import type { IsolationTier, JsonSchema, ResolvedCapability, ToolSource } from "../protocol/tool.js";
import type { CellTier, Enforcement } from "./cell.js";
import { requiredTier, trustedReadOnly, type Policies } from "./gates.js";
import { grantFor } from "./grant.js";
import { ToolExecutionContext } from "./execution-context.js";
import type { Registration } from "./tool-registry.js";

/** Specification and runtime facts of a tool. */
export interface ToolDescriptor {
  /** `namespace/name`. */
  readonly name: string;
  /** For models and people; an instance's own `discover` stands over the specification. */
  readonly description: string;
  /** The tool's own version, where it has one. */
  readonly version?: string;
  /** Where the tool comes from. */
  readonly source: ToolSource;
  /** Checked before each call. */
  readonly inputSchema: JsonSchema;
  /** Checked after each call, where there is one. */
  readonly outputSchema?: JsonSchema;
  /** What the tool may do, with the host's word over its own. */
  readonly capability: ResolvedCapability;
  /** Plans in which the tool is activated now. */
  readonly activation: {
    /** Whether there is such a plan. */
    readonly state: "active" | "inactive";
    /** Their ids. */
    readonly plans: readonly string[];
  };
  /** Estimated cost of one call, in the host's own unit. */
  readonly costEstimate?: number;
  /** The tier that the tool needs, and the one that it gets. */
  readonly isolation: {
    /** The least tier that the tool may run in. */
    readonly required: IsolationTier;
    /** Absent where this host has no such tier. */
    readonly granted?: IsolationTier;
  };
  /** Whether the tool writes, by whose word, and what holds it. */
  readonly readOnly: {
    /** What the tool says of itself; absent where it says nothing. */
    readonly claimed?: boolean;
    /** Whether the host takes the tool not to write. */
    readonly trusted: boolean;
    /** Whether its cell cannot write, whatever the tool does. */
    readonly enforced: boolean;
  };
  /** What of the grant is held by what. */
  readonly enforcement: readonly Enforcement[];
}

/** What a description is made of. */
export interface DescriptionParts {
  readonly tool: Registration;
  /** What it would run in. */
  readonly tier: CellTier | undefined;
  /** Plans in which it is activated. */
  readonly plans: readonly string[];
  readonly policies: Policies;
  /** MiB, where the tool names no bound. */
  readonly memoryMb: number;
  /** The plan whose grant is meant; without it the tool's slots are taken to be empty. */
  readonly context: ToolExecutionContext | undefined;
}

/** Describes a tool. */
export function describeTool({ tool, tier, plans, policies, memoryMb, context }: DescriptionParts): ToolDescriptor {
  const { spec, capability } = tool;
  const { grant } = grantFor(capability, context ?? new ToolExecutionContext({ planId: "none" }), memoryMb);
  const enforcement = tier?.enforcement(grant) ?? [];
  const writesHeld =
    enforcement.some(({ subject, holds }) => subject === "fs.write" && holds) && grant.write.length === 0;
  return {
    name: spec.name,
    description: spec.description,
    ...(spec.version !== undefined && { version: spec.version }),
    source: spec.source ?? "custom",
    inputSchema: spec.inputSchema,
    ...(spec.outputSchema !== undefined && { outputSchema: spec.outputSchema }),
    capability,
    activation: { state: plans.length > 0 ? "active" : "inactive", plans },
    ...(capability.cost !== undefined && { costEstimate: capability.cost }),
    isolation: { required: requiredTier(tool, policies), ...(tier && { granted: tier.tier }) },
    readOnly: {
      ...(tool.claimedReadOnly !== undefined && { claimed: tool.claimedReadOnly }),
      trusted: trustedReadOnly(tool, policies),
      enforced: writesHeld,
    },
    enforcement,
  };
}
