/** What a benchmark is made of. */
import type { MachineFacts } from "./machine.js";
import { median, quotients } from "./statistics.js";

/** How thoroughly to measure. */
export interface Effort {
  /** Fewer rounds and smaller loads: a look, not a figure to quote. */
  readonly quick: boolean;
  /** Rounds over all subjects; at least five. */
  readonly rounds: number;
}

/** One question about performance. */
export interface Benchmark {
  readonly title: string;
  /** How it is measured, a sentence or two. */
  readonly how: string;
  run(effort: Effort): Promise<Row[]>;
}

/** What a figure must not go beyond. */
export interface Bar {
  /** Of the measured value, or of its ratio to the peer. */
  readonly of: "measured" | "ratio";
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One line of a benchmark's table, with the samples it stands on. */
export interface Row {
  readonly what: string;
  /** Rows of one question are one chart, and share what is measured. */
  readonly question?: string;
  /** Who is measured. */
  readonly name: string;
  readonly unit: string;
  readonly measured: number;
  readonly peerName?: string;
  readonly peer?: number;
  /** Middle of the ratios of the rounds. */
  readonly ratio?: number;
  readonly bar?: Bar;
  /** Whether the figure keeps to its bar; absent where there is none. */
  readonly holds?: boolean;
  readonly samples: readonly number[];
  readonly peerSamples?: readonly number[];
  /** What has to be known about the peer. */
  readonly note?: string;
}

/** One run of a benchmark. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly how: string;
  readonly quick: boolean;
  /** ISO 8601. */
  readonly at: string;
  readonly machine: MachineFacts;
  readonly rows: readonly Row[];
}

/** What {@link row} takes. */
export interface RowInput {
  readonly what: string;
  readonly question?: string;
  /** Who is measured; toolcell by default. */
  readonly name?: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly peer?: { readonly name: string; readonly samples: readonly number[] } | undefined;
  readonly bar?: Bar;
  /** How the samples become one figure; the middle by default. */
  readonly figure?: (samples: readonly number[]) => number;
  readonly note?: string | undefined;
}

/** Builds a line. A ratio is taken round by round, since what disturbs a round disturbs all who are measured in it. */
export function row(input: RowInput): Row {
  const { what, question, name = "toolcell", unit, samples, peer, bar, figure = median, note } = input;
  const measured = figure(samples);
  const ratio = peer && ratioOf(samples, peer.samples, figure);
  return {
    what,
    ...(question !== undefined && { question }),
    name,
    unit,
    measured,
    ...(peer && { peerName: peer.name, peer: figure(peer.samples), peerSamples: peer.samples }),
    ...(ratio !== undefined && { ratio }),
    ...(bar && { bar, holds: keeps(bar, bar.of === "ratio" ? ratio : measured) }),
    samples,
    ...(note !== undefined && { note }),
  };
}

function ratioOf(samples: readonly number[], peer: readonly number[], figure: (of: readonly number[]) => number) {
  return figure === median && samples.length === peer.length
    ? median(quotients(samples, peer))
    : figure(samples) / figure(peer);
}

function keeps({ atMost = Infinity, atLeast = -Infinity }: Bar, value = NaN): boolean {
  return value >= atLeast && value <= atMost;
}
