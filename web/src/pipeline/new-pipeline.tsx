/** Makes a pipeline: with an example that runs at once on any agent, or from the definitions of a repository. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useFilters } from "../app/place.ts";
import { currentProject, projects } from "../app/session.ts";
import { api } from "../api/client.ts";
import { STARTER } from "../pages/starter.ts";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useSubmit } from "../parts/use-submit.ts";
import { words } from "../words.ts";
import { ConnectRepository } from "./connect-repository.tsx";
import styles from "./pipeline.module.css";
import { pipelineWords } from "./pipeline-words.ts";

const texts = words.pipelines;
const EXAMPLE = "/pipelines/new";
const GIT = "/pipelines/new?from=git";

export function NewPipelinePage() {
  const [filters] = useFilters();
  const isFromGit = filters["from"] === "git";
  const [projectId, setProjectId] = useState(currentProject.value?.projectId ?? projects.value[0]?.projectId ?? "");
  const project =
    projects.value.length > 1 ? (
      <label class={styles["field"]}>
        {texts.project}
        <select value={projectId} onChange={(event) => setProjectId(event.currentTarget.value)}>
          {projects.value.map((one) => (
            <option key={one.projectId} value={one.projectId}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
    ) : null;
  return (
    <Page
      title={texts.make}
      about={isFromGit ? pipelineWords.connect.about : texts.newAbout}
      crumbs={[["/pipelines", texts.title]]}
    >
      <Tabs
        label={pipelineWords.connect.choices}
        of={[
          [EXAMPLE, pipelineWords.connect.fromExample],
          [GIT, pipelineWords.connect.title],
        ]}
        here={isFromGit ? GIT : EXAMPLE}
      />
      {isFromGit ? (
        <ConnectRepository key={projectId} projectId={projectId}>
          {project}
        </ConnectRepository>
      ) : (
        <FromExample projectId={projectId}>{project}</FromExample>
      )}
    </Page>
  );
}

function FromExample({ projectId, children }: { readonly projectId: string; readonly children: ComponentChildren }) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  /** What an attempt has made before its second call failed: the next attempt goes on with it. */
  const made = useRef<{ readonly asked: string; readonly pipelineId: string } | undefined>(undefined);
  const create = async (withExample: boolean) => {
    const wanted = name.trim();
    if (wanted === "") throw new Error(texts.needsName);
    const body = { name: wanted, ...(projectId === "" ? {} : { projectId }) };
    const asked = JSON.stringify(body);
    if (made.current?.asked !== asked) made.current = { asked, ...(await api.post("/pipelines", { body })) };
    const { pipelineId } = made.current;
    if (!withExample) {
      route(`/pipelines/${pipelineId}/edit`);
      return;
    }
    await api.post("/pipelines/{pipelineId}/spec/save", {
      path: { pipelineId },
      body: { ...STARTER, commitMessage: "Begin with an example" },
    });
    route(`/pipelines/${pipelineId}/trigger`);
  };
  const { submit, isRunning } = useSubmit(() => create(true));
  return (
    <form class={styles["form"]} onSubmit={submit}>
      <label class={styles["field"]}>
        {texts.name}
        <input value={name} required autoFocus onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      {children}
      <span class={styles["buttons"]}>
        <Button kind="primary" type="submit" disabled={isRunning}>
          {texts.create}
        </Button>
        <Button onClick={() => create(false)}>{texts.createOwn}</Button>
      </span>
    </form>
  );
}
