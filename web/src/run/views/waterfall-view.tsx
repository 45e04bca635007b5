/** When each job waited, for what, and when it ran; and the chain of jobs that made the run as long as it was. */
import { useState } from "preact/hooks";
import chartGantt from "lucide-static/icons/chart-gantt.svg?raw";
import { Blank } from "../../parts/problem.tsx";
import { StatusIcon } from "../../parts/status.tsx";
import { durationText } from "../../parts/time-texts.ts";
import { now } from "../../parts/time.tsx";
import { plannedName } from "../graph/blocks.ts";
import { type JobSpans, type Span, WAIT_NAMES, waterfallOf } from "../critical-path.ts";
import { runWords } from "../run-words.ts";
import { hasEnded, type Job } from "../run-view.ts";
import { jobAddress, type ViewProps } from "../view-props.ts";
import { FixedRows } from "./fixed-rows.tsx";
import styles from "./waterfall-view.module.css";

const ROW = 30;
const texts = runWords.waterfall;

export function WaterfallView({ view, chosen }: ViewProps) {
  const [isPathOnly, showPathOnly] = useState(false);
  const { rows, lengthMs, path, spent } = waterfallOf(view, hasEnded(view) ? 0 : now.value);
  if (rows.every(({ spans }) => spans.length === 0)) return <Blank icon={chartGantt} title={texts.none} />;
  const shown = isPathOnly ? rows.filter(({ job }) => path.has(job.key)) : rows;
  const total = [...spent.values()].reduce((sum, ms) => sum + ms, 0);
  return (
    <>
      <section class={styles["summary"]} aria-label={texts.critical}>
        <p>
          <strong>{texts.path(durationText(total))}</strong>
          <label class={styles["only"]}>
            <input type="checkbox" checked={isPathOnly} onChange={() => showPathOnly(!isPathOnly)} /> {texts.critical}
          </label>
        </p>
        <div class={styles["shares"]} aria-hidden="true">
          {[...spent].map(([kind, ms]) => (
            <span key={kind} data-kind={kind} style={{ flexGrow: Math.max(ms, total / 200) }} />
          ))}
        </div>
        <ul class={styles["legend"]}>
          {[...WAIT_NAMES, "run" as const].map((kind) => (
            <li key={kind} data-kind={kind} title={kind === "run" ? texts.ran : texts.about[kind]}>
              {kind === "run" ? texts.ran : texts.waits[kind]}
              {spent.has(kind) ? <span>{durationText(spent.get(kind)!)}</span> : null}
            </li>
          ))}
        </ul>
      </section>
      <div class={styles["chart"]} role="list" aria-label={texts.label}>
        <Scale lengthMs={lengthMs} />
        <FixedRows count={shown.length} rowHeight={ROW}>
          {(index, top) => {
            const row = shown[index]!;
            return (
              <Row
                key={row.job.key}
                runId={view.head.runId}
                row={row}
                top={top}
                lengthMs={lengthMs}
                isOnPath={path.has(row.job.key)}
                isChosen={row.job.newest.steps.some(({ stepRunId }) => stepRunId === chosen)}
              />
            );
          }}
        </FixedRows>
      </div>
    </>
  );
}

function Row({
  runId,
  row: { job, spans },
  top,
  lengthMs,
  isOnPath,
  isChosen,
}: {
  readonly runId: string;
  readonly row: JobSpans;
  readonly top: string;
  readonly lengthMs: number;
  readonly isOnPath: boolean;
  readonly isChosen: boolean;
}) {
  const { newest } = job;
  const told = spans.map((span) => `${nameOf(span)} ${durationText(span.to - span.from)}`).join(", ");
  return (
    <div class={styles["row"]} role="listitem" style={{ top }} data-path={isOnPath} data-chosen={isChosen}>
      <a href={jobAddress(runId, newest)} data-row-link="" aria-label={`${shownName(newest)}: ${told}`}>
        <StatusIcon of={newest.status} size={14} />
        <span class={styles["name"]} title={newest.name}>
          {plannedName(newest)}
          {Object.keys(newest.matrix).length === 0 ? null : (
            <span class={styles["cell"]}> {Object.values(newest.matrix).join(", ")}</span>
          )}
        </span>
      </a>
      <div class={styles["bars"]} aria-hidden="true">
        {spans.map((span) => (
          <span
            key={span.kind}
            data-kind={span.kind}
            data-status={newest.status}
            title={`${nameOf(span)} ${durationText(span.to - span.from)}`}
            style={{ left: percent(span.from, lengthMs), width: percent(span.to - span.from, lengthMs) }}
          />
        ))}
      </div>
    </div>
  );
}

/** The name as the row shows it, so that a label says what is seen. */
function shownName({ name, matrix }: Job): string {
  const values = Object.values(matrix).join(", ");
  return values === "" ? name : `${plannedName({ name, matrix })} ${values}`;
}

function nameOf({ kind }: Span): string {
  return kind === "run" ? texts.ran : `${texts.waits[kind]} (${texts.about[kind]})`;
}

/** The text of a mark further to the right would be cut. */
const LAST_TEXT = 0.93;

/** Marks at round times. */
function Scale({ lengthMs }: { readonly lengthMs: number }) {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5,
  ];
  const step = steps.find((ms) => lengthMs / ms <= 6) ?? 864e5;
  const marks = Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, at) => at * step);
  return (
    <div class={styles["scale"]} aria-hidden="true">
      {marks.map((ms) => (
        <span key={ms} style={{ left: percent(ms, lengthMs) }}>
          {ms > lengthMs * LAST_TEXT ? "" : durationText(ms)}
        </span>
      ))}
    </div>
  );
}

function percent(ms: number, ofMs: number): string {
  return `${((ms / ofMs) * 100).toFixed(3)}%`;
}
