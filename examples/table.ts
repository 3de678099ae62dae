/** Prints rows as a table. */

/** One column: its title, what stands in it, and on which side. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly left?: boolean;
}

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => (row[index] ?? "").length)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => {
        const width = widths[index] ?? 0;
        return columns[index]?.left ? text.padEnd(width) : text.padStart(width);
      })
      .join("  ")
      .trimEnd();
  return [
    line(columns.map(({ title }) => title)),
    line(widths.map((width) => "─".repeat(width))),
    ...cells.map(line),
  ].join("\n");
}
