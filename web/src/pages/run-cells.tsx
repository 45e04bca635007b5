/** Cells that every list of runs has. */
import gitBranch from "lucide-static/icons/git-branch.svg?raw";
import { pipelineName } from "../api/names.ts";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { hasEnded, type StatusWord } from "../parts/status-words.ts";
import { type Column, RowLink, Under } from "../parts/table.tsx";
import { Ago, Elapsed } from "../parts/time.tsx";
import { words } from "../words.ts";
import type { Run } from "./run-list.ts";
import styles from "./run-cells.module.css";

const texts = words.runs;

/** Enough of the id to tell runs of one list apart. */
export function shortId(runId: string): string {
  return runId.slice(-6).toLowerCase();
}

/** A definition that is not in Git has revisions instead of commits. */
function isCommit(sha: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(sha);
}

/** The status, and under it the one reason for which a run waits. */
function RunStatus({ run }: { readonly run: Run }) {
  const wait = hasEnded(run.status as StatusWord) ? null : run.waitingFor;
  return (
    <span class={styles["state"]} title={wait?.text}>
      <Status of={run.status} />
      {wait === null ? null : <span class={styles["wait"]}>{wait.text}</span>}
    </span>
  );
}

/** A trigger of the definition without a name has its number, which tells a reader nothing. */
function triggerName({ trigger: { kind, event } }: Run): string {
  return event === undefined || /^\d+$/.test(event.name) ? texts.triggers[kind] : event.name;
}

/** Where a run comes from: its branch and commit, or its trigger. */
export function Origin({ run }: { readonly run: Run }) {
  const { ref } = run.trigger;
  const branch = ref.replace(/^refs\/(heads|tags)\//, "");
  return (
    <span class={styles["origin"]}>
      {branch === "" ? null : (
        <>
          <Icon svg={gitBranch} size={12} /> {branch} ·{" "}
        </>
      )}
      {!isCommit(run.commitSha) ? null : (
        <>
          <code>{run.commitSha.slice(0, 7)}</code> ·{" "}
        </>
      )}
      {triggerName(run)}
      {run.triggeredBy === "" ? null : ` ${texts.by_(run.triggeredBy)}`}
      {run.attempt > 1 ? ` · ${texts.attempt(run.attempt)}` : null}
    </span>
  );
}

export const statusColumn: Column<Run> = {
  name: texts.status,
  width: "30%",
  narrow: "112px",
  cell: (run) => <RunStatus run={run} />,
};

export const pipelineColumn: Column<Run> = {
  name: texts.pipeline,
  cell: (run) => (
    <>
      <RowLink href={`/runs/${run.runId}`}>
        {pipelineName(run.pipelineId)}{" "}
        <span class={styles["id"]} title={texts.shortIdAbout}>
          {shortId(run.runId)}
        </span>
      </RowLink>
      <Under>
        <Origin run={run} />
      </Under>
    </>
  ),
};

/** For the page of one pipeline, whose name every run would repeat. */
export const runColumn: Column<Run> = {
  name: texts.run,
  cell: (run) => (
    <RowLink href={`/runs/${run.runId}`}>
      <span class={styles["id"]} title={texts.shortIdAbout}>
        {shortId(run.runId)}
      </span>{" "}
      <Origin run={run} />
    </RowLink>
  ),
};

export const timeColumns: readonly Column<Run>[] = [
  {
    name: texts.started,
    width: "104px",
    align: "end",
    needs: "wide",
    cell: (run) => <Ago at={run.startTime ?? run.createdAt} />,
  },
  {
    name: texts.duration,
    width: "96px",
    align: "end",
    needs: "wide",
    cell: (run) => <Elapsed from={run.startTime} to={run.endTime} ms={run.duration} />,
  },
];
