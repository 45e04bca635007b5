/** The audit log: who did what, with filters in the address, and the export of what they find. */
import { useState } from "preact/hooks";
import scroll from "lucide-static/icons/scroll-text.svg?raw";
import { useFilters } from "../app/place.ts";
import { api, type Schemas } from "../api/client.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { Sent } from "../areas/delivery-parts.tsx";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Chips, FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Facts, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { type Column, RowButton, Table, Under } from "../parts/table.tsx";
import { Ago, wholeTime } from "../parts/time.tsx";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.audit;
type Entry = Schemas["AuditEntry"];
const OUTCOMES: readonly (readonly [string, string])[] = [["", texts.all], ...Object.entries(texts.outcomes)];
const NAMES = ["actor", "operation", "object", "outcome", "since", "until"] as const;

export function Audit() {
  const [filters, change, choose] = useFilters();
  const [open, setOpen] = useState<Entry | undefined>(undefined);
  const given = NAMES.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]] as const]));
  const query = Object.fromEntries(given.map(([name, value]) => [name, timed(name, value)]));
  const entries = usePages(
    (after, signal) =>
      api.get("/audit", { query: { ...query, limit: 50, ...(after === undefined ? {} : { after }) }, signal }),
    [query],
  );
  const set = (name: string) => (value: string) => change({ [name]: value });
  const columns: readonly Column<Entry>[] = [
    {
      name: texts.operation,
      cell: (entry) => (
        <>
          <RowButton onClick={() => setOpen(entry)}>{entry.operation}</RowButton>
          <Under>{objectText(entry)}</Under>
        </>
      ),
    },
    {
      name: texts.actor,
      width: "26%",
      cell: ({ actor, onBehalfOf }) => (
        <>
          {actor.name === "" ? actor.kind : actor.name}
          <Under>{onBehalfOf === null ? actor.kind : `${texts.onBehalfOf} ${onBehalfOf}`}</Under>
        </>
      ),
    },
    {
      name: texts.outcome,
      width: "104px",
      cell: ({ outcome }) => <span class={styles[outcome === "done" ? "good" : "bad"]}>{texts.outcomes[outcome]}</span>,
    },
    { name: texts.time, width: "110px", needs: "wide", align: "end", cell: ({ time }) => <Ago at={time} /> },
  ];
  const exported = `/api/v1/audit/export?${new URLSearchParams(query).toString()}`;
  return (
    <Section title={areaWords.tabs.audit} aside={<ButtonLink href={exported}>{texts.export}</ButtonLink>}>
      <p class={styles["about"]}>{texts.about}</p>
      <FilterBar>
        <Chips
          label={texts.outcome}
          options={OUTCOMES}
          value={filters["outcome"] ?? ""}
          onChange={(value) => choose({ outcome: value })}
        />
        <FilterText label={texts.actor} value={filters["actor"] ?? ""} isMain onChange={set("actor")} />
        <FilterText label={texts.operation} value={filters["operation"] ?? ""} onChange={set("operation")} />
        <FilterText label={texts.object} value={filters["object"] ?? ""} onChange={set("object")} />
        <span class={styles["days"]}>
          {(["since", "until"] as const).map((name) => (
            <label key={name} class={styles["day"]}>
              {texts[name]}
              <input
                type="date"
                value={filters[name] ?? ""}
                onChange={(event) => change({ [name]: event.currentTarget.value })}
              />
            </label>
          ))}
        </span>
        <Button onClick={entries.reload}>{texts.refresh}</Button>
        <SavedFilterList />
      </FilterBar>
      <Loaded of={entries.pages} rows={10}>
        {() =>
          entries.list.length === 0 ? (
            <Blank icon={scroll} title={texts.none} />
          ) : (
            <Table
              label={areaWords.tabs.audit}
              rows={entries.list}
              columns={columns}
              keyOf={({ auditId }) => auditId}
            />
          )
        }
      </Loaded>
      <MoreButton of={entries} />
      {open === undefined ? null : <EntryDialog of={open} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

/** Days of the reader's zone as moments: a day as the end includes the day. */
function timed(name: string, value: string): string {
  if (name !== "since" && name !== "until") return value;
  const day = new Date(`${value}T00:00:00`);
  if (Number.isNaN(day.getTime())) return value;
  if (name === "until") day.setDate(day.getDate() + 1);
  return day.toISOString();
}

function objectText({ object }: Entry): string {
  return object === null ? "" : `${object.kind} ${object.name ?? object.id}`;
}

function EntryDialog({ of, onClose }: { readonly of: Entry; readonly onClose: () => void }) {
  const { actor, from, before, after } = of;
  return (
    <Dialog title={texts.entry} wide onClose={onClose}>
      <Facts
        of={[
          [texts.time, wholeTime(of.time)],
          [texts.operation, of.operation],
          [texts.outcome, texts.outcomes[of.outcome]],
          [texts.actor, `${actor.kind} ${actor.name}`],
          ...(actor.proof === null ? [] : ([[texts.proof, actor.proof]] as const)),
          ...(of.onBehalfOf === null ? [] : ([[texts.onBehalfOf, of.onBehalfOf]] as const)),
          [texts.object, of.object === null ? "–" : `${of.object.kind} ${of.object.name ?? ""} ${of.object.id}`],
          [texts.from, [from.door, from.address, from.userAgent].filter((part) => part !== null).join(" · ")],
          ...(of.requestId === null ? [] : ([[texts.request, <code>{of.requestId}</code>]] as const)),
          ...(of.reason === null ? [] : ([[texts.reason, of.reason]] as const)),
        ]}
      />
      {before === null ? null : (
        <>
          <h3>{texts.before}</h3>
          <Sent text={JSON.stringify(before, null, 2)} label={texts.before} />
        </>
      )}
      {after === null ? null : (
        <>
          <h3>{texts.after}</h3>
          <Sent text={JSON.stringify(after, null, 2)} label={texts.after} />
        </>
      )}
      {of.leftOut === 0 ? null : <p class={styles["quiet"]}>{texts.leftOut(of.leftOut)}</p>}
    </Dialog>
  );
}
