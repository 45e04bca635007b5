/** The comparison of two runs: what they were started with, what became of them, and the logs of a step side by side. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import arrows from "lucide-static/icons/arrow-left-right.svg?raw";
import gitCompare from "lucide-static/icons/git-compare-arrows.svg?raw";
import { api } from "../api/client.ts";
import { pipelineName } from "../api/names.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { useKeys } from "../app/keys.ts";
import { useFilters } from "../app/place.ts";
import { useLive } from "../live/use-live.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Chips } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { shortId } from "../run/run-facts.ts";
import { runWords } from "../run/run-words.ts";
import type { Run } from "../run/run-view.ts";
import { compareWords } from "./compare-words.ts";
import { Definition } from "./definition.tsx";
import { Facts } from "./facts.tsx";
import { Jobs } from "./jobs.tsx";
import { Logs } from "./logs.tsx";
import { findBase } from "./base.ts";
import { pairRows, rowToShow } from "./pair-runs.ts";
import { RunPicker } from "./run-picker.tsx";
import { Tests } from "./tests.tsx";
import styles from "./compare.module.css";

const SHOWS: readonly (readonly [string, string])[] = [
  ["", compareWords.onlyDifferences],
  ["all", compareWords.everything],
];

/** `otherId`: undefined for the last run that succeeded on the same ref before this one. */
export function ComparePage({ runId, otherId }: { readonly runId: string; readonly otherId: string | undefined }) {
  const { route } = useLocation();
  const a = useRun(runId);
  const base = useResource(
    async (signal) => (otherId !== undefined || a.value === undefined ? undefined : findBase(a.value, signal)),
    [otherId, a.value?.runId],
  );
  const found = base.value;
  useEffect(() => {
    if (found !== undefined && found !== null) route(`/runs/${runId}/compare/${found}`, true);
  }, [found]);
  if (otherId !== undefined) return <Two a={a} runId={runId} otherId={otherId} />;
  return (
    <Page title={compareWords.title} crumbs={[[`/runs/${runId}`, `${runWords.run} ${shortId(runId)}`]]}>
      <Loaded of={a}>
        {(run) => (
          <Loaded of={base}>{() => (found === null ? <NoBase run={run} /> : <p class={styles["quiet"]}> </p>)}</Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function NoBase({ run }: { readonly run: Run }) {
  const [isPicking, setPicking] = useState(false);
  return (
    <>
      <Blank
        icon={gitCompare}
        title={compareWords.noBase}
        actions={
          <>
            <Button kind="primary" onClick={() => setPicking(true)}>
              {compareWords.pick}
            </Button>
            <ButtonLink href={`/runs/${run.runId}`}>{compareWords.back}</ButtonLink>
          </>
        }
      >
        {compareWords.noBaseText(run.trigger.ref.replace(/^refs\/(heads|tags)\//, ""))}
      </Blank>
      {isPicking ? <RunPicker run={run} onClose={() => setPicking(false)} /> : null}
    </>
  );
}

/** A run with the newest attempts of its jobs, read again when its status changes. */
function useRun(runId: string): Resource<Run> {
  const run = useResource(
    (signal) => api.get("/pipelines/runs/{runId}", { path: { runId }, query: { attempts: "newest" }, signal }),
    [runId],
  );
  const { value } = run;
  const live = value === undefined || value.endTime !== null ? undefined : { pipelineId: value.pipelineId };
  useLive(live === undefined ? undefined : { channel: "channel_runs", params: live }, ({ type, data }) => {
    const state = data as { readonly runId?: string; readonly status?: string } | undefined;
    if (type === "run" && state?.runId === runId && state.status !== value?.status) run.reload();
  });
  return run;
}

function Two({ a, runId, otherId }: { readonly a: Resource<Run>; readonly runId: string; readonly otherId: string }) {
  const { route } = useLocation();
  const b = useRun(otherId);
  const [filters, change] = useFilters();
  const [isPicking, setPicking] = useState(false);
  const isAll = filters["show"] === "all";
  const swap = () => route(`/runs/${otherId}/compare/${runId}`);
  const toggle = () => change({ show: isAll ? "" : "all" });
  useKeys([
    { keys: "s", does: compareWords.swap, run: swap },
    { keys: "b", does: compareWords.pick, run: () => setPicking(true) },
    { keys: "d", does: compareWords.toggle, run: toggle },
    { keys: "Escape", does: compareWords.back, run: () => route(`/runs/${runId}`) },
  ]);
  const short = [shortId(runId), shortId(otherId)] as const;
  return (
    <Page
      title={compareWords.title}
      windowTitle={compareWords.windowTitle(...short)}
      crumbs={[
        ...(a.value === undefined
          ? []
          : ([[`/pipelines/${a.value.pipelineId}`, pipelineName(a.value.pipelineId)]] as const)),
        [`/runs/${runId}`, `${runWords.run} ${short[0]}`],
      ]}
      actions={
        <>
          <Button onClick={() => setPicking(true)}>{compareWords.pick}</Button>
          <Button icon={arrows} onClick={swap}>
            {compareWords.swap}
          </Button>
        </>
      }
    >
      <Loaded of={a}>
        {(runA) => (
          <Loaded of={b}>
            {(runB) => (
              <>
                <div class={styles["heads"]}>
                  <Head run={runA} title={compareWords.this_} />
                  <Head run={runB} title={compareWords.other} />
                </div>
                {runA.pipelineId === runB.pipelineId ? null : (
                  <p class={styles["quiet"]}>{compareWords.otherPipelines}</p>
                )}
                <Differences a={runA} b={runB} isAll={isAll} onShow={toggle} />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
      {isPicking && a.value !== undefined ? <RunPicker run={a.value} onClose={() => setPicking(false)} /> : null}
    </Page>
  );
}

function Head({ run, title }: { readonly run: Run; readonly title: string }) {
  return (
    <section class={styles["side"]} aria-label={title}>
      <p class={styles["quiet"]}>{title}</p>
      <p class={styles["line"]}>
        <a href={`/runs/${run.runId}`} title={run.runId}>
          {runWords.run} <code>{shortId(run.runId)}</code>
        </a>
        <Status of={run.status} />
      </p>
      <p class={styles["quiet"]}>
        {runWords.triggers[run.trigger.kind]} {run.triggeredBy === "" ? "" : runWords.by(run.triggeredBy)}{" "}
        <Ago at={run.createdAt} />
      </p>
    </section>
  );
}

function Differences({
  a,
  b,
  isAll,
  onShow,
}: {
  readonly a: Run;
  readonly b: Run;
  readonly isAll: boolean;
  readonly onShow: () => void;
}) {
  const [filters] = useFilters();
  const rows = pairRows(a.jobs, b.jobs);
  const named = filters["step"];
  const chosen = named === undefined ? rowToShow(rows) : rows.find(({ stepA }) => stepA?.stepRunId === named);
  return (
    <>
      <Section
        title={compareWords.facts.title}
        aside={
          <Chips
            label={compareWords.shows}
            options={SHOWS}
            value={isAll ? "all" : ""}
            onChange={(value) => {
              if ((value === "all") !== isAll) onShow();
            }}
          />
        }
      >
        <Facts a={a} b={b} isAll={isAll} />
      </Section>
      <Definition a={a} b={b} />
      <Tests a={a} b={b} />
      <Section title={compareWords.jobs.title}>
        <Jobs rows={rows} isAll={isAll} chosen={chosen?.key} />
      </Section>
      <Section title={chosen === undefined ? runWords.log.label : compareWords.log.title(chosen.fullName)}>
        <Logs key={chosen?.key ?? ""} a={a} b={b} row={chosen} />
      </Section>
    </>
  );
}
