/** The page of a run: its head, one of six views, and the log of a step beside it. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api } from "../api/client.ts";
import { NOT_CONNECTED } from "../api/errors.ts";
import { useResource } from "../api/resource.ts";
import { useKeys } from "../app/keys.ts";
import { useFilters } from "../app/place.ts";
import { connection } from "../live/socket.ts";
import { Loading } from "../parts/loaded.tsx";
import { useTitle } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { useChosenInSight } from "../parts/tabs.tsx";
import { words } from "../words.ts";
import { ApprovalBar } from "./head/approval-bar.tsx";
import { RunHead } from "./head/run-head.tsx";
import { useRunActions } from "./head/run-actions.tsx";
import { findStep, hasFailed, isWaiting, nextJob, shortId, stepToShow } from "./run-facts.ts";
import { RunStore } from "./run-store.ts";
import { runWords } from "./run-words.ts";
import type { PlannedJob, RunView } from "./run-view.ts";
import { StepDrawer } from "./step-drawer.tsx";
import { ArtifactsView } from "./views/artifacts-view.tsx";
import { GraphView } from "./graph/graph-view.tsx";
import { TableView } from "./views/table-view.tsx";
import { TestsView } from "./views/tests-view.tsx";
import { TimelineView } from "./views/timeline-view.tsx";
import type { ViewProps } from "./view-props.ts";
import { WaterfallView } from "./views/waterfall-view.tsx";
import styles from "./run-page.module.css";

export const VIEWS = ["graph", "table", "waterfall", "timeline", "tests", "artifacts"] as const;
export type ViewName = (typeof VIEWS)[number];

const isView = (word: string | undefined): word is ViewName =>
  (VIEWS as readonly (string | undefined)[]).includes(word);

export function RunPage({ runId }: { readonly runId: string }) {
  const store = useMemo(() => new RunStore(runId), [runId]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const whole = store.view.value;
  const view = whole ?? store.brief.value;
  const problem = store.problem.value;
  useTitle(
    `${runWords.run} ${shortId(runId)}${view === undefined ? "" : ` ${words.status[view.head.status].toLowerCase()}`}`,
  );
  if (problem !== undefined && whole === undefined) {
    const retry = (): void => {
      store.problem.value = undefined;
      store.restart();
    };
    return <Problem error={problem} onRetry={retry} />;
  }
  if (view !== undefined) return <Loaded store={store} view={view} hasJobs={whole !== undefined} />;
  if (connection.value.kind === "reconnecting") return <Problem error={NOT_CONNECTED} />;
  return (
    <div class={styles["page"]}>
      <Loading rows={8} />
    </div>
  );
}

interface LoadedProps {
  readonly store: RunStore;
  readonly view: RunView;
  /** False while the page has the head of the run alone. */
  readonly hasJobs: boolean;
}

function Loaded({ store, view, hasJobs }: LoadedProps) {
  const { route } = useLocation();
  const [filters, change] = useFilters();
  const shown = isView(filters["view"]) ? filters["view"] : "graph";
  const views = useChosenInSight(shown);
  const stepRunId = filters["step"];
  const place = stepRunId === undefined ? undefined : findStep(view, stepRunId);
  const { pipelineId, projectId } = view.head;
  const pipeline = useResource(
    (signal) => api.get("/pipelines/{pipelineId}", { path: { pipelineId }, signal }),
    [pipelineId],
  );
  const [whyJob, setWhyJob] = useState<string | null | undefined>(undefined);
  const actions = useRunActions(view, place?.step.stepRunId);
  const open = (step: string): void => change({ step });
  const close = (): void => change({ step: "" });
  const jump = (isMeant: (job: PlannedJob) => boolean): boolean => {
    const job = nextJob(view, place?.job.jobId ?? null, isMeant);
    const step = job === undefined ? undefined : stepToShow(job.newest);
    if (job === undefined || step === undefined) return false;
    if (isWaiting(job)) setWhyJob(job.newest.jobId);
    if (step.stepRunId !== "") open(step.stepRunId);
    return true;
  };
  useKeys([
    ...VIEWS.map((name, at) => ({
      keys: `${at + 1}`,
      does: runWords.views[name],
      run: () => change({ view: name === "graph" ? "" : name }),
    })),
    { keys: "f", does: "Next failed job", run: () => jump(hasFailed) },
    { keys: "w", does: "Next waiting job", run: () => jump(isWaiting) },
    { keys: "r", does: runWords.actions.rerun, run: actions.askRerun },
    { keys: "a", does: runWords.actions.approve, run: focusApproval },
    { keys: "x", does: runWords.actions.stop, run: actions.askStop },
    { keys: "c", does: runWords.actions.compare, run: () => route(`/runs/${view.head.runId}/compare`) },
    { keys: "Escape", does: runWords.actions.close, run: () => (place === undefined ? false : close()) },
  ]);
  const props = { store, view, open, chosen: place?.step.stepRunId };
  return (
    <div class={styles["page"]} data-drawer={place !== undefined}>
      <RunHead
        store={store}
        view={view}
        pipelineName={pipeline.value?.name ?? (pipeline.error === undefined ? undefined : runWords.pipeline)}
        projectId={projectId}
        actions={actions}
        whyJob={whyJob}
        onWhy={setWhyJob}
      />
      {hasJobs ? <ApprovalBar view={view} /> : null}
      <nav ref={views} class={styles["views"]} aria-label={runWords.viewsLabel}>
        {VIEWS.map((name) => (
          <a
            key={name}
            href={addressOf(view.head.runId, name, stepRunId)}
            aria-current={name === shown ? "page" : undefined}
          >
            {runWords.views[name]}
            {name === "tests" && view.head.tests !== null ? (
              <Count of={view.head.tests.failed || view.head.tests.total} />
            ) : null}
          </a>
        ))}
      </nav>
      <div class={styles["body"]}>
        <div class={styles["view"]}>{hasJobs ? <View name={shown} {...props} /> : <Loading rows={8} />}</div>
        {place === undefined ? null : (
          <StepDrawer store={store} view={view} place={place} open={open} onClose={close} actions={actions} />
        )}
      </div>
      {actions.dialogs}
    </div>
  );
}

function View({ name, ...props }: ViewProps & { readonly name: ViewName }) {
  if (name === "graph") return <GraphView {...props} />;
  if (name === "table") return <TableView {...props} />;
  if (name === "waterfall") return <WaterfallView {...props} />;
  if (name === "timeline") return <TimelineView {...props} />;
  return name === "tests" ? <TestsView {...props} /> : <ArtifactsView {...props} />;
}

function Count({ of }: { readonly of: number }) {
  return <span class={styles["count"]}>{of}</span>;
}

function addressOf(runId: string, view: ViewName, step: string | undefined): string {
  const query = new URLSearchParams({ ...(view === "graph" ? {} : { view }), ...(step === undefined ? {} : { step }) });
  return `/runs/${runId}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

function focusApproval(): boolean {
  const field = document.querySelector<HTMLElement>("[data-approval] input, [data-approval] button");
  field?.focus();
  return field !== null;
}
