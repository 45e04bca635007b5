/** The view of a run as a table: a row for each job, and one for each of its steps. */
import { useState } from "preact/hooks";
import chevron from "lucide-static/icons/chevron-right.svg?raw";
import { Icon } from "../../parts/icon.tsx";
import { Status, StatusIcon } from "../../parts/status.tsx";
import { durationText } from "../../parts/time-texts.ts";
import { Elapsed } from "../../parts/time.tsx";
import { useAgentNames } from "../agent-names.ts";
import { plannedName } from "../graph/blocks.ts";
import { reasonText, shortId } from "../run-facts.ts";
import { runWords } from "../run-words.ts";
import type { Job, Step } from "../run-view.ts";
import { stepAddress, type ViewProps } from "../view-props.ts";
import { FixedRows } from "./fixed-rows.tsx";
import rowStyles from "./rows.module.css";
import styles from "./table-view.module.css";

const ROW = 34;
/** Runs of at most so many jobs show the steps of all jobs at first. */
const OPEN_AT_FIRST = 12;
const texts = runWords.table;

type Row = { readonly job: Job; readonly step: Step | null; readonly isOpen: boolean; readonly isEarlier: boolean };

export function TableView({ view, chosen }: ViewProps) {
  const [turned, turn] = useState<ReadonlySet<string>>(new Set());
  const agents = useAgentNames();
  const isOpen = (job: Job): boolean => {
    const isFirst = view.jobs.length <= OPEN_AT_FIRST || job.status === "failed";
    return turned.has(job.jobId) ? !isFirst : isFirst;
  };
  const toggle = (job: Job): void => {
    const next = new Set(turned);
    if (!next.delete(job.jobId)) next.add(job.jobId);
    turn(next);
  };
  const rows: readonly Row[] = view.jobs.flatMap(({ newest, earlier }) =>
    [newest, ...earlier.toReversed()].flatMap((job) => {
      const open = isOpen(job);
      const isEarlier = job !== newest;
      const steps = open ? job.steps.map((step) => ({ job, step, isOpen: open, isEarlier })) : [];
      return [{ job, step: null, isOpen: open, isEarlier }, ...steps];
    }),
  );
  return (
    <div class={rowStyles["frame"]} role="table" aria-label={runWords.views.table} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div class={`${rowStyles["head"]} ${rowStyles["columns"]} ${styles["head"]}`} role="row">
          {[texts.job, texts.status, texts.waits, texts.runs, texts.agent, texts.reason].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <FixedRows count={rows.length} rowHeight={ROW} role="rowgroup">
        {(index, top) => {
          const { job, step, isOpen: open, isEarlier } = rows[index]!;
          const key = step === null ? job.jobId : step.stepRunId || `${job.jobId} ${index}`;
          return step === null ? (
            <JobRow
              key={key}
              job={job}
              agents={agents}
              top={top}
              isOpen={open}
              isEarlier={isEarlier}
              onToggle={() => toggle(job)}
            />
          ) : (
            <StepRow
              key={key}
              runId={view.head.runId}
              job={job}
              step={step}
              top={top}
              isChosen={step.stepRunId === chosen}
            />
          );
        }}
      </FixedRows>
    </div>
  );
}

function JobRow({
  job,
  agents,
  top,
  isOpen,
  isEarlier,
  onToggle,
}: {
  readonly job: Job;
  /** Their names, by their ids. */
  readonly agents: ReadonlyMap<string, string>;
  readonly top: string;
  readonly isOpen: boolean;
  readonly isEarlier: boolean;
  readonly onToggle: () => void;
}) {
  const waitMs = Object.values(job.steps[0]?.timing.waits ?? {}).reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
  return (
    <div
      class={`${rowStyles["row"]} ${rowStyles["columns"]} ${styles["row"]}`}
      role="row"
      style={{ top }}
      data-earlier={isEarlier}
    >
      <span role="cell" class={styles["first"]}>
        <button type="button" class={styles["fold"]} aria-expanded={isOpen} onClick={onToggle}>
          <span data-open={isOpen} class={styles["chevron"]}>
            <Icon svg={chevron} size={14} />
          </span>
          <span class={styles["jobName"]} title={job.name}>
            {plannedName(job)}
            {Object.keys(job.matrix).length === 0 ? null : (
              <span class={styles["cell"]}> {Object.values(job.matrix).join(", ")}</span>
            )}
          </span>
          {job.attempt > 1 || isEarlier ? <span class={styles["muted"]}>{runWords.attempt(job.attempt)}</span> : null}
        </button>
      </span>
      <span role="cell">
        <Status of={job.status} size={14} />
      </span>
      <span role="cell" class={styles["number"]}>
        {waitMs === 0 ? "–" : durationText(waitMs)}
      </span>
      <span role="cell" class={styles["number"]}>
        <Elapsed from={job.startTime} to={job.endTime} ms={job.duration} />
      </span>
      <span role="cell">
        {job.agentId === null ? (
          "–"
        ) : (
          <a href={`/agents/${job.agentId}`}>{agents.get(job.agentId) ?? shortId(job.agentId)}</a>
        )}
      </span>
      <Reason of={job.waitingFor?.text ?? job.reason} />
    </div>
  );
}

function StepRow({
  runId,
  job,
  step,
  top,
  isChosen,
}: {
  readonly runId: string;
  readonly job: Job;
  readonly step: Step;
  readonly top: string;
  readonly isChosen: boolean;
}) {
  return (
    <div
      class={`${rowStyles["row"]} ${rowStyles["columns"]} ${styles["row"]}`}
      role="row"
      style={{ top }}
      data-chosen={isChosen}
      data-old={step.retriedBy !== null}
    >
      <span role="cell" class={styles["step"]}>
        <StatusIcon of={step.status} size={14} />
        {step.stepRunId === "" ? (
          <span>{step.name}</span>
        ) : (
          <a href={stepAddress(runId, step.stepRunId)} data-row-link="" aria-label={`${job.name} / ${step.name}`}>
            {step.name}
          </a>
        )}
        {step.attempt > 1 ? <span class={styles["muted"]}>{runWords.attempt(step.attempt)}</span> : null}
      </span>
      <span role="cell" class={styles["muted"]}>
        {step.exitCode === null || step.exitCode === 0 ? "" : `exit ${step.exitCode}`}
      </span>
      <span role="cell" class={styles["number"]}>
        {step.timing.waits.start === null ? "–" : durationText(step.timing.waits.start)}
      </span>
      <span role="cell" class={styles["number"]}>
        <Elapsed from={step.startTime} to={step.endTime} ms={step.duration} />
      </span>
      <span role="cell" />
      <Reason of={step.status === "pending" ? "" : step.reason} />
    </div>
  );
}

function Reason({ of }: { readonly of: string }) {
  return (
    <span role="cell" class={styles["reason"]} title={reasonText(of)}>
      {reasonText(of)}
    </span>
  );
}
