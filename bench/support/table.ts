/** Prints a benchmark's rows. */
import type { Row } from "./bench.js";
import { barText, number } from "./format.js";

const HEADINGS = ["what", "measured", "peer", "ratio", "to hold", "holds"];

/** Formats rows as a table. */
export function tableOf(title: string, how: string, rows: readonly Row[]): string {
  const cells = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? "").length)));
  const lines = cells.map((line) => line.map((text, column) => pad(text, widths[column] ?? 0, column)).join("  "));
  lines.splice(1, 0, widths.map((width) => "─".repeat(width)).join("  "));
  const notes = new Set(
    rows.flatMap(({ peerName, note }) => (note === undefined ? [] : [`${peerName ?? ""}: ${note}`])),
  );
  return `\n${[title, how, "", ...lines.map((line) => line.trimEnd()), ...notes].join("\n")}\n`;
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

function pad(text: string, width: number, column: number): string {
  return column === 1 || column === 2 || column === 3 ? text.padStart(width) : text.padEnd(width);
}
