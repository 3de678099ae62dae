/** Prints a benchmark's rows. */
import type { Bar, Row } from "./bench.js";

const HEADINGS = ["what", "measured", "peer", "ratio", "to hold", "holds"];

/** Formats rows as a table. */
export function tableOf(title: string, how: string, rows: readonly Row[]): string {
  const cells = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
  const lines = cells.map((line) => line.map((text, column) => pad(text, widths[column] ?? 0, column)).join("  "));
  lines.splice(1, 0, widths.map((width) => "─".repeat(width)).join("  "));
  return `\n${title}\n${how}\n\n${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function cellsOf({ what, unit, measured, peer, peerName, ratio, bar, holds }: Row): string[] {
  return [
    what,
    `${number(measured)} ${unit}`,
    peer === undefined ? "" : `${peerName ?? ""} ${number(peer)} ${unit}`,
    ratio === undefined ? "" : `${ratio.toFixed(2)} ×`,
    bar ? barText(bar, unit) : "",
    holds === undefined ? "" : holds ? "yes" : "NO",
  ];
}

function barText({ of, atMost, atLeast }: Bar, unit: string): string {
  const suffix = of === "ratio" ? "×" : unit;
  return [
    atLeast !== undefined && `≥ ${number(atLeast)} ${suffix}`,
    atMost !== undefined && `≤ ${number(atMost)} ${suffix}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function pad(text: string, width: number, column: number): string {
  return column === 1 || column === 2 || column === 3 ? text.padStart(width) : text.padEnd(width);
}

/** Three digits that count, thousands apart. */
function number(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
