/** The jobs and steps of two runs beside each other. */
import { StatusIcon } from "../parts/status.tsx";
import { durationText } from "../parts/time-texts.ts";
import { FixedRows } from "../run/views/fixed-rows.tsx";
import { compareWords } from "./compare-words.ts";
import { isLonger, type PairRow, type Side } from "./pair-runs.ts";
import rowStyles from "../run/views/rows.module.css";
import styles from "./compare.module.css";

const ROW = 34;
const texts = compareWords.jobs;

export function Jobs({
  rows,
  isAll,
  chosen,
}: {
  readonly rows: readonly PairRow[];
  readonly isAll: boolean;
  readonly chosen: string | undefined;
}) {
  const shown = isAll ? rows : rows.filter(({ differs }) => differs);
  const hidden = rows.length - shown.length;
  const note = hidden === 0 ? null : <p class={styles["quiet"]}>{texts.hidden(hidden)}</p>;
  if (shown.length === 0) return <p class={styles["quiet"]}>{texts.same}</p>;
  return (
    <>
      <div class={rowStyles["frame"]} role="table" aria-label={texts.title} aria-rowcount={shown.length + 1}>
        <div role="rowgroup">
          <div class={`${rowStyles["head"]} ${rowStyles["columns"]} ${styles["jobsHead"]}`} role="row">
            {[texts.name, texts.status, texts.exit, texts.waits, texts.duration, texts.change].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
          </div>
        </div>
        <FixedRows count={shown.length} rowHeight={ROW} role="rowgroup">
          {(index, top) => {
            const row = shown[index]!;
            return <Pair key={row.key} row={row} top={top} isChosen={row.key === chosen} />;
          }}
        </FixedRows>
      </div>
      {note}
    </>
  );
}

function Pair({ row, top, isChosen }: { readonly row: PairRow; readonly top: string; readonly isChosen: boolean }) {
  const { a, b } = row;
  return (
    <div
      class={`${rowStyles["row"]} ${rowStyles["columns"]} ${styles["jobsRow"]}`}
      role="row"
      style={{ top }}
      data-kind={row.kind}
      data-chosen={isChosen}
    >
      <span role="cell" class={styles["name"]}>
        {row.stepA === null || row.stepB === null ? (
          <span>{row.name}</span>
        ) : (
          <a href={addressOf(row.stepA.stepRunId)} data-row-link="" aria-label={texts.compareLogs(row.fullName)}>
            {row.name}
          </a>
        )}
        {a === null || b === null ? (
          <span class={styles["quiet"]}>{a === null ? texts.onlyOther : texts.onlyThis}</span>
        ) : null}
      </span>
      <span role="cell" class={styles["states"]}>
        <Two a={a} b={b} of={({ status }) => status} show={(status) => <StatusIcon of={status} size={14} />} />
      </span>
      <span role="cell" class={styles["number"]}>
        <Two a={a} b={b} of={({ exitCode }) => exitCode} show={String} />
      </span>
      <span role="cell" class={styles["number"]}>
        {timeOf(a?.waitedMs)} / {timeOf(b?.waitedMs)}
      </span>
      <span role="cell" class={styles["number"]}>
        {timeOf(a?.ranMs)} / {timeOf(b?.ranMs)}
      </span>
      <span role="cell" class={styles["number"]}>
        <Change a={a} b={b} />
      </span>
    </div>
  );
}

/** One value when the sides agree, and both when they do not: that of this run last. */
function Two<V>({
  a,
  b,
  of,
  show,
}: {
  readonly a: Side | null;
  readonly b: Side | null;
  readonly of: (side: Side) => V | null;
  readonly show: (value: V) => preact.ComponentChildren;
}) {
  const [one, other] = [a === null ? null : of(a), b === null ? null : of(b)];
  const text = (value: V | null) => (value === null ? "–" : show(value));
  if (one === other) return <>{one === null ? "" : text(one)}</>;
  return (
    <>
      {text(other)} <span aria-hidden="true">→</span> {text(one)}
    </>
  );
}

function Change({ a, b }: { readonly a: Side | null; readonly b: Side | null }) {
  if (a === null || b === null || a.ranMs === null || b.ranMs === null || !isLonger(a.ranMs, b.ranMs)) return null;
  const by = a.ranMs - b.ranMs;
  return (
    <span data-change={by > 0 ? "longer" : "shorter"}>
      {by > 0 ? "+" : "−"}
      {durationText(Math.abs(by))}
    </span>
  );
}

function timeOf(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? "–" : durationText(ms);
}

function addressOf(stepRunId: string): string {
  const query = new URLSearchParams(location.search);
  query.set("step", stepRunId);
  return `${location.pathname}?${query.toString()}`;
}
