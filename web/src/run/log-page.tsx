/** The log of one step alone. */
import { useEffect, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso";
import { NOT_CONNECTED } from "../api/errors.ts";
import { useKeys } from "../app/keys.ts";
import { connection } from "../live/socket.ts";
import { Loading } from "../parts/loaded.tsx";
import { useTitle } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { LogWindow } from "./log/log-window.tsx";
import { findStep, nextStep, shortId, type StepPlace } from "./run-facts.ts";
import { RunStore } from "./run-store.ts";
import type { RunView } from "./run-view.ts";
import { runWords } from "./run-words.ts";
import { StepFacts } from "./step-head.tsx";
import { StepPicker } from "./step-picker.tsx";
import styles from "./log-page.module.css";

export function LogPage({ runId, stepRunId }: { readonly runId: string; readonly stepRunId: string }) {
  const store = useMemo(() => new RunStore(runId), [runId]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const view = store.view.value;
  const place = view === undefined ? undefined : findStep(view, stepRunId);
  useTitle(place === undefined ? runWords.log.label : `${place.step.name} · ${place.job.name}`);
  if (view === undefined) {
    const problem = store.problem.value ?? (connection.value.kind === "reconnecting" ? NOT_CONNECTED : undefined);
    return problem === undefined ? <Loading /> : <Problem error={problem} onRetry={() => store.restart()} />;
  }
  if (place === undefined) return <Problem error={new Error(runWords.log.noStep)} onRetry={() => store.restart()} />;
  return <StepLog view={view} place={place} />;
}

function StepLog({ view, place }: { readonly view: RunView; readonly place: StepPlace }) {
  const { route } = useLocation();
  const { job, step } = place;
  const { pipelineId, runId } = view.head;
  const go = (stepRunId: string): void => route(`/runs/${runId}/steps/${stepRunId}`);
  const move = (by: 1 | -1): void => {
    const next = nextStep(view, step.stepRunId, by);
    if (next !== undefined) go(next.step.stepRunId);
  };
  useKeys([{ keys: "Escape", does: runWords.actions.back, run: () => route(`/runs/${runId}?step=${step.stepRunId}`) }]);
  return (
    <div class={styles["page"]}>
      <header>
        <p class={styles["crumbs"]}>
          <a href={`/runs/${runId}?step=${step.stepRunId}`}>
            {runWords.run} {shortId(runId)}
          </a>{" "}
          / <span>{job.name}</span> /
        </p>
        <h1 tabIndex={-1}>{step.name}</h1>
        <StepPicker job={job} chosen={step.stepRunId} onPick={go} />
        <StepFacts place={place} />
      </header>
      <div class={styles["log"]}>
        <LogWindow
          place={{ pipelineId, runId, jobId: job.jobId, stepRunId: step.stepRunId }}
          step={step}
          isPage
          onStep={move}
        />
      </div>
    </div>
  );
}
