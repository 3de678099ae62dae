/**
 * Counts calls as they are made and end. It runs for every call, so it adds to typed arrays and looks one name up: what
 * comes and goes with calls would keep them alive.
 */
import { OUTCOMES, PHASES, type Outcome, type ToolExecutionTrace, type TracePhases } from "../protocol/trace.js";
import { Histogram, increment, type HistogramPoint } from "./histogram.js";
import type { NumberPoint } from "./metric.js";

/** Tools that are counted by name; the calls of all further ones are counted together. */
const MAX_TOOLS = 200;
/** Names the tools that are counted together; no tool's name is without a slash. */
const OTHER = "other";
/** Milliseconds. */
const FIRST_MS = 1 / 64;
const FIRST_BYTES = 64;

const PLACES = Object.fromEntries(OUTCOMES.map((outcome, at) => [outcome, at])) as Readonly<Record<Outcome, number>>;

type PhaseHistograms = Readonly<Record<keyof TracePhases, Histogram>>;

/** What is counted of one tool. */
class ToolCounts {
  readonly name: string;
  /** By the place of the outcome in `OUTCOMES`. */
  readonly outcomes = new Float64Array(OUTCOMES.length);
  readonly duration = new Histogram(FIRST_MS);

  constructor(name: string) {
    this.name = name;
  }
}

/** Meters calls. */
export class CallMeter {
  /** Calls that were made. */
  made = 0;
  /** Calls that have ended. */
  over = 0;
  /** Ended calls that were not the first attempt. */
  retried = 0;
  /** How often calls were taken back and sent to another cell. */
  moved = 0;
  readonly #isRegistered: (toolName: string) => boolean;
  readonly #tools = new Map<string, ToolCounts>();
  readonly #other = new ToolCounts(OTHER);
  /** Calls come in runs of one tool. */
  #last = this.#other;
  readonly #phases = Object.fromEntries(PHASES.map((phase) => [phase, new Histogram(FIRST_MS)])) as PhaseHistograms;
  readonly #resultBytes = new Histogram(FIRST_BYTES);

  /** @param isRegistered whether a tool of a name is known: anybody may call anything, and such names are not kept */
  constructor(isRegistered: (toolName: string) => boolean) {
    this.#isRegistered = isRegistered;
  }

  /** A call has ended. */
  ended(trace: ToolExecutionTrace, moves: number): void {
    const { outcome, phases, durationMs } = trace;
    const tool = this.#countsOf(trace.toolName);
    increment(tool.outcomes, PLACES[outcome]);
    tool.duration.add(durationMs);
    this.over++;
    this.moved += moves;
    if (trace.attempt > 1) this.retried++;
    if (outcome === "ok") this.#resultBytes.add(trace.resultSizeBytes);
    const all = this.#phases;
    // One by one: names that are looked up in a loop cost more than all of the rest.
    all.gates.add(phases.gates);
    all.approval.add(phases.approval);
    all.admission.add(phases.admission);
    all.activation.add(phases.activation);
    all.dispatch.add(phases.dispatch);
    all.outbound.add(phases.outbound);
    all.start.add(phases.start);
    all.run.add(phases.run);
    all.inbound.add(phases.inbound);
    all.close.add(phases.close);
  }

  outcomes(): NumberPoint[] {
    return this.#used().flatMap(({ name, outcomes }) =>
      OUTCOMES.map((outcome) => ({
        attributes: { tool: name, outcome },
        value: outcomes[PLACES[outcome]] ?? 0,
      })).filter(({ value }) => value > 0),
    );
  }

  durations(): HistogramPoint[] {
    return this.#used().map(({ name, duration }) => duration.point({ tool: name }));
  }

  phases(): HistogramPoint[] {
    return PHASES.map((phase) => this.#phases[phase].point({ phase }));
  }

  resultBytes(): HistogramPoint {
    return this.#resultBytes.point({});
  }

  #used(): ToolCounts[] {
    return [...this.#tools.values(), this.#other].filter(({ duration }) => duration.count > 0);
  }

  #countsOf(toolName: string): ToolCounts {
    if (this.#last.name === toolName) return this.#last;
    let tool = this.#tools.get(toolName);
    if (!tool) {
      if (this.#tools.size >= MAX_TOOLS || !this.#isRegistered(toolName)) return this.#other;
      tool = new ToolCounts(toolName);
      this.#tools.set(toolName, tool);
    }
    this.#last = tool;
    return tool;
  }
}
