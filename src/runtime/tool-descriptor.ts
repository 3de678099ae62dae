/** What can be told of a tool before it runs. */
import type { IsolationTier, JsonSchema, ResolvedCapability, ToolSource } from "../protocol/tool.js";
import type { CellTier, Enforcement } from "./cell.js";
import { requiredTier } from "./gates.js";
import { grantFor } from "./grant.js";
import { ToolExecutionContext } from "./execution-context.js";
import type { Registration } from "./tool-registry.js";

/** Specification and runtime facts of a tool. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly source: ToolSource;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly capability: ResolvedCapability;
  /** Plans in which the tool is activated now. */
  readonly activation: { readonly state: "active" | "inactive"; readonly plans: readonly string[] };
  /** Estimated cost of one call, in the host's own unit. */
  readonly costEstimate?: number;
  readonly isolation: {
    readonly required: IsolationTier;
    /** Absent where this host has no such tier. */ readonly granted?: IsolationTier;
  };
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

/**
 * Describes a tool.
 * @param context the plan whose grant is meant; without it the tool's slots are taken to be empty
 */
export function describeTool(
  tool: Registration,
  tier: CellTier | undefined,
  plans: readonly string[],
  memoryMb: number,
  context: ToolExecutionContext = new ToolExecutionContext({ planId: "none" }),
): ToolDescriptor {
  const { spec, capability } = tool;
  const { grant } = grantFor(capability, context, memoryMb);
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
    isolation: { required: requiredTier(tool), ...(tier && { granted: tier.tier }) },
    readOnly: {
      ...(tool.claimedReadOnly !== undefined && { claimed: tool.claimedReadOnly }),
      trusted: !capability.writes,
      enforced: writesHeld,
    },
    enforcement,
  };
}
