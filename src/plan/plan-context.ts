/** What a plan file lends to the tools that it calls. */
import { resolve } from "node:path";
import { createBoundResource, ToolExecutionContext } from "../index.js";
import type { LoadedPlan } from "./load.js";

/** @param otherId another id than the plan's own */
export function contextOf({ plan, planId, folder }: LoadedPlan, otherId: string | undefined): ToolExecutionContext {
  // The plan's time counts from its start, also while no call is open.
  const { wallMs: _wallMs, ...budget } = plan.budget ?? {};
  return new ToolExecutionContext({
    planId: otherId ?? planId,
    budget,
    readOnly: plan.readOnly ?? false,
    requireCheckpoints: plan.requireCheckpoints ?? false,
    boundResources: Object.entries(plan.resources ?? {}).map(([slotName, resource]) =>
      createBoundResource({
        slotName,
        resourceId: resource.resourceId ?? slotName,
        resourceType: resource.resourceType ?? "folder",
        access: resource.access ?? "read_only",
        path: resolve(folder, resource.path),
      }),
    ),
  });
}
