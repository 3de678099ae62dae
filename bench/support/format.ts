/** How figures are written. */
import type { Bar } from "./bench.js";

/** Three digits that count, thousands apart. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** What a figure must not go beyond. */
export function barText({ of, atMost, atLeast }: Bar, unit: string): string {
  const suffix = of === "ratio" ? "×" : unit;
  return [
    atLeast !== undefined && `≥ ${number(atLeast)} ${suffix}`,
    atMost !== undefined && `≤ ${number(atMost)} ${suffix}`,
  ]
    .filter(Boolean)
    .join(", ");
}
