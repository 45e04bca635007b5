/** One block of the graph: a job with its name, or many jobs as cells with their counts. */
import { useLocation } from "preact-iso";
import { StatusIcon } from "../../parts/status.tsx";
import { Elapsed } from "../../parts/time.tsx";
import { words } from "../../words.ts";
import { isWaiting, reasonText } from "../run-facts.ts";
import { runWords } from "../run-words.ts";
import type { Job, PlannedJob } from "../run-view.ts";
import { jobAddress } from "../view-props.ts";
import { cellName, countStatuses, worstStatus } from "./blocks.ts";
import type { PlacedBlock } from "./layout.ts";
import styles from "./graph.module.css";

interface BlockProps {
  readonly runId: string;
  readonly block: PlacedBlock;
  /** The jobs as they are now: those of the block are as they were when it was placed. */
  readonly jobs: ReadonlyMap<string, PlannedJob>;
  readonly chosen: string | undefined;
}

export function GraphBlock({ runId, block, jobs, chosen }: BlockProps) {
  // Links keep the view and the filters that the address has now.
  useLocation();
  const now = block.jobs.map((job) => jobs.get(job.key) ?? job);
  const place = { left: `${block.x}px`, top: `${block.y}px`, width: `${block.width}px`, height: `${block.height}px` };
  if (block.kind === "job") return <JobNode runId={runId} job={now[0]!} place={place} chosen={chosen} />;
  const status = worstStatus(now);
  return (
    <div class={styles["many"]} style={place} data-status={status} role="group" aria-label={block.name}>
      <div class={styles["manyHead"]}>
        <StatusIcon of={status} />
        <span class={styles["name"]} title={block.name}>
          {block.name}
        </span>
        <span class={styles["counts"]}>
          {[...countStatuses(now)].map(([word, count]) => (
            <span key={word} data-status={word} title={`${count} ${words.status[word].toLowerCase()}`}>
              {count}
            </span>
          ))}
        </span>
      </div>
      <div class={styles["cells"]}>
        {block.cells.map(({ key }) => (
          <Cell key={key} runId={runId} job={(jobs.get(key) ?? block.cells[0]!).newest} chosen={chosen} />
        ))}
      </div>
      {block.leftOut === 0 ? null : (
        <a class={styles["leftOut"]} href={`/runs/${runId}?view=table`}>
          {runWords.graph.leftOut(block.leftOut)}
        </a>
      )}
    </div>
  );
}

/** One element alone: a run may have a thousand of them. */
function Cell({
  runId,
  job,
  chosen,
}: {
  readonly runId: string;
  readonly job: Job;
  readonly chosen: string | undefined;
}) {
  const name = cellName(job) || job.name;
  const text = `${name}: ${words.status[job.status].toLowerCase()}`;
  return (
    <a
      class={styles["cell"]}
      href={jobAddress(runId, job)}
      data-status={job.status}
      data-chosen={hasStep(job, chosen)}
      aria-label={text}
      title={text}
    />
  );
}

function JobNode({
  runId,
  job,
  place,
  chosen,
}: {
  readonly runId: string;
  readonly job: PlannedJob;
  readonly place: { readonly [key: string]: string };
  readonly chosen: string | undefined;
}) {
  const { newest } = job;
  const status = isWaiting(job) && newest.waitingFor?.reason === "approval" ? "waiting" : newest.status;
  const why = newest.waitingFor?.text ?? reasonText(newest.reason);
  return (
    <a
      class={styles["job"]}
      style={place}
      href={jobAddress(runId, newest)}
      data-status={status}
      data-chosen={hasStep(newest, chosen)}
      title={why === "" ? newest.name : `${newest.name}: ${why}`}
    >
      <StatusIcon of={status} />
      <span class={styles["name"]}>{newest.name}</span>
      <span class={styles["time"]}>
        {newest.attempt > 1 ? `×${newest.attempt} ` : ""}
        {newest.startTime === null ? null : (
          <Elapsed from={newest.startTime} to={newest.endTime} ms={newest.duration} />
        )}
      </span>
    </a>
  );
}

function hasStep(job: Job, stepRunId: string | undefined): boolean {
  return stepRunId !== undefined && job.steps.some((step) => step.stepRunId === stepRunId);
}
