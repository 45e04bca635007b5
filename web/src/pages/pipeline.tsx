/** One pipeline: its last runs, when it starts by itself, and how its runs go. */
import { useEffect } from "preact/hooks";
import zap from "lucide-static/icons/zap.svg?raw";
import pencil from "lucide-static/icons/pencil.svg?raw";
import fileX from "lucide-static/icons/file-x.svg?raw";
import { may, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { noteNames } from "../api/names.ts";
import { useResource } from "../api/resource.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, Page, Panel, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Table, Under } from "../parts/table.tsx";
import { Ago, wholeTime } from "../parts/time.tsx";
import { durationText } from "../parts/time-texts.ts";
import { words } from "../words.ts";
import { runColumn, statusColumn, timeColumns } from "./run-cells.tsx";
import { useRuns } from "./run-list.ts";
import { RunStrip } from "./run-strip.tsx";
import { useKeys } from "../app/keys.ts";
import { useLocation } from "preact-iso";
import styles from "./pipeline.module.css";

const texts = words.pipeline;
const STRIP = 20;
const SHOWN_RUNS = 8;

export function PipelinePage({ pipelineId }: { readonly pipelineId: string }) {
  const path = { pipelineId };
  const { route } = useLocation();
  const pipeline = useResource((signal) => api.get("/pipelines/{pipelineId}", { path, signal }), [pipelineId]);
  const runs = useRuns({ pipelineId, limit: STRIP }, true);
  const schedules = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/schedules", { path, signal }),
    [pipelineId],
  );
  const statistics = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/statistics", { path, signal }),
    [pipelineId],
  );
  const flaky = useResource(
    (signal) => api.get("/pipelines/{pipelineId}/tests", { path, query: { filter: "flaky", limit: 5 }, signal }),
    [pipelineId],
  );
  const shown = pipeline.value;
  useEffect(() => {
    if (shown !== undefined) noteNames([shown]);
  }, [shown]);
  useKeys([
    { keys: "t", does: texts.trigger, run: () => route(`/pipelines/${pipelineId}/trigger`) },
    { keys: "e", does: words.edit.edit, run: () => route(`/pipelines/${pipelineId}/edit`) },
  ]);
  const hasDefinition = shown !== undefined && shown.headCommitSha !== "";
  return (
    <Page
      title={shown?.name ?? words.pipelines.title}
      crumbs={[["/pipelines", words.pipelines.title]]}
      about={shown?.description === "" ? undefined : shown?.description}
      actions={
        shown === undefined ? undefined : (
          <>
            <ButtonLink href={`/pipelines/${pipelineId}/edit`} icon={pencil} kind={hasDefinition ? "plain" : "primary"}>
              {words.edit.edit}
            </ButtonLink>
            {hasDefinition && may("triggerRun") ? (
              <ButtonLink href={`/pipelines/${pipelineId}/trigger`} kind="primary" icon={zap}>
                {texts.trigger}
              </ButtonLink>
            ) : null}
          </>
        )
      }
    >
      <Loaded of={pipeline}>
        {(loaded) =>
          hasDefinition || loaded.lastRun !== null ? (
            <>
              <Loaded of={runs} rows={4}>
                {({ list }) => (
                  <>
                    <Panel padded>
                      <RunStrip runs={list} places={STRIP} tall />
                      <p class={styles["legend"]}>{list.length === 0 ? texts.noRuns : texts.stripAbout}</p>
                    </Panel>
                    <Statistics of={statistics.value} />
                    {list.length === 0 ? null : (
                      <Section
                        title={texts.runs}
                        aside={<a href={`/runs?pipelineId=${pipelineId}`}>{texts.allRuns}</a>}
                      >
                        <Table
                          label={texts.runs}
                          rows={list.slice(0, SHOWN_RUNS)}
                          keyOf={({ runId }) => runId}
                          columns={[runColumn, statusColumn, ...timeColumns]}
                        />
                      </Section>
                    )}
                  </>
                )}
              </Loaded>
              <Section title={texts.schedules}>
                <Loaded of={schedules} rows={1}>
                  {({ list }) =>
                    list.length === 0 ? (
                      <p class={styles["quiet"]}>{texts.noSchedules}</p>
                    ) : (
                      <Schedules list={list} onChange={schedules.reload} />
                    )
                  }
                </Loaded>
              </Section>
              {statistics.value === undefined || statistics.value.jobs.length === 0 ? null : (
                <Section title={texts.jobs}>
                  <Jobs jobs={statistics.value.jobs} />
                </Section>
              )}
              {flaky.value === undefined || flaky.value.list.length === 0 ? null : (
                <Section title={texts.flakyTests}>
                  <Table
                    label={texts.flakyTests}
                    rows={flaky.value.list}
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
                      {
                        name: texts.flakyRuns,
                        width: "110px",
                        align: "end",
                        cell: (test) => `${test.flaky} / ${test.runs}`,
                      },
                    ]}
                  />
                </Section>
              )}
              <Section title={texts.about}>
                <Panel padded>
                  <Facts
                    of={[
                      [
                        texts.project,
                        projects.value.find((one) => one.projectId === loaded.projectId)?.name ?? loaded.projectId,
                      ],
                      ...(loaded.repoUrl === ""
                        ? []
                        : ([
                            [texts.repository, loaded.repoUrl],
                            [texts.branch, loaded.defaultBranch],
                            [texts.file, loaded.pipelineFilePath],
                          ] as const)),
                      [
                        texts.createdBy,
                        <>
                          {loaded.createdBy}, <Ago at={loaded.createdAt} />
                        </>,
                      ],
                    ]}
                  />
                </Panel>
              </Section>
            </>
          ) : (
            <Blank icon={fileX} title={texts.noDefinition}>
              {texts.noDefinitionText}
            </Blank>
          )
        }
      </Loaded>
    </Page>
  );
}

function Statistics({ of }: { readonly of: Schemas["Statistics"] | undefined }) {
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

function Schedules({
  list,
  onChange,
}: {
  readonly list: readonly Schemas["Schedule"][];
  readonly onChange: () => void;
}) {
  const turn = async ({ pipelineId, name, state }: Schemas["Schedule"]) => {
    const call = { path: { pipelineId, scheduleName: name }, body: {} };
    if (state === "active") await api.post("/pipelines/{pipelineId}/schedules/{scheduleName}/pause", call);
    else await api.post("/pipelines/{pipelineId}/schedules/{scheduleName}/resume", call);
    onChange();
  };
  return (
    <Table
      label={texts.schedules}
      rows={list}
      keyOf={({ scheduleId }) => scheduleId}
      columns={[
        {
          name: words.pipelines.name,
          cell: ({ name, schedule, timezone, pause }) => (
            <>
              {name}
              <Under>
                <code>{schedule}</code> {timezone}
                {pause === null ? null : ` · ${texts.pausedBy(pause.by)}`}
              </Under>
            </>
          ),
        },
        {
          name: texts.next,
          width: "40%",
          cell: ({ next, state }) =>
            state === "paused" || next[0] === undefined ? (
              words.status.paused
            ) : (
              <span title={next.map(wholeTime).join("\n")}>
                <Ago at={next[0]} />
                <Under>{wholeTime(next[0])}</Under>
              </span>
            ),
        },
        {
          name: texts.pause,
          isQuiet: true,
          width: "104px",
          align: "end",
          cell: (one) =>
            may("controlSchedules") ? (
              <Button onClick={() => turn(one)}>{one.state === "active" ? texts.pause : texts.resume}</Button>
            ) : null,
        },
      ]}
    />
  );
}
