/** Makes a pipeline with an example that runs at once on any agent. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { currentProject, projects } from "../app/session.ts";
import { api } from "../api/client.ts";
import { problemText } from "../api/errors.ts";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { STARTER } from "./starter.ts";
import styles from "./forms.module.css";

const texts = words.pipelines;

export function NewPipelinePage() {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [projectId, setProjectId] = useState(currentProject.value?.projectId ?? projects.value[0]?.projectId ?? "");
  const create = async (withExample: boolean) => {
    const wanted = name.trim();
    if (wanted === "") throw new Error(texts.needsName);
    const body = { name: wanted, ...(projectId === "" ? {} : { projectId }) };
    const { pipelineId } = await api.post("/pipelines", { body });
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
  return (
    <Page title={texts.make} about={texts.newAbout} crumbs={[["/pipelines", texts.title]]}>
      <form
        class={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          create(true).catch((error: unknown) => tell(problemText(error), "failed"));
        }}
      >
        <label class={styles["field"]}>
          {texts.name}
          <input value={name} required autoFocus onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        {projects.value.length > 1 ? (
          <label class={styles["field"]}>
            {texts.project}
            <select value={projectId} onChange={(event) => setProjectId(event.currentTarget.value)}>
              {projects.value.map((project) => (
                <option key={project.projectId} value={project.projectId}>
                  {project.name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <div class={styles["row"]}>
          <Button kind="primary" type="submit">
            {texts.create}
          </Button>
          <Button onClick={() => create(false)}>{texts.createOwn}</Button>
        </div>
      </form>
    </Page>
  );
}
