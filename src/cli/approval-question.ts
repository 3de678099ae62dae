/** A request for approval as people read it. */
import wrapAnsi from "wrap-ansi";
import type { ApprovalRequest } from "../index.js";
import { oneLine, printable } from "./printable.js";

/** Letters that show nothing, or end a line where none is: they would hide what is approved. */
const HIDDEN = /[\p{Cf}\p{Zl}\p{Zp}]/gu;
const LABEL_WIDTH = 9;
const LEAST_WIDTH = 20;

/** How to show a request. */
export interface QuestionLayout {
  /** Of the terminal. */
  readonly columns: number;
  /** Rows of the input; all without it. */
  readonly inputRows?: number;
  /** The step of a plan file that it is a call of, where known. */
  readonly step?: string | undefined;
}

/** The request in rows, and whether all of its input is in them. */
export function questionText(
  request: ApprovalRequest,
  { columns, inputRows = Infinity, step }: QuestionLayout,
): { readonly text: string; readonly isWhole: boolean } {
  const { toolName, toolVersion, planId, actorName, input, expiresAt } = request;
  const all = rowsOf(JSON.stringify(input, undefined, 2), columns);
  const shown = all.slice(0, inputRows);
  const rest = all.length - shown.length;
  if (rest > 0) shown.push(`… ${rest} more ${rest === 1 ? "line" : "lines"}`);
  const fields = {
    tool: [lineOf(toolVersion === undefined ? toolName : `${toolName} ${toolVersion}`)],
    plan: [lineOf(step === undefined ? planId : `${planId}, ${step}`)],
    ...(actorName !== undefined && { actor: [lineOf(actorName)] }),
    input: shown,
    expires: [`in ${timeLeft(expiresAt)}`],
  };
  const text = Object.entries(fields)
    .flatMap(([label, rows]) => rows.map((row, index) => `  ${(index === 0 ? label : "").padEnd(LABEL_WIDTH)}${row}`))
    .join("\n");
  return { text, isWhole: rest === 0 };
}

/** A text of others' as one line in which nothing is hidden. */
export function lineOf(text: string): string {
  return written(oneLine(text));
}

/** How long a request is good for, roughly. */
export function timeLeft(expiresAt: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(expiresAt) - Date.now()) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

function rowsOf(json: string, columns: number): string[] {
  const width = Math.max(LEAST_WIDTH, columns - LABEL_WIDTH - 3);
  return wrapAnsi(written(printable(json)), width, { hard: true, trim: false, wordWrap: false }).split("\n");
}

function written(text: string): string {
  // By UTF-16 unit, as JSON writes them.
  return text.replace(HIDDEN, (letter) =>
    letter
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
