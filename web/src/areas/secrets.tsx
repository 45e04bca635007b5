/** The secrets of a project or a pipeline: their names, and who set them. Values go to the server and never come back. */
import { useState } from "preact/hooks";
import key from "lucide-static/icons/key-round.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { areaWords } from "./area-words.ts";
import styles from "./areas.module.css";

const texts = areaWords.secrets;
type Secret = Schemas["Secret"];

export type SecretOwner =
  | { readonly kind: "project"; readonly projectId: string }
  | { readonly kind: "pipeline"; readonly pipelineId: string };

/** What the page shows of secrets, by the kind of what they belong to. */
const ABOUT = { project: texts.about, pipeline: texts.aboutPipeline };
const NONE = { project: texts.noneText, pipeline: texts.nonePipelineText };

export function Secrets({ of: owner }: { readonly of: SecretOwner }) {
  const secrets = usePages(
    (after, signal) => listSecrets(owner, { pageSize: 100, ...(after === undefined ? {} : { after }) }, signal),
    [JSON.stringify(owner)],
  );
  const [open, setOpen] = useState<{ readonly kind: "set" | "remove"; readonly of: Secret | undefined } | undefined>(
    undefined,
  );
  const close = () => setOpen(undefined);
  const columns: readonly Column<Secret>[] = [
    {
      name: texts.name,
      cell: ({ name, updatedBy }) => (
        <>
          <code>{name}</code>
          <Under>{texts.by(updatedBy)}</Under>
        </>
      ),
    },
    { name: texts.version, width: "84px", align: "end", needs: "wide", cell: ({ version }) => version },
    { name: texts.changed, width: "110px", align: "end", needs: "wide", cell: (one) => <Ago at={one.updatedAt} /> },
    {
      name: texts.replace,
      isQuiet: true,
      width: "190px",
      align: "end",
      cell: (of) => (
        <span class={styles["buttons"]}>
          <Button onClick={() => setOpen({ kind: "set", of })}>{texts.replace}</Button>
          <Button onClick={() => setOpen({ kind: "remove", of })}>{texts.remove}</Button>
        </span>
      ),
    },
  ];
  const set = (
    <Button kind="primary" onClick={() => setOpen({ kind: "set", of: undefined })}>
      {texts.set}
    </Button>
  );
  const chosen = open?.of;
  return (
    <Section title={areaWords.tabs.secrets} aside={set}>
      <p class={styles["about"]}>{ABOUT[owner.kind]}</p>
      <Loaded of={secrets.pages}>
        {() =>
          secrets.list.length === 0 ? (
            <Blank icon={key} title={texts.none} actions={set}>
              {NONE[owner.kind]}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.secrets} rows={secrets.list} columns={columns} keyOf={({ name }) => name} />
          )
        }
      </Loaded>
      <MoreButton of={secrets} />
      {open?.kind === "set" ? (
        <FormDialog
          title={chosen === undefined ? texts.set : texts.replaceTitle(chosen.name)}
          save={texts.save}
          fields={[
            ...(chosen === undefined ? [{ name: "name", label: texts.name, isRequired: true }] : []),
            { name: "value", label: texts.value, kind: "area", isRequired: true, hint: texts.valueHint },
          ]}
          onClose={close}
          onSave={async ({ name = "", value = "" }) => {
            await (chosen === undefined
              ? createSecret(owner, { name: name.trim(), value })
              : replaceSecret(owner, chosen.name, value));
            tell(texts.saved);
            secrets.reload();
          }}
        />
      ) : null}
      {open?.kind === "remove" && chosen !== undefined ? (
        <ConfirmDialog
          title={texts.removeTitle(chosen.name)}
          text={texts.removeText}
          action={texts.remove}
          onClose={close}
          onConfirm={async () => {
            await deleteSecret(owner, chosen.name);
            tell(texts.removed);
            secrets.reload();
          }}
        />
      ) : null}
    </Section>
  );
}

const OF_PROJECT = "/projects/{projectId}/secrets";
const OF_PIPELINE = "/pipelines/{pipelineId}/secrets";

function listSecrets(
  owner: SecretOwner,
  query: { readonly pageSize: number; readonly after?: string },
  signal: AbortSignal,
) {
  return owner.kind === "project"
    ? api.get(OF_PROJECT, { path: owner, query, signal })
    : api.get(OF_PIPELINE, { path: owner, query, signal });
}

function createSecret(owner: SecretOwner, body: { readonly name: string; readonly value: string }) {
  return owner.kind === "project"
    ? api.post(OF_PROJECT, { path: owner, body })
    : api.post(OF_PIPELINE, { path: owner, body });
}

function replaceSecret(owner: SecretOwner, name: string, value: string) {
  const body = { value };
  return owner.kind === "project"
    ? api.put(`${OF_PROJECT}/{name}`, { path: { ...owner, name }, body })
    : api.put(`${OF_PIPELINE}/{name}`, { path: { ...owner, name }, body });
}

function deleteSecret(owner: SecretOwner, name: string) {
  return owner.kind === "project"
    ? api.delete(`${OF_PROJECT}/{name}`, { path: { ...owner, name } })
    : api.delete(`${OF_PIPELINE}/{name}`, { path: { ...owner, name } });
}
