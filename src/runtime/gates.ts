/** Who may run. Each gate throws its own error; they are asked at `activate` and at `execute`. */
import {
  ToolAccessDeniedError,
  ToolCheckpointRequiredError,
  ToolHumanApprovalRequiredError,
  ToolSandboxRequiredError,
} from "../protocol/errors.js";
import { ISOLATION_TIERS, type IsolationTier } from "../protocol/tool.js";
import type { CellTier } from "./cell.js";
import type { ToolExecutionContext } from "./execution-context.js";
import type { Registration } from "./tool-registry.js";

/** The tiers of a runtime. */
export type Tiers = readonly CellTier[];

/**
 * Asks every gate.
 * @returns the tier that the tool runs in
 * @throws ToolAccessDeniedError, ToolCheckpointRequiredError, ToolSandboxRequiredError, ToolHumanApprovalRequiredError
 */
export function passGates(tool: Registration, context: ToolExecutionContext, tiers: Tiers): CellTier {
  const { capability, spec } = tool;
  if (context.readOnly && capability.writes) {
    throw new ToolAccessDeniedError(
      `Plan "${context.planId}" is read-only and tool "${spec.name}" writes. Use a plan that may write, or register the tool with ` +
        `capability { writes: false } if it does not.`,
      { details: { tool: spec.name, planId: context.planId } },
    );
  }
  if (context.requireCheckpoints && !capability.checkpointable) {
    throw new ToolCheckpointRequiredError(
      `Plan "${context.planId}" requires checkpoints and tool "${spec.name}" cannot give one (checkpointable: false).`,
      { details: { tool: spec.name, planId: context.planId } },
    );
  }
  const tier = tierFor(tool, tiers);
  if (!tier) {
    const required = requiredTier(tool);
    throw new ToolSandboxRequiredError(
      `Tool "${spec.name}" needs isolation "${required}" or stronger, and this host offers ${offered(tool, tiers)} for it. It does not ` +
        `run in anything weaker.`,
      { details: { tool: spec.name, planId: context.planId, required } },
    );
  }
  if (capability.requiresApproval) {
    throw new ToolHumanApprovalRequiredError(
      `Tool "${spec.name}" needs a human's approval in plan "${context.planId}", and nobody can give it here.`,
      { details: { tool: spec.name, planId: context.planId } },
    );
  }
  return tier;
}

/** By tiers and tool: every call asks, and neither changes. */
const found = new WeakMap<Tiers, WeakMap<Registration, CellTier>>();

/** The weakest tier that is strong enough and can run the tool. */
export function tierFor(tool: Registration, tiers: Tiers): CellTier | undefined {
  let byTool = found.get(tiers);
  if (!byTool) found.set(tiers, (byTool = new WeakMap<Registration, CellTier>()));
  const known = byTool.get(tool);
  if (known) return known;
  const tier = weakestTier(tool, tiers);
  if (tier) byTool.set(tool, tier);
  return tier;
}

function weakestTier(tool: Registration, tiers: Tiers): CellTier | undefined {
  const least = rank(requiredTier(tool));
  return tiers
    .filter((tier) => rank(tier.tier) >= least && tier.accepts(tool.source))
    .sort((one, other) => rank(one.tier) - rank(other.tier))[0];
}

/** The least tier a tool may run in: its own word, and a module never in the host's thread. */
export function requiredTier(tool: Registration): IsolationTier {
  const asked = tool.capability.isolation ?? "inline";
  const own = tool.source.kind === "module" ? "thread" : "inline";
  return rank(asked) > rank(own) ? asked : own;
}

function rank(tier: IsolationTier): number {
  return ISOLATION_TIERS.indexOf(tier);
}

function offered(tool: Registration, tiers: Tiers): string {
  const names = tiers.filter((tier) => tier.accepts(tool.source)).map(({ tier }) => `"${tier}"`);
  return names.length > 0 ? names.join(", ") : "nothing";
}
