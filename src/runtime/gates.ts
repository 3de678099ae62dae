/** Who may run. Each gate throws its own error; they are asked at `activate` and at `execute`. */
import {
  ToolAccessDeniedError,
  ToolCheckpointRequiredError,
  ToolHumanApprovalRequiredError,
  ToolSafetyViolationError,
  ToolSandboxRequiredError,
} from "../protocol/errors.js";
import { ISOLATION_TIERS, type IsolationTier } from "../protocol/tool.js";
import type { ApprovalProvider } from "./approval.js";
import type { CellTier } from "./cell.js";
import type { ToolExecutionContext } from "./execution-context.js";
import { emptyGrant } from "./grant.js";
import { stricter, type SafetyRules } from "./safety-profile.js";
import type { Registration } from "./tool-registry.js";

/** The tiers of a runtime. */
export type Tiers = readonly CellTier[];

/** What the gates stand on. */
export interface GateKeepers {
  readonly tiers: Tiers;
  /** The runtime's own safety profile. */
  readonly safety: SafetyRules | undefined;
  /** Who asks humans. */
  readonly approvals: ApprovalProvider | undefined;
}

/**
 * Asks every gate that needs to know nothing but the tool and the plan.
 * @returns the tier that the tool runs in
 * @throws ToolAccessDeniedError, ToolCheckpointRequiredError, ToolSafetyViolationError, ToolSandboxRequiredError,
 *   ToolHumanApprovalRequiredError
 */
export function passGates(tool: Registration, context: ToolExecutionContext, keepers: GateKeepers): CellTier {
  const { capability, spec } = tool;
  const details = { tool: spec.name, planId: context.planId };
  if (context.readOnly && capability.writes) {
    throw new ToolAccessDeniedError(
      `Plan "${context.planId}" is read-only and tool "${spec.name}" writes. Use a plan that may write, or register the tool with ` +
        `capability { writes: false } if it does not.`,
      { details },
    );
  }
  if (context.requireCheckpoints && !capability.checkpointable) {
    throw new ToolCheckpointRequiredError(
      `Plan "${context.planId}" requires checkpoints and tool "${spec.name}" cannot give one (checkpointable: false).`,
      { details },
    );
  }
  const policies = policiesOf(context, keepers);
  for (const rules of policies) {
    const violation = rules.of(tool).violation;
    if (violation !== undefined) {
      throw new ToolSafetyViolationError(
        `Tool "${spec.name}" may not run in plan "${context.planId}": by the safety profile "${rules.name}", ${violation}.`,
        { details: { ...details, safetyProfile: rules.name } },
      );
    }
  }
  const tier = tierFor(tool, keepers.tiers, policies);
  if (!tier) {
    const required = requiredTier(tool, policies);
    throw new ToolSandboxRequiredError(
      `Tool "${spec.name}" needs isolation "${required}" or stronger, and this host offers ${offered(tool, keepers.tiers)} for it. It does not ` +
        `run in anything weaker.`,
      { details: { ...details, required } },
    );
  }
  if (context.readOnly && !trustedReadOnly(tool, policies) && !holdsWrites(tier, capability.spawn)) {
    throw new ToolAccessDeniedError(
      `Plan "${context.planId}" is read-only, and that tool "${spec.name}" does not write is only its own word: its source is ` +
        `not trusted and tier "${tier.tier}" cannot hold it to it. Register it with capability { writes: false } if you know ` +
        `that it does not write, or let a safety profile trust its source (trustReadOnly).`,
      { details },
    );
  }
  if (!keepers.approvals && needsApproval(tool, policies)) {
    throw new ToolHumanApprovalRequiredError(
      `Tool "${spec.name}" needs a human's approval in plan "${context.planId}", and nobody can give it here: the runtime was made ` +
        `without \`approvals\`.`,
      { details },
    );
  }
  return tier;
}

/** The profiles that count for a call: the runtime's and the plan's. */
export type Policies = readonly SafetyRules[];

const NO_POLICY: Policies = [];

/** The profiles that count for a plan. */
export function policiesOf(
  context: ToolExecutionContext | undefined,
  { safety }: Pick<GateKeepers, "safety">,
): Policies {
  const own = context?.safety;
  if (!safety && !own) return NO_POLICY;
  return [safety, own].filter((rules) => rules !== undefined);
}

/** Whether a human has to approve each call: the tool says so, or a profile does. */
export function needsApproval(tool: Registration, policies: Policies): boolean {
  return tool.capability.requiresApproval || policies.some((rules) => rules.of(tool).needsApproval);
}

/** Whether the host takes a tool not to write: by its own word, or by that of a source that it believes. */
export function trustedReadOnly(tool: Registration, policies: Policies = NO_POLICY): boolean {
  if (tool.capability.writes) return false;
  return tool.trusted || tool.hostSaysReadOnly || policies.some((rules) => rules.of(tool).trustsReadOnly);
}

/** Whether what runs in a tier cannot write where nothing is granted. */
function holdsWrites(tier: CellTier, spawn: boolean): boolean {
  return tier.enforcement({ ...emptyGrant(0), spawn }).some(({ subject, holds }) => subject === "fs.write" && holds);
}

/** By tiers and tool, where there is no policy: every call asks, and neither changes. */
const found = new WeakMap<Tiers, WeakMap<Registration, CellTier>>();

/** The weakest tier that is strong enough and can run the tool. */
export function tierFor(tool: Registration, tiers: Tiers, policies: Policies = NO_POLICY): CellTier | undefined {
  if (policies.length > 0) return weakestTier(tool, tiers, requiredTier(tool, policies));
  let byTool = found.get(tiers);
  if (!byTool) found.set(tiers, (byTool = new WeakMap<Registration, CellTier>()));
  const known = byTool.get(tool);
  if (known) return known;
  const tier = weakestTier(tool, tiers, ownTier(tool));
  if (tier) byTool.set(tool, tier);
  return tier;
}

function weakestTier(tool: Registration, tiers: Tiers, least: IsolationTier): CellTier | undefined {
  return tiers
    .filter((tier) => rank(tier.tier) >= rank(least) && tier.accepts(tool.source))
    .sort((one, other) => rank(one.tier) - rank(other.tier))[0];
}

/** The least tier a tool may run in, by its own word and by that of the profiles. */
export function requiredTier(tool: Registration, policies: Policies = NO_POLICY): IsolationTier {
  let required = ownTier(tool);
  for (const rules of policies) required = stricter(required, rules.of(tool).leastTier);
  return required;
}

/** A module never runs in the host's thread. */
function ownTier({ capability, source }: Registration): IsolationTier {
  return stricter(capability.isolation ?? "inline", source.kind === "module" ? "thread" : "inline");
}

function rank(tier: IsolationTier): number {
  return ISOLATION_TIERS.indexOf(tier);
}

function offered(tool: Registration, tiers: Tiers): string {
  const names = tiers.filter((tier) => tier.accepts(tool.source)).map(({ tier }) => `"${tier}"`);
  return names.length > 0 ? names.join(", ") : "nothing";
}
