/** The secrets of a project: their names, and who set them. Values go to the server and never come back. */
import { useState } from "preact/hooks";
import key from "lucide-static/icons/key-round.svg?raw";
import { api, type Schemas } from "../api/client.ts";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";

const texts = areaWords.secrets;
type Secret = Schemas["Secret"];

export function Secrets({ projectId }: { readonly projectId: string }) {
  const path = { projectId };
  const secrets = usePages(
    (after, signal) =>
      api.get("/projects/{projectId}/secrets", {
        path,
        query: { pageSize: 100, ...(after === undefined ? {} : { after }) },
        signal,
      }),
    [projectId],
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
  const set = <Button onClick={() => setOpen({ kind: "set", of: undefined })}>{texts.set}</Button>;
  const chosen = open?.of;
  return (
    <Section title={areaWords.tabs.secrets} aside={set}>
      <p class={styles["about"]}>{texts.about}</p>
      <Loaded of={secrets.pages}>
        {() =>
          secrets.list.length === 0 ? (
            <Blank icon={key} title={texts.none} actions={set}>
              {texts.noneText}
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
            if (chosen === undefined) {
              await api.post("/projects/{projectId}/secrets", { path, body: { name: name.trim(), value } });
            } else {
              await api.put("/projects/{projectId}/secrets/{name}", {
                path: { ...path, name: chosen.name },
                body: { value },
              });
            }
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
            await api.delete("/projects/{projectId}/secrets/{name}", { path: { ...path, name: chosen.name } });
            tell(texts.removed);
            secrets.reload();
          }}
        />
      ) : null}
    </Section>
  );
}
