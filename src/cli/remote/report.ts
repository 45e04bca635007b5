/** What commands print about objects of a server: tables for people, JSON for programs. */
import { type Colour, cut, type Output, paintFor } from "../screen.ts";
import { visible, visibleJson } from "./visible.ts";

export interface Column<T> {
  readonly title: string;
  readonly text: (item: T) => string;
  readonly colour?: (item: T) => Colour | undefined;
}

/** Prints results. With `json`, stdout holds only JSON. */
export class Report {
  readonly isJson: boolean;
  readonly #output: Output;

  constructor({ json = false }: { readonly json?: boolean | undefined }, output: Output = process.stdout) {
    this.isJson = json;
    this.#output = output;
  }

  /** A list: an array of the API's objects, or a table. `nothing` is printed in place of an empty table. */
  list<T>(items: readonly T[], columns: readonly Column<T>[], nothing: string): void {
    if (this.isJson) this.json(items);
    else if (items.length === 0) this.#line(nothing);
    else for (const line of table(items, columns, this.#output)) this.#line(line);
  }

  /** An object of the API, or lines about it. */
  object(value: unknown, ...lines: readonly string[]): void {
    if (this.isJson) this.json(value);
    else for (const line of lines) this.#line(visible(line));
  }

  /** A text that is shown only now: for people alone on stdout, so that a shell can take it, with a note on stderr. */
  secret(value: unknown, text: string, note: string): void {
    this.object(value, text);
    if (!this.isJson) process.stderr.write(`${visible(note)}\n`);
  }

  json(value: unknown): void {
    this.#line(visibleJson(value, 2));
  }

  #line(text: string): void {
    this.#output.write(`${text}\n`);
  }
}

function table<T>(items: readonly T[], columns: readonly Column<T>[], output: Output): readonly string[] {
  const paint = paintFor(output);
  const cells = items.map((item) => columns.map(({ text }) => visible(text(item))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((row) => row[at]!.length)));
  const width = output.isTTY === true ? (output.columns ?? Infinity) : Infinity;
  const join = (texts: readonly string[], colourOf: (at: number) => Colour | undefined) => {
    let room = width;
    const parts = texts.flatMap((text, at) => {
      if (room < 1) return [];
      const isLast = at === texts.length - 1;
      const shown = cut(isLast ? text : text.padEnd(widths[at]!), room);
      room -= shown.length + 2;
      const colour = colourOf(at);
      return [colour === undefined ? shown : paint(colour, shown)];
    });
    return parts.join("  ").trimEnd();
  };
  const head = join(
    columns.map(({ title }) => title.toUpperCase()),
    () => "bold",
  );
  return [head, ...cells.map((row, at) => join(row, (column) => columns[column]!.colour?.(items[at]!)))];
}
