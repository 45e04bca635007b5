/** A table whose rows are links: `j` and `k` go from row to row. */
import type { ComponentChildren } from "preact";
import styles from "./table.module.css";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** `end` for numbers and times. */
  readonly align?: "start" | "end";
  /** Hidden when the page is narrower: `medium` below 1,000 px, `wide` below 720 px. */
  readonly needs?: "medium" | "wide";
  /** A width as CSS has it; the others share what is left. */
  readonly width?: string;
  /** The width below 720 px; `width` counts there when it is absent. */
  readonly narrow?: string;
  /** True for a head that only readers of screens need. */
  readonly isQuiet?: boolean;
}

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  stateOf,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** A word for the row's look: `chosen`, `faint`. */
  readonly stateOf?: (row: Row) => "chosen" | "faint" | undefined;
}) {
  return (
    <div class={styles["frame"]}>
      <table class={styles["table"]} aria-label={label}>
        <colgroup>
          {columns.map(({ name, width = "auto", narrow = width, needs }) => (
            <col key={name} data-needs={needs} style={{ "--width": width, "--narrow": narrow }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ name, align = "start", needs, isQuiet = false }) => (
              <th key={name} scope="col" data-align={align} data-needs={needs}>
                {isQuiet ? <span class={styles["quiet"]}>{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} data-state={stateOf?.(row)}>
              {columns.map(({ name, cell, align = "start", needs }) => (
                <td key={name} data-align={align} data-needs={needs}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The link of a row. A click anywhere in the row follows it. */
export function RowLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <a class={styles["link"]} href={href} data-row-link="">
      {children}
    </a>
  );
}

/** As {@link RowLink}, for a row that opens a dialog. */
export function RowButton({
  onClick,
  children,
}: {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class={styles["link"]} data-row-link="" onClick={onClick}>
      {children}
    </button>
  );
}

/** A second line under the main text of a cell. */
export function Under({ title, children }: { readonly title?: string; readonly children: ComponentChildren }) {
  return (
    <span class={styles["under"]} title={title}>
      {children}
    </span>
  );
}

/** What lies above the link of the row, and so can be clicked by itself. */
export function Above({ children }: { readonly children: ComponentChildren }) {
  return <span class={styles["above"]}>{children}</span>;
}
