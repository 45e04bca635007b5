/** The logs of one step in two runs, with equal lines beside each other. */
import { useMemo, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Loaded } from "../parts/loaded.tsx";
import { plainText } from "../run/log/line-text.ts";
import type { Run } from "../run/run-view.ts";
import { FixedRows } from "../run/views/fixed-rows.tsx";
import { alignLogs, type AlignedLine, differences, type LogText, shownRows } from "./align-logs.ts";
import { compareWords } from "./compare-words.ts";
import type { PairRow } from "./pair-runs.ts";
import rowStyles from "../run/views/rows.module.css";
import styles from "./compare.module.css";

const texts = compareWords.log;
const ROW = 22;
/** So many lines of the end of each log are compared. */
const MOST_LINES = 4_000;
/** What one call of the API answers at most. */
const CALL_LINES = 1_000;

export function Logs({ a, b, row }: { readonly a: Run; readonly b: Run; readonly row: PairRow | undefined }) {
  if (row === undefined) return <p class={styles["quiet"]}>{texts.choose}</p>;
  if (row.stepA === null || row.stepB === null) return <p class={styles["quiet"]}>{texts.missing}</p>;
  return <Both a={{ run: a, step: row.stepA.stepRunId }} b={{ run: b, step: row.stepB.stepRunId }} />;
}

interface Place {
  readonly run: Run;
  readonly step: string;
}

interface Tail {
  readonly lines: readonly LogText[];
  readonly isCut: boolean;
}

function Both({ a, b }: { readonly a: Place; readonly b: Place }) {
  const logs = useResource(
    async (signal) => {
      const [logA, logB] = await Promise.all([readTail(a, signal), readTail(b, signal)]);
      return { ...alignLogs(logA.lines, logB.lines), isCut: logA.isCut || logB.isCut };
    },
    [a.step, b.step],
  );
  return (
    <Loaded of={logs}>
      {({ rows, isAligned, isCut }) => (
        <>
          {isCut ? <p class={styles["quiet"]}>{texts.cut(MOST_LINES)}</p> : null}
          {isAligned ? null : <p class={styles["quiet"]}>{texts.far}</p>}
          <Aligned rows={rows} />
        </>
      )}
    </Loaded>
  );
}

async function readTail({ run, step }: Place, signal: AbortSignal): Promise<Tail> {
  const path = { pipelineId: run.pipelineId, runId: run.runId, stepRunId: step };
  const template = "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs";
  const newest = await api.get(template, { path, query: { tail: CALL_LINES }, signal });
  let list = newest.list;
  const first = Math.max(1, newest.lines - MOST_LINES + 1);
  for (let to = (list[0]?.line_number ?? 1) - 1; to >= first; to = list[0]!.line_number - 1) {
    const query = { from: Math.max(first, to - CALL_LINES + 1), to, limit: CALL_LINES };
    const page = await api.get(template, { path, query, signal });
    // Lines that were lost leave a gap.
    if (page.list.length === 0) break;
    list = [...page.list, ...list];
  }
  return {
    lines: list.map(({ line_number, content }) => ({ line: line_number, text: plainText(content) })),
    isCut: newest.lines > MOST_LINES,
  };
}

function Aligned({ rows }: { readonly rows: readonly AlignedLine[] }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(() => shownRows(rows, open), [rows, open]);
  const changes = differences(rows);
  if (changes === 0) {
    return <p class={styles["quiet"]}>{rows.every(({ kind }) => kind === "same") ? texts.same : texts.sameApart}</p>;
  }
  return (
    <>
      <p class={styles["quiet"]}>{texts.changes(changes)}</p>
      <div class={rowStyles["frame"]} role="table" aria-label={texts.changes(changes)} aria-rowcount={shown.length + 1}>
        <div role="rowgroup">
          <div class={`${rowStyles["head"]} ${styles["logsHead"]}`} role="row">
            <span role="columnheader">{texts.thisLog}</span>
            <span role="columnheader">{texts.otherLog}</span>
          </div>
        </div>
        <FixedRows count={shown.length} rowHeight={ROW} role="rowgroup">
          {(index, top) => {
            const row = shown[index]!;
            return row.kind === "gap" ? (
              <div key={`gap ${row.at}`} class={styles["gap"]} role="row" style={{ top }}>
                <span role="cell">
                  <button
                    type="button"
                    aria-label={texts.open(row.count)}
                    onClick={() => setOpen(new Set([...open, row.at]))}
                  >
                    {texts.equal(row.count)}
                  </button>
                </span>
              </div>
            ) : (
              <div key={row.at} class={styles["logsRow"]} role="row" style={{ top }} data-kind={row.row.kind}>
                <Line of={row.row.a} />
                <Line of={row.row.b} />
              </div>
            );
          }}
        </FixedRows>
      </div>
    </>
  );
}

function Line({ of }: { readonly of: LogText | null }) {
  return (
    <span role="cell" data-missing={of === null} title={of?.text}>
      <span class={styles["lineNumber"]}>{of?.line ?? ""}</span>
      {of?.text ?? ""}
    </span>
  );
}
