/** The log of a step beside a view of its run. */
import { useEffect, useRef } from "preact/hooks";
import maximize from "lucide-static/icons/maximize-2.svg?raw";
import rotate from "lucide-static/icons/rotate-cw.svg?raw";
import x from "lucide-static/icons/x.svg?raw";
import { Button, ButtonLink } from "../parts/button.tsx";
import type { RunActions } from "./head/run-actions.tsx";
import { LogWindow } from "./log/log-window.tsx";
import { nextStep, type StepPlace } from "./run-facts.ts";
import type { RunStore } from "./run-store.ts";
import type { RunView } from "./run-view.ts";
import { runWords } from "./run-words.ts";
import { StepFacts } from "./step-head.tsx";
import { StepPicker } from "./step-picker.tsx";
import styles from "./step-drawer.module.css";

export function StepDrawer({
  view,
  place,
  open,
  onClose,
  actions,
}: {
  readonly store: RunStore;
  readonly view: RunView;
  readonly place: StepPlace;
  readonly open: (stepRunId: string) => void;
  readonly onClose: () => void;
  readonly actions: RunActions;
}) {
  const { job, step } = place;
  const { pipelineId, runId } = view.head;
  const element = useRef<HTMLElement>(null);
  // On a narrow page the log stands below the view.
  useEffect(() => {
    if (matchMedia("(max-width: 1100px)").matches) element.current?.scrollIntoView({ block: "nearest" });
  }, [step.stepRunId]);
  const move = (by: 1 | -1): void => {
    const next = nextStep(view, step.stepRunId, by);
    if (next !== undefined) open(next.step.stepRunId);
  };
  return (
    <aside ref={element} class={styles["drawer"]} aria-label={`${job.name} / ${step.name}`}>
      <div class={styles["top"]}>
        <h2 title={`${job.name} / ${step.name}`}>{job.name}</h2>
        {actions.canRerun ? (
          <Button
            kind="quiet"
            icon={rotate}
            label={runWords.actions.rerunFrom}
            onClick={() => void actions.askRerun()}
          />
        ) : null}
        <ButtonLink kind="quiet" icon={maximize} href={`/runs/${runId}/steps/${step.stepRunId}`}>
          {runWords.actions.openLog}
        </ButtonLink>
        <Button kind="quiet" icon={x} label={runWords.actions.close} onClick={onClose} />
      </div>
      <StepPicker job={job} chosen={step.stepRunId} onPick={open} />
      <StepFacts place={place} />
      <div class={styles["log"]}>
        <LogWindow
          place={{ pipelineId, runId, jobId: job.jobId, stepRunId: step.stepRunId }}
          step={step}
          isPage={false}
          onStep={move}
        />
      </div>
    </aside>
  );
}
