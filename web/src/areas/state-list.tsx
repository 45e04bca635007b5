/** A list of what was sent or received, which can be narrowed to a state. */
import type { ComponentChildren } from "preact";
import { Chips, FilterBar } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type More, MoreButton } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";

export function StateList<T>({
  title,
  about,
  states,
  state,
  onState,
  of,
  columns,
  keyOf,
  blank,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  /** Each state with its word; the empty state is all of them. */
  readonly states: readonly (readonly [string, string])[];
  readonly state: string;
  readonly onState: (state: string) => void;
  readonly of: More<T>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (one: T) => string;
  /** In place of a table without rows. */
  readonly blank: ComponentChildren;
  /** The dialog of the row that is open. */
  readonly children: ComponentChildren;
}) {
  return (
    <Section title={title}>
      {about === undefined ? null : <p class={styles["about"]}>{about}</p>}
      <FilterBar>
        <Chips label={areaWords.webhooks.stateFilter} options={states} value={state} onChange={onState} />
      </FilterBar>
      <Loaded of={of.pages}>
        {() => (of.list.length === 0 ? blank : <Table label={title} rows={of.list} columns={columns} keyOf={keyOf} />)}
      </Loaded>
      <MoreButton of={of} />
      {children}
    </Section>
  );
}
