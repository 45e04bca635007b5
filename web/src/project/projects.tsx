/** The projects that the reader may see. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import folder from "lucide-static/icons/folder.svg?raw";
import { loadProjects, may } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { areaWords } from "../areas/area-words.ts";
import { Button } from "../parts/button.tsx";
import { type Field, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

const texts = areaWords.projects;
type Project = Schemas["Project"];

export function ProjectsPage() {
  const { route } = useLocation();
  const [isMaking, setMaking] = useState(false);
  const projects = usePages(
    (after, signal) =>
      api.get("/projects", { query: { pageSize: 100, ...(after === undefined ? {} : { after }) }, signal }),
    [],
  );
  const tenants = useResource(
    async (signal) =>
      may("readTenants") ? (await api.get("/tenants", { query: { pageSize: 100 }, signal })).list : [],
    [],
  );
  const names = new Map(tenants.value?.map(({ tenantId, name }) => [tenantId, name]));
  const make = may("createProjects") ? (
    <Button kind="primary" onClick={() => setMaking(true)}>
      {texts.make}
    </Button>
  ) : undefined;
  const columns: readonly Column<Project>[] = [
    {
      name: texts.name,
      cell: ({ projectId, name, description, archived }) => (
        <>
          <RowLink href={`/projects/${projectId}`}>{name}</RowLink>
          <Under>{[archived ? texts.archived : "", description].filter((text) => text !== "").join(" · ")}</Under>
        </>
      ),
    },
    { name: texts.slug, width: "24%", needs: "wide", cell: ({ slug }) => <code>{slug}</code> },
    {
      name: texts.tenant,
      width: "22%",
      needs: "wide",
      cell: ({ tenantId }) => names.get(tenantId) ?? tenantId,
    },
    { name: texts.created, width: "110px", align: "end", cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
  return (
    <Page title={texts.title} actions={make}>
      <Loaded of={projects.pages}>
        {() =>
          projects.list.length === 0 ? (
            <Blank icon={folder} title={texts.none} actions={make}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table
              label={texts.title}
              rows={projects.list}
              columns={columns}
              keyOf={({ projectId }) => projectId}
              stateOf={({ archived }) => (archived ? "faint" : undefined)}
            />
          )
        }
      </Loaded>
      <MoreButton of={projects} />
      {isMaking ? (
        <FormDialog
          title={texts.make}
          save={texts.make}
          fields={[
            { name: "name", label: texts.name, isRequired: true },
            { name: "slug", label: texts.slug, hint: texts.slugHint },
            { name: "description", label: texts.description },
            ...((tenants.value?.length ?? 0) > 1
              ? ([
                  {
                    name: "tenantId",
                    label: texts.tenant,
                    kind: "select",
                    value: tenants.value?.[0]?.tenantId ?? "",
                    options: tenants.value?.map(({ tenantId, name }) => [tenantId, name] as const) ?? [],
                  },
                ] as const satisfies readonly Field[])
              : []),
          ]}
          onClose={() => setMaking(false)}
          onSave={async ({ name = "", slug = "", description = "", tenantId = "" }) => {
            const { projectId } = await api.post("/projects", {
              body: {
                name: name.trim(),
                description: description.trim(),
                ...(slug.trim() === "" ? {} : { slug: slug.trim() }),
                ...(tenantId === "" ? {} : { tenantId }),
              },
            });
            await loadProjects();
            route(`/projects/${projectId}`);
          }}
        />
      ) : null}
    </Page>
  );
}
