/** A transition table as docs/states.md shows it: one row per input, one column per state. */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import { renderTable } from "./markdown-table.ts";

const WORDS: Readonly<Record<string, string>> = { same: "=", late: "late", never: "" };

/** The table in Markdown, laid out as the formatter lays it out. */
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
