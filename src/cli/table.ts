/** Rows as a table of text. */
import sliceAnsi from "slice-ansi";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { oneLine } from "./printable.js";

/** One column: its title, what stands in it, how that is styled, and on which side it stands. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
  readonly left?: boolean;
  /** Goes on in further lines where the table would be too wide. */
  readonly wraps?: boolean;
}

const GAP = 2;
const LEAST_WRAPPED = 24;

/**
 * Draws a table; texts may hold wide letters, and whatever would spoil a line of it.
 * @param width columns of the terminal; nothing is wrapped without it
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width = Infinity): string {
  const cells = rows.map((row) => columns.map(({ cell, paint = (text) => text }) => paint(oneLine(cell(row)), row)));
  const natural = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, stringWidth(row[index] ?? "")), stringWidth(title)),
  );
  const widths = fit(columns, natural, width);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => {
        const space = " ".repeat(Math.max(0, (widths[index] ?? 0) - stringWidth(text)));
        return columns[index]?.left ? text + space : space + text;
      })
      .join(" ".repeat(GAP))
      .trimEnd();
  const lines = (texts: readonly string[]): string[] => {
    const parts = texts.map((text, index) =>
      columns[index]?.wraps && widths[index] !== natural[index]
        ? // Hard: a path, and a language without spaces, is one long word.
          wrapAnsi(text, widths[index] ?? 1, { hard: true }).split("\n")
        : [text],
    );
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (_, at) => line(parts.map((part) => part[at] ?? "")));
  };
  return [
    line(columns.map(({ title }) => title)),
    line(widths.map((each) => "─".repeat(each))),
    ...cells.flatMap(lines),
  ].join("\n");
}

/** Takes from the columns that wrap what is too much, the widest first. */
function fit<Row>(columns: readonly Column<Row>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1));
  const wrapping = columns.flatMap(({ wraps }, index) => (wraps ? [index] : []));
  for (let over = total() - width; over > 0; over = total() - width) {
    const widest = wrapping.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      wrapping[0] ?? -1,
    );
    const now = widths[widest] ?? 0;
    if (now <= LEAST_WRAPPED) break;
    const next = Math.max(0, ...wrapping.filter((index) => index !== widest).map((index) => widths[index] ?? 0));
    // Down to the next widest, then evenly.
    widths[widest] = Math.max(LEAST_WRAPPED, now - over, Math.min(next, now - 1));
  }
  return widths;
}

/** Milliseconds in as few letters as tell them. */
export function milliseconds(value: number): string {
  if (value < 0.005) return "·";
  if (value < 1) return value.toFixed(2);
  return value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

const BAR_WIDTH = 12;

/** How much of something is done; empty where it is not known of how much. */
export function progressBar(done: number, total: number | undefined): string {
  if (total === undefined) return "";
  const share = total > 0 ? Math.max(0, Math.min(1, done / total)) : 1;
  const full = Math.round(share * BAR_WIDTH);
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}`;
}

/** Cuts the beginning of a line that is too long, as {@link clipEnd} its end. */
export function clipStart(line: string, width: number): string {
  const whole = stringWidth(line);
  return clipped(line, width, (room) => `…${sliceAnsi(line, whole - room)}`);
}

/**
 * Cuts the end of a line that is too long. Colours take no room and are closed again; a wide letter is not halved.
 * @param width columns
 */
export function clipEnd(line: string, width: number): string {
  return clipped(line, width, (room) => `${sliceAnsi(line, 0, room)}…`);
}

function clipped(line: string, width: number, cut: (room: number) => string): string {
  if (stringWidth(line) <= width) return line;
  // The two libraries may differ about a letter of several code points: the measure of the result decides.
  for (let room = width - 1; room > 0; room--) {
    const short = cut(room);
    if (stringWidth(short) <= width) return short;
  }
  return width > 0 ? "…" : "";
}

/** Fills a text up with spaces, by what it takes of the terminal. */
export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}
