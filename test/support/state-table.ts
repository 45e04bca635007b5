/** A transition table as README.md shows it: a row an input, a column a state. */
import type { TransitionTable } from "../../src/domain/transition-table.ts";

const WORDS: Readonly<Record<string, string>> = { same: "=", late: "late", never: "" };

/** Markdown, as the formatter would leave it. */
export function renderStateTable(table: TransitionTable<string, string>): string {
  const states = Object.keys(Object.values(table)[0]!);
  const rows = [
    ["", ...states],
    ...Object.entries(table).map(([input, row]) => [
      input,
      ...states.map((state) => WORDS[row[state]!] ?? row[state]!),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const [header, ...body] = rows.map(line);
  return [header, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}
