/** Tables in Markdown, laid out as the formatter lays them out. */

/** The first row is the header; no cell may hold a line break. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = escaped[0]!.map((_, column) => Math.max(3, ...escaped.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const [header, ...body] = escaped.map(line);
  return [header, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

/** The rows below the header of the first table in a text. */
export function readTable(text: string): readonly (readonly string[])[] {
  const lines = /^\|.*(?:\n\|.*)*/m.exec(text)?.[0].split("\n") ?? [];
  return lines.slice(2).map((line) => {
    const cells = line.slice(1, -1).split(/(?<!\\)\|/);
    return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
  });
}
