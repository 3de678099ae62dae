/** Reads what a runtime has counted, as plain JSON. */
import type { Admission } from "./admission.js";
import type { CallMeter } from "./call-meter.js";
import type { CellMeter } from "./cell-meter.js";
import type { CellSupply } from "./cell-supply.js";
import type { Tiers } from "./gates.js";
import { COUNTERS, GAUGES, HISTOGRAMS, type Metric, type NumberPoint, type RuntimeMetrics } from "./metric.js";
import type { Plans } from "./plans.js";

/** Whom a snapshot is taken of. */
export interface Metered {
  readonly startTime: string;
  readonly calls: CallMeter;
  readonly cells: CellMeter;
  readonly lateResults: number;
  readonly admission: Admission;
  readonly supply: CellSupply;
  readonly plans: Plans;
  readonly tiers: Tiers;
}

/** Reads every number. */
export function metricsOf(metered: Metered): RuntimeMetrics {
  const { startTime, calls, cells, lateResults, admission, supply, plans, tiers } = metered;
  const sumOf = (count: (tier: Tiers[number]) => number): number => tiers.reduce((sum, tier) => sum + count(tier), 0);
  return {
    startTime,
    time: new Date().toISOString(),
    counters: filled(COUNTERS, {
      "toolcell.call.made": one(calls.made),
      "toolcell.call.ended": calls.outcomes(),
      "toolcell.call.retried": one(calls.retried),
      "toolcell.call.moved": one(calls.moved),
      "toolcell.call.late_results": one(lateResults),
      "toolcell.cell.started": cells.started(),
      "toolcell.cell.ended": cells.ended(),
      "toolcell.cell.recycled": cells.recycled(),
    }),
    gauges: filled(GAUGES, {
      "toolcell.call.open": one(calls.made - calls.over),
      "toolcell.call.active": one(admission.active),
      "toolcell.call.queued": one(admission.waiting),
      "toolcell.call.waiting": one(plans.waitingCalls),
      "toolcell.plan.open": one(plans.count),
      "toolcell.activation.open": one(plans.activationCount),
      "toolcell.activation.waiting": one(supply.waiting),
      "toolcell.cell.live": one(supply.live),
      "toolcell.cell.limit": one(supply.limit),
      "toolcell.cell.pinned": one(supply.pinned),
      "toolcell.cell.spare": one(sumOf(({ ready }) => ready.spare)),
      "toolcell.cell.warm": one(sumOf(({ ready }) => ready.warm)),
      "toolcell.cell.quarantined": one(sumOf(({ quarantined }) => quarantined)),
    }),
    histograms: filled(HISTOGRAMS, {
      "toolcell.call.duration": calls.durations(),
      "toolcell.call.phase.duration": calls.phases(),
      "toolcell.call.result.size": [calls.resultBytes()],
    }),
  };
}

function one(value: number): NumberPoint[] {
  return [{ attributes: {}, value }];
}

function filled<Name extends string, Point>(
  described: Readonly<Record<Name, readonly [unit: string, description: string]>>,
  points: Readonly<Record<Name, readonly Point[]>>,
): Readonly<Record<Name, Metric<Point>>> {
  const names = Object.keys(described) as Name[];
  const entries = names.map((name) => {
    const [unit, description] = described[name];
    return [name, { unit, description, points: points[name] }];
  });
  return Object.fromEntries(entries) as Record<Name, Metric<Point>>;
}
