/** One plugin: its actions with their arguments, and its versions. */
import { useState } from "preact/hooks";
import { useFilters } from "../app/place.ts";
import { mayIn, projects, session } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { Copied } from "../parts/copied.tsx";
import { ConfirmDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, Page, Panel, Section } from "../parts/page.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { sizeText } from "../parts/time-texts.ts";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { adminWords } from "./admin-words.ts";
import { PluginAction } from "./plugin-action.tsx";

const texts = adminWords.plugins;
type Plugin = Schemas["Plugin"];
type Version = Plugin["versions"][number];

/** `name` has a slash. The owner of a plugin that is not of the installation is in the address. */
export function PluginPage({ name }: { readonly name: string }) {
  const [{ projectId, tenantId }] = useFilters();
  const plugin = useResource(
    (signal) =>
      projectId !== undefined
        ? api.get("/projects/{projectId}/plugins/{name}", { path: { projectId, name }, signal })
        : tenantId !== undefined
          ? api.get("/tenants/{tenantId}/plugins/{name}", { path: { tenantId, name }, signal })
          : api.get("/plugins/{name}", { path: { name }, signal }),
    [name, projectId, tenantId],
  );
  const [removing, setRemoving] = useState<Version | undefined>(undefined);
  const remove = async ({ version }: Version) => {
    if (projectId !== undefined) {
      await api.delete("/projects/{projectId}/plugins/{name}/versions/{version}", {
        path: { projectId, name, version },
      });
    } else if (tenantId !== undefined) {
      await api.delete("/tenants/{tenantId}/plugins/{name}/versions/{version}", { path: { tenantId, name, version } });
    } else await api.delete("/plugins/{name}/versions/{version}", { path: { name, version } });
    tell(texts.removed);
    plugin.reload();
  };
  const project = projects.value.find((one) => one.projectId === projectId);
  const mayRemove =
    project !== undefined
      ? mayIn("manageProjectPlugins", project)
      : tenantId !== undefined
        ? mayIn("manageTenantPlugins", { tenantId })
        : (session.value?.operations.includes("managePlugins") ?? false);
  return (
    <Page title={name} about={plugin.value?.manifest.description} crumbs={[["/plugins", texts.title]]}>
      <Loaded of={plugin}>
        {(shown) => (
          <>
            <Panel padded>
              <Facts
                of={[
                  [texts.scope, texts.scopes[shown.scope]],
                  [texts.newest, <code>{shown.manifest.version}</code>],
                  [
                    texts.platforms,
                    shown.manifest.platforms.length === 0 ? texts.everywhere : shown.manifest.platforms.join(", "),
                  ],
                  ...(shown.manifest.image === undefined
                    ? []
                    : [[texts.image, <code>{shown.manifest.image}</code>] as const]),
                  [texts.use, <Copied text={`uses: ${name}@${shown.manifest.version}`} />],
                ]}
              />
            </Panel>
            <Section title={texts.actions}>
              <ul class={styles["stack"]}>
                {Object.entries(shown.manifest.actions).map(([name, action]) => (
                  <li key={name}>
                    <PluginAction name={name} action={action} isDefault={name === shown.manifest.defaultAction} />
                  </li>
                ))}
              </ul>
            </Section>
            <Section title={texts.versions}>
              <Table
                label={texts.versions}
                rows={shown.versions}
                keyOf={({ version }) => version}
                columns={versionColumns(mayRemove, setRemoving)}
              />
            </Section>
          </>
        )}
      </Loaded>
      {removing === undefined ? null : (
        <ConfirmDialog
          title={texts.removeTitle(removing.version)}
          text={texts.removeText}
          action={texts.remove}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove(removing)}
        />
      )}
    </Page>
  );
}

function versionColumns(mayRemove: boolean, onRemove: (version: Version) => void): readonly Column<Version>[] {
  return [
    {
      name: texts.version,
      cell: ({ version, sha256 }) => (
        <>
          <code>{version}</code>
          <Under>
            <code title={texts.sha256}>{sha256}</code>
          </Under>
        </>
      ),
    },
    { name: texts.size, width: "90px", align: "end", cell: ({ size }) => sizeText(size) },
    {
      name: texts.pushed,
      width: "160px",
      needs: "wide",
      align: "end",
      cell: ({ createdAt, createdBy }) => (
        <>
          <Ago at={createdAt} />
          <Under>{texts.by(createdBy)}</Under>
        </>
      ),
    },
    {
      name: texts.remove,
      isQuiet: true,
      width: "98px",
      align: "end",
      cell: (version) => (mayRemove ? <Button onClick={() => onRemove(version)}>{texts.remove}</Button> : null),
    },
  ];
}
