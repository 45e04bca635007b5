/** What a pipeline is, where its definition is, and changes of both. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, type Field, FormDialog, type Values } from "../parts/form-dialog.tsx";
import { Facts, Panel, Section } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import styles from "./pipeline.module.css";
import { pipelineWords } from "./pipeline-words.ts";
import { RepositorySection } from "./repository.tsx";

const texts = pipelineWords.settings;
type Pipeline = Schemas["Pipeline"];
type Open = "change" | "toGit" | "toInline" | "remove";

interface SettingsProps {
  readonly pipeline: Pipeline;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}

export function Settings({ pipeline, mayChange, onChange }: SettingsProps) {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const isInGit = pipeline.repoUrl !== "";
  return (
    <>
      <Section
        title={texts.facts}
        aside={
          mayChange ? (
            <span class={styles["buttons"]}>
              <Button onClick={() => setOpen("change")}>{texts.change}</Button>
              <Button onClick={() => setOpen(isInGit ? "toInline" : "toGit")}>
                {isInGit ? texts.toInline : texts.toGit}
              </Button>
              <Button onClick={() => setOpen("remove")}>{texts.remove}</Button>
            </span>
          ) : undefined
        }
      >
        <Panel padded>
          <Facts of={factsOf(pipeline)} />
        </Panel>
      </Section>
      {isInGit && mayChange ? <RepositorySection pipelineId={pipeline.pipelineId} /> : null}
      {open === undefined ? null : (
        <OpenDialog open={open} pipeline={pipeline} onChange={onChange} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

function factsOf(pipeline: Pipeline) {
  const { projectId, createdBy, createdAt, repoUrl } = pipeline;
  const project = projects.value.find((one) => one.projectId === projectId)?.name ?? projectId;
  const inGit = [
    [texts.repository, repoUrl],
    [texts.branch, pipeline.defaultBranch],
    [texts.file, <code>{pipeline.pipelineFilePath}</code>],
    ...(pipeline.repoCredential === "" ? [] : [[texts.credential, <code>{pipeline.repoCredential}</code>] as const]),
    [texts.saveMode, texts.saveModes[pipeline.saveMode]],
    [texts.statuses, texts.statusChoices[pipeline.commitStatuses]],
  ] as const;
  return [
    [texts.name, pipeline.name],
    ...(pipeline.description === "" ? [] : [[texts.description, pipeline.description] as const]),
    [texts.project, <a href={`/projects/${projectId}`}>{project}</a>],
    ...(repoUrl === "" ? [[texts.definition, texts.inline] as const] : inGit),
    [
      texts.createdBy,
      <>
        {createdBy}, <Ago at={createdAt} />
      </>,
    ],
  ] as const;
}

interface OpenDialogProps {
  readonly open: Open;
  readonly pipeline: Pipeline;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function OpenDialog({ open, pipeline, onChange, onClose }: OpenDialogProps) {
  const { route } = useLocation();
  const path = { pipelineId: pipeline.pipelineId };
  const done = (text: string) => {
    tell(text);
    onChange();
  };
  switch (open) {
    case "change":
      return (
        <FormDialog
          title={texts.changeTitle(pipeline.name)}
          save={texts.change}
          fields={fieldsOf(pipeline)}
          onClose={onClose}
          onSave={async (values) => {
            await api.put("/pipelines/{pipelineId}", { path, body: changedFields(pipeline, values) });
            done(texts.changed);
          }}
        />
      );
    case "toGit":
      return (
        <FormDialog
          title={texts.toGitTitle}
          about={texts.toGitText}
          save={texts.toGit}
          fields={GIT_FIELDS}
          onClose={onClose}
          onSave={async (values) => {
            const { repoUrl = "", ...rest } = filled(values);
            await api.post("/pipelines/{pipelineId}/spec/move", { path, body: { to: "git", repoUrl, ...rest } });
            done(texts.moved);
          }}
        />
      );
    case "toInline":
      return (
        <ConfirmDialog
          title={texts.toInlineTitle}
          text={texts.toInlineText}
          action={texts.toInline}
          onClose={onClose}
          onConfirm={async () => {
            await api.post("/pipelines/{pipelineId}/spec/move", { path, body: { to: "inline" } });
            done(texts.moved);
          }}
        />
      );
    case "remove":
      return (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText}
          action={texts.remove}
          typed={{ label: texts.typeName(pipeline.name), text: pipeline.name }}
          onClose={onClose}
          onConfirm={async () => {
            await api.delete("/pipelines/{pipelineId}", { path, query: { force: "true" } });
            tell(texts.removed);
            route("/pipelines");
          }}
        />
      );
  }
}

const GIT_FIELDS: readonly Field[] = [
  { name: "repoUrl", label: texts.repository, isRequired: true, hint: texts.repositoryHint },
  { name: "repoCredential", label: texts.credential, hint: texts.credentialHint },
  { name: "defaultBranch", label: texts.branch, hint: texts.branchHint },
  { name: "pipelineFilePath", label: texts.file, hint: texts.fileHint },
];

const optionsOf = (choices: Readonly<Record<string, string>>) => Object.entries(choices);

function fieldsOf(pipeline: Pipeline): readonly Field[] {
  const { name, description, repoUrl } = pipeline;
  const always: readonly Field[] = [
    { name: "name", label: texts.name, isRequired: true, value: name },
    { name: "description", label: texts.description, value: description },
  ];
  if (repoUrl === "") return always;
  const inGit: readonly Field[] = [
    ...GIT_FIELDS,
    { name: "saveMode", label: texts.saveMode, kind: "select", options: optionsOf(texts.saveModes) },
    { name: "prTargetBranch", label: texts.target, hint: texts.targetHint },
    { name: "repoProvider", label: texts.provider, kind: "select", options: optionsOf(texts.providers) },
    { name: "repoApiCredential", label: texts.apiCredential, hint: texts.apiCredentialHint },
    { name: "commitStatuses", label: texts.statuses, kind: "select", options: optionsOf(texts.statusChoices) },
  ];
  // All settings of the repository are texts.
  const valueOf = (name: string): string => (pipeline as Readonly<Record<string, unknown>>)[name] as string;
  return [...always, ...inGit.map((field) => ({ ...field, value: valueOf(field.name) }))];
}

/** The fields that the form has changed: another user may have changed the others meanwhile. */
function changedFields(pipeline: Pipeline, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([name, value]) => value !== pipeline[name as keyof Pipeline]),
  );
}

/** Without the fields that were left empty. */
function filled(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );
}
