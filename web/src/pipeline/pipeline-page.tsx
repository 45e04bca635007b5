/** One pipeline: how its runs go, its secrets and its settings, each at an address of its own. */
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import fileX from "lucide-static/icons/file-x.svg?raw";
import lock from "lucide-static/icons/lock.svg?raw";
import pencil from "lucide-static/icons/pencil.svg?raw";
import searchX from "lucide-static/icons/search-x.svg?raw";
import zap from "lucide-static/icons/zap.svg?raw";
import { useKeys } from "../app/keys.ts";
import { may, mayIn, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { noteNames } from "../api/names.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { Secrets } from "../areas/secrets.tsx";
import { ButtonLink } from "../parts/button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { words } from "../words.ts";
import { Overview } from "./overview.tsx";
import { pipelineWords } from "./pipeline-words.ts";
import { Settings } from "./settings.tsx";

const texts = words.pipeline;
const PARTS = ["overview", "secrets", "settings"] as const;
type Part = (typeof PARTS)[number];
type Pipeline = Schemas["Pipeline"];

export function PipelinePage({
  pipelineId,
  part = "overview",
}: {
  readonly pipelineId: string;
  readonly part?: string | undefined;
}) {
  const path = { pipelineId };
  const { route } = useLocation();
  const pipeline = useResource((signal) => api.get("/pipelines/{pipelineId}", { path, signal }), [pipelineId]);
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
      <Loaded of={pipeline}>{(loaded) => <Shown pipeline={loaded} resource={pipeline} part={part} />}</Loaded>
    </Page>
  );
}

function Shown({
  pipeline,
  resource,
  part,
}: {
  readonly pipeline: Pipeline;
  readonly resource: Resource<Pipeline>;
  readonly part: string;
}) {
  const { pipelineId, projectId } = pipeline;
  const area = projects.value.find((one) => one.projectId === projectId) ?? { projectId, tenantId: "" };
  const maySee: Readonly<Record<Part, boolean>> = {
    overview: true,
    secrets: mayIn("manageSecrets", area),
    settings: true,
  };
  const at = (name: Part) => `/pipelines/${pipelineId}${name === "overview" ? "" : `/${name}`}`;
  const known = PARTS.find((name) => name === part);
  return (
    <>
      <Tabs
        label={pipelineWords.parts}
        of={PARTS.filter((name) => maySee[name]).map((name) => [at(name), pipelineWords.tabs[name]] as const)}
        here={known === undefined ? "" : at(known)}
      />
      {known === undefined ? (
        <Blank icon={searchX} title={pipelineWords.gone} />
      ) : !maySee[known] ? (
        <Blank icon={lock} title={pipelineWords.noRight} />
      ) : (
        <>
          {known === "overview" ? (
            pipeline.headCommitSha === "" && pipeline.lastRun === null ? (
              <Blank icon={fileX} title={texts.noDefinition}>
                {texts.noDefinitionText}
              </Blank>
            ) : (
              <Overview pipelineId={pipelineId} />
            )
          ) : null}
          {known === "secrets" ? <Secrets of={{ kind: "pipeline", pipelineId }} /> : null}
          {known === "settings" ? (
            <Settings pipeline={pipeline} mayChange={mayIn("writePipelines", area)} onChange={resource.reload} />
          ) : null}
        </>
      )}
    </>
  );
}
