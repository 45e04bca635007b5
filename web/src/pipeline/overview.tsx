/** How the runs of a pipeline go: the last ones, their trend, its jobs and flaky tests, and what starts it. */
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { runColumn, statusColumn, timeColumns } from "../pages/run-cells.tsx";
import { useRuns } from "../pages/run-list.ts";
import { RunStrip } from "../pages/run-strip.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel, Section } from "../parts/page.tsx";
import { Table, Under } from "../parts/table.tsx";
import { durationText } from "../parts/time-texts.ts";
import { words } from "../words.ts";
import styles from "./pipeline.module.css";
import { Starts } from "./starts.tsx";
import { TrendSection } from "./trend-chart.tsx";

const texts = words.pipeline;
const STRIP = 20;
const SHOWN_RUNS = 8;

export function Overview({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const runs = useRuns({ pipelineId, limit: STRIP }, true);
  const statistics = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/statistics", { path, signal }),
    [pipelineId],
  );
  const flaky = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/tests", { path, query: { filter: "flaky", limit: 5 }, signal }),
    [pipelineId],
  );
  return (
    <>
      <Loaded of={runs} rows={4}>
        {({ list }) => (
          <>
            <Panel padded>
              <RunStrip runs={list} places={STRIP} tall />
              <p class={styles["legend"]}>{list.length === 0 ? texts.noRuns : texts.stripAbout}</p>
            </Panel>
            <Figures of={statistics.value} />
            {list.length === 0 ? null : (
              <Section title={texts.runs} aside={<a href={`/runs?pipelineId=${pipelineId}`}>{texts.allRuns}</a>}>
                <Table
                  label={texts.runs}
                  rows={list.slice(0, SHOWN_RUNS)}
                  keyOf={({ runId }) => runId}
                  columns={[runColumn, statusColumn, ...timeColumns]}
                />
              </Section>
            )}
            <TrendSection pipelineId={pipelineId} turn={list.find(({ endTime }) => endTime !== null)?.runId} />
          </>
        )}
      </Loaded>
      <Starts pipelineId={pipelineId} />
      {statistics.value === undefined || statistics.value.jobs.length === 0 ? null : (
        <Section title={texts.jobs}>
          <Jobs jobs={statistics.value.jobs} />
        </Section>
      )}
      {flaky.value === undefined || flaky.value.list.length === 0 ? null : (
        <Section title={texts.flakyTests}>
          <FlakyTests tests={flaky.value.list} />
        </Section>
      )}
    </>
  );
}

function Figures({ of }: { readonly of: Schemas["Statistics"] | undefined }) {
  if (of === undefined) return <div class={styles["figures"]} />;
  const { results, successRate, duration, flaky } = of.runs;
  const ended = results.success + results.failed + results.partial + results.cancelled;
  const figures: readonly (readonly [string, string])[] = [
    [texts.successRate, successRate === null ? "–" : `${Math.round(successRate * 100)} %`],
    [texts.median, duration === null ? "–" : durationText(duration.p50)],
    [texts.slow, duration === null ? "–" : durationText(duration.p95)],
    [texts.ended, `${ended}`],
    [texts.flakyRuns, `${flaky}`],
  ];
  return (
    <dl class={styles["figures"]} aria-label={texts.statistics}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Jobs({ jobs }: { readonly jobs: Schemas["Statistics"]["jobs"] }) {
  const time = (of: { readonly p50: number } | null) => (of === null ? "–" : durationText(of.p50));
  return (
    <Table
      label={texts.jobs}
      rows={jobs}
      keyOf={({ name }) => name}
      columns={[
        { name: texts.job, cell: ({ name }) => name },
        {
          name: texts.successRate,
          width: "120px",
          narrow: "96px",
          align: "end",
          cell: ({ successRate }) => (successRate === null ? "–" : `${Math.round(successRate * 100)} %`),
        },
        { name: texts.median, width: "150px", narrow: "96px", align: "end", cell: ({ duration }) => time(duration) },
        { name: texts.waits, width: "150px", align: "end", needs: "wide", cell: ({ waits }) => time(waits.agent) },
        { name: texts.flakyRuns, width: "90px", align: "end", needs: "wide", cell: ({ flaky }) => flaky },
      ]}
    />
  );
}

function FlakyTests({ tests }: { readonly tests: readonly Schemas["TestHistory"][] }) {
  return (
    <Table
      label={texts.flakyTests}
      rows={tests}
      keyOf={(test) => [test.job, test.step, test.suite, test.name].join("/")}
      columns={[
        {
          name: texts.test,
          cell: (test) => (
            <>
              {test.name}
              <Under>{[test.job, test.suite].filter((text) => text !== "").join(" · ")}</Under>
            </>
          ),
        },
        { name: texts.flakyRuns, width: "110px", align: "end", cell: (test) => `${test.flaky} / ${test.runs}` },
      ]}
    />
  );
}
