/** The plugins that definitions may use: those of the installation, or all that count in the chosen project. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import puzzle from "lucide-static/icons/puzzle.svg?raw";
import { useFilters } from "../app/place.ts";
import { currentProject, projects } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import styles from "../areas/areas.module.css";
import { Button } from "../parts/button.tsx";
import { FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { adminWords } from "./admin-words.ts";
import { mayPush, PushDialog } from "./push-plugin.tsx";

const texts = adminWords.plugins;
type Plugin = Schemas["PluginInList"];

export function PluginsPage() {
  const { route } = useLocation();
  const [isPushing, setPushing] = useState(false);
  const [filters, change] = useFilters();
  const name = filters["name"] ?? "";
  const project = currentProject.value ?? (projects.value.length === 1 ? projects.value[0] : undefined);
  const projectId = project?.projectId;
  const plugins = usePages(
    (after, signal) => {
      const query = {
        pageSize: 50,
        ...(name === "" ? {} : { name }),
        ...(after === undefined ? {} : { after }),
      };
      return projectId === undefined
        ? api.get("/plugins", { query, signal })
        : api.get("/projects/{projectId}/plugins", {
            path: { projectId },
            query: { ...query, inherited: "true" },
            signal,
          });
    },
    [projectId, name],
  );
  const columns: readonly Column<Plugin>[] = [
    {
      name: texts.name,
      cell: (plugin) => <RowLink href={pluginAddress(plugin)}>{plugin.name}</RowLink>,
    },
    { name: texts.scope, width: "140px", needs: "wide", cell: ({ scope }) => texts.scopes[scope] },
    { name: texts.newest, width: "110px", cell: ({ newest }) => <code>{newest}</code> },
    { name: texts.versions, width: "90px", align: "end", cell: ({ versions }) => versions },
  ];
  const push = mayPush() ? (
    <Button kind="primary" onClick={() => setPushing(true)}>
      {texts.push}
    </Button>
  ) : undefined;
  return (
    <Page title={texts.title} about={project?.name} actions={push}>
      <FilterBar>
        <FilterText label={texts.filter} value={name} isMain onChange={(value) => change({ name: value })} />
      </FilterBar>
      <Loaded of={plugins.pages}>
        {() =>
          plugins.list.length > 0 ? (
            <Table label={texts.title} rows={plugins.list} columns={columns} keyOf={pluginAddress} />
          ) : name === "" ? (
            <Blank icon={puzzle} title={texts.none} actions={push}>
              {texts.noneText}
            </Blank>
          ) : (
            <p class={styles["quiet"]}>{texts.noneFiltered}</p>
          )
        }
      </Loaded>
      <MoreButton of={plugins} />
      {isPushing ? (
        <PushDialog
          projectId={projectId}
          onClose={() => setPushing(false)}
          onPushed={(release) => {
            setPushing(false);
            tell(texts.pushedNow(release.name, release.version));
            route(pluginAddress(release));
          }}
        />
      ) : null}
    </Page>
  );
}

function pluginAddress({ name, projectId, tenantId }: Pick<Plugin, "name" | "projectId" | "tenantId">): string {
  const owner = projectId !== null ? { projectId } : tenantId !== null ? { tenantId } : {};
  const query = new URLSearchParams(owner).toString();
  return `/plugins/${name}${query === "" ? "" : `?${query}`}`;
}
