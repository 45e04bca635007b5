/** What each view of a run gets. */
import type { Job, RunView } from "./run-view.ts";
import { stepToShow } from "./run-facts.ts";
import type { RunStore } from "./run-store.ts";

export interface ViewProps {
  readonly store: RunStore;
  readonly view: RunView;
  /** Opens the log of a step beside the view. */
  readonly open: (stepRunId: string) => void;
  /** The step run whose log is open. */
  readonly chosen: string | undefined;
}

/** The address of the run with the log of a step beside the view that is shown now. */
export function stepAddress(runId: string, stepRunId: string, query: string = location.search): string {
  const next = new URLSearchParams(query);
  next.set("step", stepRunId);
  return `/runs/${runId}?${next.toString()}`;
}

/** The address that a job leads to: the log of its step that one wants to see first. */
export function jobAddress(runId: string, job: Job): string {
  const step = stepToShow(job);
  return step === undefined || step.stepRunId === "" ? `/runs/${runId}` : stepAddress(runId, step.stepRunId);
}
