/** What a benchmark's rows show, as charts of bars. */
import type { Bar, Row } from "./bench.js";
import { html, type Html } from "./html.js";
import { number } from "./format.js";
import { quantile } from "./statistics.js";

/** One bar of a chart. */
export interface Mark {
  readonly name: string;
  readonly value: number;
  /** Nine of ten samples are above `low`, nine of ten below `high`. */
  readonly low: number;
  readonly high: number;
  readonly samples: readonly number[];
  /** The one that the others are measured against. */
  readonly own: boolean;
}

/** One question, and the bars that answer it. */
export interface Chart {
  readonly question: string;
  readonly unit: string;
  readonly better: "lower" | "higher";
  /** The best first. */
  readonly marks: readonly Mark[];
  readonly rows: readonly Row[];
}

/** More samples than these are a smear of dots. */
const MOST_DOTS = 40;

/** Groups rows by their question; a row without one is a question of its own. */
export function chartsOf(rows: readonly Row[]): Chart[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const question = row.question ?? row.what;
    groups.set(question, [...(groups.get(question) ?? []), row]);
  }
  return [...groups].map(([question, group]) => chartOf(question, group));
}

function chartOf(question: string, rows: readonly Row[]): Chart {
  const marks = new Map<string, Mark>();
  let unit = "";
  for (const row of rows) {
    unit = row.unit;
    const { name, measured, samples, peerName, peer, peerSamples } = row;
    if (!marks.has(name)) marks.set(name, markOf(name, measured, samples, true));
    if (peerName !== undefined) marks.set(peerName, markOf(peerName, peer ?? NaN, peerSamples ?? [], false));
  }
  const better = betterOf(unit, rows.find(({ bar }) => bar)?.bar);
  const rank = ({ value }: Mark): number => (Number.isFinite(value) ? (better === "lower" ? value : -value) : Infinity);
  const sorted = [...marks.values()].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return { question, unit, better, marks: sorted, rows };
}

/** A figure that became NaN is null once it has been through a file. */
function markOf(name: string, value: number | null, samples: readonly number[], own: boolean): Mark {
  return { name, value: value ?? NaN, low: quantile(samples, 0.1), high: quantile(samples, 0.9), samples, own };
}

function betterOf(unit: string, bar: Bar | undefined): Chart["better"] {
  if (bar) return bar.atLeast === undefined ? "lower" : "higher";
  return unit.endsWith("/s") ? "higher" : "lower";
}

/** The chart in SVG: a bar to each figure, a line over the middle eight tenths of its samples, a dot for each. */
export function drawChart({ question, unit, marks }: Chart): Html {
  const most = Math.max(0, ...marks.flatMap(({ value, high }) => [value, high]).filter(Number.isFinite));
  const step = stepOf(most);
  const end = Math.max(step, Math.ceil(most / step - 0.02) * step) * 1.02;
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
  return html`<div class="chart" role="group" aria-label="${question}">
    ${marks.map((mark) => drawMark(mark, unit, end, ticks))}
    <div class="line scale" aria-hidden="true">
      <span></span
      ><svg height="14" width="100%">
        ${ticks.map(
          (tick, index) =>
            html`<text x="${percent(tick, end)}" y="11" text-anchor="${index === 0 ? "start" : "middle"}"
              >${number(tick)}</text
            >`,
        )}</svg
      ><span>${unit}</span>
    </div>
  </div>`;
}

function drawMark({ name, value, low, high, samples, own }: Mark, unit: string, end: number, ticks: readonly number[]) {
  const known = Number.isFinite(value);
  const text = known ? `${number(value)} ${unit}` : "no figure";
  const spread = Number.isFinite(low)
    ? `, nine of ten samples above ${number(low)}, nine of ten below ${number(high)}`
    : "";
  const dots = samples.length > MOST_DOTS ? [] : samples.filter((sample) => sample <= end);
  return html`<div class="line${own ? " own" : ""}">
    <span class="name">${name}</span
    ><svg height="24" width="100%" role="img" aria-label="${name}: ${text}${spread}">
      <title>${name}: ${text}${spread}</title>
      ${ticks.map((tick) => html`<line class="grid" x1="${percent(tick, end)}" x2="${percent(tick, end)}" y1="0" y2="24" />`)}
      ${known ? html`<rect x="0" y="4" width="${percent(value, end)}" height="16" rx="2" />` : undefined}
      ${
        Number.isFinite(low)
          ? html`<line class="spread" x1="${percent(low, end)}" x2="${percent(high, end)}" y1="12" y2="12" />`
          : undefined
      }
      ${dots.map((sample) => html`<circle cx="${percent(sample, end)}" cy="12" r="1.8" />`)}</svg
    ><span class="value">${text}</span>
  </div>`;
}

/** Steps of 1, 2 or 5, of which three or four make the scale. */
function stepOf(most: number): number {
  if (most <= 0) return 1;
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (([1, 2, 5] as const).find((factor) => factor * power >= rough) ?? 10) * power;
}

function percent(value: number, end: number): string {
  return `${((value / end) * 100).toFixed(2)}%`;
}
