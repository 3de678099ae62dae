/** Which metrics there are, under the names of OpenTelemetry's conventions. */
import type { HistogramPoint } from "./histogram.js";

/** A number for one set of attributes. */
export interface NumberPoint {
  /** What it is about, such as `{ tool: "acme/shout", outcome: "ok" }`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The number. */
  readonly value: number;
}

/** One metric: its unit, and a point for each set of attributes that has come up. */
export interface Metric<Point> {
  /** As UCUM writes it: `ms`, `By` for bytes, `{call}` for calls. */
  readonly unit: string;
  /** What is measured, for people. */
  readonly description: string;
  /** The attributes of no two of them are the same. */
  readonly points: readonly Point[];
}

/** The counters. */
export type CounterName =
  | "toolcell.call.made"
  | "toolcell.call.ended"
  | "toolcell.call.retried"
  | "toolcell.call.moved"
  | "toolcell.call.late_results"
  | "toolcell.cell.started"
  | "toolcell.cell.ended"
  | "toolcell.cell.recycled";

/** The gauges. */
export type GaugeName =
  | "toolcell.call.open"
  | "toolcell.call.active"
  | "toolcell.call.queued"
  | "toolcell.call.waiting"
  | "toolcell.plan.open"
  | "toolcell.activation.open"
  | "toolcell.activation.waiting"
  | "toolcell.cell.live"
  | "toolcell.cell.limit"
  | "toolcell.cell.pinned"
  | "toolcell.cell.spare"
  | "toolcell.cell.warm"
  | "toolcell.cell.quarantined";

/** The histograms. */
export type HistogramName = "toolcell.call.duration" | "toolcell.call.phase.duration" | "toolcell.call.result.size";

/** What a runtime has counted since it was made. */
export interface RuntimeMetrics {
  /** ISO 8601, UTC: when it began to count. */
  readonly startTime: string;
  /** ISO 8601, UTC: when the numbers were read. */
  readonly time: string;
  /** What only grows. */
  readonly counters: Readonly<Record<CounterName, Metric<NumberPoint>>>;
  /** What is just now. */
  readonly gauges: Readonly<Record<GaugeName, Metric<NumberPoint>>>;
  /** What is spread. */
  readonly histograms: Readonly<Record<HistogramName, Metric<HistogramPoint>>>;
}

/** Unit and description of each metric. */
type Described<Name extends string> = Readonly<Record<Name, readonly [unit: string, description: string]>>;

export const COUNTERS: Described<CounterName> = {
  "toolcell.call.made": ["{call}", "Calls that were made, nested ones and further attempts included"],
  "toolcell.call.ended": ["{call}", "Calls that have ended, by tool and outcome"],
  "toolcell.call.retried": ["{call}", "Ended calls that were not the first attempt"],
  "toolcell.call.moved": ["{move}", "Times that a call was taken back before it started, and sent to another cell"],
  "toolcell.call.late_results": ["{result}", "Answers that came after their call had ended, and were discarded"],
  "toolcell.cell.started": ["{cell}", "Cells that came up, by tier and origin: cold, spare or warm"],
  "toolcell.cell.ended": ["{cell}", "Cells that ended, by tier and how"],
  "toolcell.cell.recycled": ["{cell}", "Cells that were ended since they had served long enough, by reason"],
};

export const GAUGES: Described<GaugeName> = {
  "toolcell.call.open": ["{call}", "Calls that are not over"],
  "toolcell.call.active": ["{call}", "Calls that hold a turn"],
  "toolcell.call.queued": ["{call}", "Calls that wait for a turn"],
  "toolcell.call.waiting": ["{call}", "Calls that have had a turn and wait for a cell"],
  "toolcell.plan.open": ["{plan}", "Plans in use"],
  "toolcell.activation.open": ["{activation}", "Tools that are activated, over all plans"],
  "toolcell.activation.waiting": ["{activation}", "Tools in line for a cell, over all plans"],
  "toolcell.cell.live": ["{cell}", "Cells that count against the limit, the ones included that start or end"],
  "toolcell.cell.limit": ["{cell}", "The limit on live cells"],
  "toolcell.cell.pinned": ["{cell}", "Live cells of tools that keep state, which they have until their plans end"],
  "toolcell.cell.spare": ["{cell}", "Workers that were started ahead and have served nobody"],
  "toolcell.cell.warm": ["{cell}", "Workers that have served a tool and wait for its next plan"],
  "toolcell.cell.quarantined": ["{cell}", "Cells that could not be ended and may hold a core"],
};

export const HISTOGRAMS: Described<HistogramName> = {
  "toolcell.call.duration": ["ms", "From the moment a call was made until it ended, by tool"],
  "toolcell.call.phase.duration": ["ms", "Time in each phase; each call counts in all of them"],
  "toolcell.call.result.size": ["By", "Estimated size of the outputs of calls that were ok"],
};
