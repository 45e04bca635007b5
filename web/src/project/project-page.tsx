/** One project: what it is, and its parts, each at an address of its own. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import lock from "lucide-static/icons/lock.svg?raw";
import searchX from "lucide-static/icons/search-x.svg?raw";
import { chooseProject, loadProjects, mayIn } from "../app/session.ts";
import { api, type Schemas } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { addressOf, type Area, mayHere } from "../areas/area.ts";
import { AreaPart } from "../areas/area-part.tsx";
import { areaWords } from "../areas/area-words.ts";
import styles from "../areas/areas.module.css";
import { Secrets } from "../areas/secrets.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, Page, Panel, Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { Caches } from "./caches.tsx";
import { HookPart, Hooks } from "./hooks.tsx";
import { Notifications } from "./notifications.tsx";

const texts = areaWords.projects;
const { tabs } = areaWords;
type Project = Schemas["Project"];

const PARTS = [
  "overview",
  "members",
  "accounts",
  "secrets",
  "variables",
  "caches",
  "settings",
  "webhooks",
  "hooks",
  "notifications",
] as const;
type Part = (typeof PARTS)[number];

export function ProjectPage({
  projectId,
  part = "overview",
  item,
}: {
  readonly projectId: string;
  readonly part?: string | undefined;
  /** The id of what is shown of a part. */
  readonly item?: string | undefined;
}) {
  const project = useResource(
    (signal) => api.get("/projects/{projectId}", { path: { projectId }, signal }),
    [projectId],
  );
  return (
    <Page title={project.value?.name ?? texts.title} crumbs={[["/projects", texts.title]]}>
      <Loaded of={project}>{(shown) => <Shown project={shown} resource={project} part={part} item={item} />}</Loaded>
    </Page>
  );
}

function Shown({
  project,
  resource,
  part,
  item,
}: {
  readonly project: Project;
  readonly resource: Resource<Project>;
  readonly part: string;
  readonly item: string | undefined;
}) {
  const { projectId, tenantId } = project;
  const area: Area = { kind: "project", projectId, tenantId };
  const may: Readonly<Record<Part, boolean>> = {
    overview: true,
    members: mayHere("readMembers", area),
    accounts: mayHere("writeMembers", area),
    secrets: mayIn("manageSecrets", area),
    variables: mayHere("readVariables", area),
    caches: mayIn("readCaches", area),
    settings: mayHere("readSettings", area),
    webhooks: mayHere("webhooks", area),
    hooks: mayIn("manageHooks", area),
    notifications: mayIn("readEvents", area),
  };
  const base = addressOf(area);
  const at = (name: Part) => (name === "overview" ? base : `${base}/${name}`);
  const known = PARTS.find((name) => name === part);
  return (
    <>
      <Tabs
        label={texts.parts}
        of={PARTS.filter((name) => may[name]).map((name) => [at(name), tabs[name]] as const)}
        here={known === undefined ? "" : at(known)}
      />
      {known === undefined ? (
        <Blank icon={searchX} title={areaWords.gone} />
      ) : may[known] ? (
        <>
          {known === "overview" ? <Overview project={project} resource={resource} /> : null}
          <AreaPart name={known} area={area} item={item} />
          {known === "secrets" ? <Secrets of={{ kind: "project", projectId }} /> : null}
          {known === "caches" ? <Caches projectId={projectId} mayDelete={mayIn("deleteCaches", area)} /> : null}
          {known === "hooks" ? (
            item === undefined ? (
              <Hooks projectId={projectId} />
            ) : (
              <HookPart projectId={projectId} hookId={item} />
            )
          ) : null}
          {known === "notifications" ? (
            <Notifications projectId={projectId} mayResend={mayIn("controlRun", area)} />
          ) : null}
        </>
      ) : (
        <Blank icon={lock} title={areaWords.noRight} />
      )}
    </>
  );
}

function Overview({ project, resource }: { readonly project: Project; readonly resource: Resource<Project> }) {
  const { projectId } = project;
  const path = { projectId };
  const { route } = useLocation();
  const [open, setOpen] = useState<"change" | "remove" | undefined>(undefined);
  const close = () => setOpen(undefined);
  const changed = async () => {
    resource.reload();
    await loadProjects();
  };
  const { tenantId } = project;
  const mayReadTenant = mayIn("readTenants", { tenantId });
  const tenant = useResource(
    async (signal) =>
      mayReadTenant ? await api.get("/tenants/{tenantId}", { path: { tenantId }, signal }) : undefined,
    [tenantId, mayReadTenant],
  );
  const mayChange = mayIn("manageProjects", project);
  const mayDelete = mayIn("deleteProjects", project);
  return (
    <Section
      title={tabs.overview}
      aside={
        mayChange || mayDelete ? (
          <span class={styles["buttons"]}>
            {mayChange ? <Button onClick={() => setOpen("change")}>{texts.change}</Button> : null}
            {mayChange ? (
              <Button
                title={texts.archiveText}
                onClick={async () => {
                  await api.patch("/projects/{projectId}", { path, body: { archived: !project.archived } });
                  await changed();
                }}
              >
                {project.archived ? texts.unarchive : texts.archive}
              </Button>
            ) : null}
            {mayDelete ? <Button onClick={() => setOpen("remove")}>{texts.remove}</Button> : null}
          </span>
        ) : undefined
      }
    >
      <Panel padded>
        <Facts
          of={[
            [texts.slug, <code>{project.slug}</code>],
            ...(project.description === "" ? [] : ([[texts.description, project.description]] as const)),
            [
              texts.tenant,
              mayReadTenant && tenant.error === undefined ? (
                <a href={`/admin/tenants/${tenantId}`}>{tenant.value?.name}</a>
              ) : (
                tenantId
              ),
            ],
            [texts.created, <Ago at={project.createdAt} />],
            ...(project.archived ? ([[texts.archived, texts.archiveText]] as const) : []),
            [
              texts.pipelines,
              <a href="/pipelines" onClick={() => chooseProject(projectId)}>
                {texts.ofProject}
              </a>,
            ],
          ]}
        />
      </Panel>
      {open === "change" ? (
        <FormDialog
          title={texts.changeTitle}
          save={texts.change}
          fields={[
            { name: "name", label: texts.name, isRequired: true, value: project.name },
            { name: "slug", label: texts.slug, isRequired: true, value: project.slug },
            { name: "description", label: texts.description, value: project.description },
          ]}
          onClose={close}
          onSave={async ({ name = "", slug = "", description = "" }) => {
            const body = { name: name.trim(), slug: slug.trim(), description: description.trim() };
            await api.patch("/projects/{projectId}", { path, body });
            await changed();
          }}
        />
      ) : null}
      {open === "remove" ? (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText}
          action={texts.remove}
          typed={{ label: texts.typeName(project.name), text: project.name }}
          onClose={close}
          onConfirm={async () => {
            await api.delete("/projects/{projectId}", { path });
            tell(texts.removed);
            await loadProjects();
            route("/projects");
          }}
        />
      ) : null}
    </Section>
  );
}
