/** The steps of a job, to choose the one whose log is shown. */
import { StatusIcon } from "../parts/status.tsx";
import type { Job } from "./run-view.ts";
import { runWords } from "./run-words.ts";
import styles from "./step-drawer.module.css";

export function StepPicker({
  job,
  chosen,
  onPick,
}: {
  readonly job: Job;
  readonly chosen: string;
  readonly onPick: (stepRunId: string) => void;
}) {
  if (job.steps.length < 2) return null;
  return (
    <div class={styles["steps"]} role="group" aria-label={runWords.stepsOf(job.name)}>
      {job.steps.map((step, at) => (
        <button
          key={step.stepRunId || at}
          type="button"
          aria-pressed={step.stepRunId === chosen}
          disabled={step.stepRunId === ""}
          onClick={() => onPick(step.stepRunId)}
        >
          <StatusIcon of={step.status} size={14} />
          <span>{step.name}</span>
          {step.attempt > 1 ? <span>{step.attempt}</span> : null}
        </button>
      ))}
    </div>
  );
}
