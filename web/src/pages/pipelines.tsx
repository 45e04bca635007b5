/** The pipelines with their newest runs. */
import plus from "lucide-static/icons/plus.svg?raw";
import workflow from "lucide-static/icons/workflow.svg?raw";
import zap from "lucide-static/icons/zap.svg?raw";
import { useEffect } from "preact/hooks";
import { useFilters } from "../app/place.ts";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { currentProject, may, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { noteNames } from "../api/names.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Above, type Column, RowLink, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { words } from "../words.ts";
import type { RunState } from "./run-states.ts";
import { RunStrip } from "./run-strip.tsx";
import styles from "./runs.module.css";

const texts = words.pipelines;
type Pipeline = Schemas["Pipeline"];
const PAGE_SIZE = 50;
const STRIP = 5;

export function PipelinesPage() {
  const [filters, change, choose] = useFilters();
  const { name = "", after = "" } = filters;
  const projectId = currentProject.value?.projectId;
  const query = {
    pageSize: PAGE_SIZE,
    sort: "name" as const,
    ...(projectId === undefined ? {} : { projectId }),
    ...(name === "" ? {} : { name }),
    ...(after === "" ? {} : { after }),
  };
  const pipelines = useResource((signal) => api.get("/pipelines", { query, signal }), [JSON.stringify(query)]);
  const list = pipelines.value?.list;
  useEffect(() => noteNames(list ?? []), [list]);
  useLive({ channel: "channel_runs", params: projectId === undefined ? {} : { projectId } }, ({ type, data }) => {
    if (type !== "run") return;
    const state = data as RunState & { readonly pipelineId: string };
    const known = list?.find(({ pipelineId }) => pipelineId === state.pipelineId);
    const shown = known?.lastRuns.find(({ runId }) => runId === state.runId);
    if (known !== undefined && shown?.status !== state.status) pipelines.reload();
  });
  const columns: readonly Column<Pipeline>[] = [
    {
      name: texts.name,
      cell: (pipeline) => (
        <>
          <RowLink href={`/pipelines/${pipeline.pipelineId}`}>{pipeline.name}</RowLink>
          <Under>{aboutPipeline(pipeline)}</Under>
        </>
      ),
    },
    {
      name: texts.status,
      width: "150px",
      narrow: "112px",
      cell: ({ lastRun }) => (lastRun === null ? <Under>{texts.never}</Under> : <Status of={lastRun.status} />),
    },
    {
      name: texts.history,
      width: "90px",
      needs: "wide",
      cell: ({ lastRuns }) => (
        <Above>
          <RunStrip runs={lastRuns} places={STRIP} />
        </Above>
      ),
    },
    {
      name: words.runs.started,
      width: "104px",
      align: "end",
      needs: "wide",
      cell: ({ lastRun }) => (lastRun === null ? "–" : <Ago at={lastRun.createdAt} />),
    },
    {
      name: words.pipeline.trigger,
      isQuiet: true,
      width: "112px",
      narrow: "56px",
      align: "end",
      cell: ({ pipelineId, name: text, headCommitSha }) =>
        headCommitSha === "" || !may("triggerRun") ? null : (
          <Above>
            <a
              class={styles["quick"]}
              href={`/pipelines/${pipelineId}/trigger`}
              aria-label={words.pipeline.triggerNamed(text)}
              title={words.pipeline.triggerNamed(text)}
              dangerouslySetInnerHTML={{ __html: zap }}
            />
          </Above>
        ),
    },
  ];
  const make = (
    <ButtonLink href="/pipelines/new" kind="primary" icon={plus}>
      {texts.make}
    </ButtonLink>
  );
  return (
    <Page title={texts.title} actions={may("writePipelines") ? make : undefined}>
      <FilterBar>
        <FilterText label={texts.filter} value={name} isMain onChange={(text) => change({ name: text, after: "" })} />
        <SavedFilterList />
      </FilterBar>
      <Loaded of={pipelines} rows={8}>
        {(page) =>
          page.list.length === 0 ? (
            name === "" ? (
              <Blank icon={workflow} title={texts.noneYet} actions={may("writePipelines") ? make : undefined}>
                {texts.noneYetText}
              </Blank>
            ) : (
              <Blank icon={workflow} title={texts.none} />
            )
          ) : (
            <>
              <Table label={texts.title} columns={columns} rows={page.list} keyOf={({ pipelineId }) => pipelineId} />
              <div class={styles["pages"]}>
                {after === "" ? null : <Button onClick={() => choose({ after: "" })}>{words.runs.newest}</Button>}
                {page.next === null ? null : (
                  <Button onClick={() => choose({ after: page.next ?? "" })}>{words.runs.older}</Button>
                )}
              </div>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The project where there are several, and the description, else where the definition is. */
function aboutPipeline({ description, repoUrl, pipelineFilePath, projectId }: Pipeline): string {
  const project =
    projects.value.length > 1 ? projects.value.find((one) => one.projectId === projectId)?.name : undefined;
  const place = repoUrl === "" ? "" : `${repoUrl.replace(/^https?:\/\//, "")} ${pipelineFilePath}`;
  return [project, description || place].filter((text) => text !== undefined && text !== "").join(" · ");
}
