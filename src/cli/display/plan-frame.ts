/** A plan as lines of text: while it runs, and as the table that stays. */
import stringWidth from "string-width";
import type { OpenCall } from "../../index.js";
import type { PlanReport } from "../../plan/index.js";
import { oneLine } from "../printable.js";
import { clipEnd, milliseconds, padEnd, progressBar, table, type Column } from "../table.js";
import type { Style } from "../terminal.js";
import type { PlanState, StepState } from "./plan-state.js";

/** Styles a text. */
export type Paint = (style: Style, text: string) => string;

const MARKS: Readonly<Record<StepState["state"], readonly [Style, string]>> = {
  waiting: ["dim", "·"],
  running: ["cyan", "▸"],
  ok: ["green", "✔"],
  failed: ["red", "✖"],
  skipped: ["dim", "–"],
  blocked: ["yellow", "■"],
  cancelled: ["yellow", "◼"],
};

/** Most steps that a frame shows; those that run come first. */
const ROWS_SHOWN = 20;

/** One frame. No line is wider than the terminal. */
export function frame(state: PlanState, columns: number, rows: number, paint: Paint): string[] {
  const now = performance.now();
  const room = Math.max(3, Math.min(ROWS_SHOWN, rows - 4));
  const shown = pick(state.steps, room);
  const ids = shown.map(({ id }) => oneLine(id));
  const width = Math.max(...ids.map((id) => stringWidth(id)));
  const lines = shown.map((step, index) => {
    const [style, mark] = MARKS[step.state];
    return `${paint(style, mark)} ${padEnd(ids[index] ?? "", width)}  ${doing(state, step, now, paint)}`;
  });
  const hidden = state.steps.length - shown.length;
  if (hidden > 0) lines.push(paint("dim", `  and ${hidden} more steps`));
  const running = state.open.length;
  const head = `${oneLine(state.planId)}  ${state.ended} of ${state.steps.length} steps, ${running} ${running === 1 ? "call" : "calls"} under way, ${seconds(now - state.began)}`;
  return [paint("bold", head), ...lines].map((line) => clipEnd(line, columns - 1));
}

/** The table that stays. */
export function summary(state: PlanState, report: PlanReport, columns: number, paint: Paint): string {
  const cells: Column<StepState>[] = [
    { title: "step", left: true, cell: ({ id }) => id },
    { title: "tool", left: true, cell: ({ tool }) => tool },
    {
      title: "outcome",
      left: true,
      cell: ({ state: own }) => `${MARKS[own][1]} ${own}`,
      paint: (text, { state: own }) => paint(MARKS[own][0], text),
    },
    { title: "calls", cell: ({ calls }) => String(calls) },
    { title: "ms", cell: ({ report: own }) => (own ? milliseconds(own.durationMs) : "") },
    { title: "", left: true, cell: ({ report: own }) => clipEnd(why(own), Math.max(20, columns - 60)) },
  ];
  const { outcome, calls, durationMs, cost } = report;
  const paid = cost > 0 ? `, cost ${cost}` : "";
  const end = `${oneLine(report.plan)}: ${outcome}, ${calls} ${calls === 1 ? "call" : "calls"} in ${seconds(durationMs)}${paid}`;
  return `${table(cells, state.steps)}\n${paint(outcome === "ok" ? "green" : "red", end)}`;
}

function why(report: StepState["report"]): string {
  return oneLine(report?.error ? `${report.error.code}: ${report.error.message}` : (report?.reason ?? ""));
}

/** What runs, then what ended last, then what waits. */
function pick(steps: readonly StepState[], room: number): StepState[] {
  if (steps.length <= room) return [...steps];
  const weight = ({ state }: StepState): number =>
    state === "running" ? 0 : state === "failed" ? 1 : state === "waiting" ? 3 : 2;
  const chosen = new Set([...steps].sort((one, other) => weight(one) - weight(other)).slice(0, room));
  return steps.filter((step) => chosen.has(step));
}

function doing(state: PlanState, step: StepState, now: number, paint: Paint): string {
  const { report } = step;
  if (report) {
    const detail = why(report);
    return `${paint("dim", seconds(report.durationMs))}${detail === "" ? "" : `  ${detail}`}`;
  }
  if (step.state === "waiting") return paint("dim", "waits");
  const calls = state.callsOf(step);
  const elapsed = now - step.since;
  const parts = [paint("dim", oneLine(step.tool))];
  const { items, progress } = step;
  if (items)
    parts.push(
      progressBar(items.done, items.total),
      `${items.done}/${items.total}`,
      eta(items.done, items.total, elapsed),
    );
  else if (progress) {
    const { done, total, message } = progress;
    if (total !== undefined) parts.push(progressBar(done, total), `${done}/${total}`, eta(done, total, elapsed));
    else parts.push(String(done));
    if (message !== undefined) parts.push(oneLine(message));
  }
  parts.push(phases(calls), seconds(elapsed));
  return parts.filter((part) => part !== "").join("  ");
}

/** Where the calls spend their time now: `run ×2 in thread-3, thread-4`. */
function phases(calls: readonly OpenCall[]): string {
  const byPhase = new Map<string, OpenCall[]>();
  for (const call of calls) byPhase.set(call.phase, [...(byPhase.get(call.phase) ?? []), call]);
  return [...byPhase]
    .map(([phase, group]) => {
      const cells = [...new Set(group.flatMap(({ cell }) => cell?.id ?? []))];
      const where = cells.length > 0 ? ` in ${cells.slice(0, 3).join(", ")}${cells.length > 3 ? ", …" : ""}` : "";
      return `${phase}${group.length > 1 ? ` ×${group.length}` : ""}${where}`;
    })
    .join("; ");
}

/** What is left at the pace so far. */
function eta(done: number, total: number, elapsed: number): string {
  if (done < total * 0.02 || done >= total || elapsed < 500) return "";
  return `${seconds((elapsed / done) * (total - done))} left`;
}

function seconds(ms: number): string {
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
}
