/** A transition table as README.md shows it: a row an input, a column a state. */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import { renderTable } from "./markdown-table.ts";

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
  return renderTable(rows);
}
