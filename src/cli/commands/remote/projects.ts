/** `millrace projects`: lists, creates, archives and deletes projects, and gives users roles in them. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { findProject, findTenantId } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import type { Role } from "./remote-users.ts";

export function listProjects(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const list: Schemas["Project"][] = [];
    for await (const project of client.items("/projects", { signal })) list.push(project);
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "slug", text: ({ slug }) => slug },
        { title: "state", text: ({ archived }) => (archived ? "archived" : "active") },
        { title: "tenant", text: ({ tenantId }) => tenantId },
        { title: "id", text: ({ projectId }) => projectId },
        { title: "description", text: ({ description }) => description },
      ],
      "no projects that you may see",
    );
  });
}

export interface CreateOptions extends RemoteOptions {
  readonly description?: string;
  readonly slug?: string;
  readonly tenant?: string;
}

export function createProject(name: string, options: CreateOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { description, slug, tenant } = options;
    const body = {
      name,
      ...(description === undefined ? {} : { description }),
      ...(slug === undefined ? {} : { slug }),
      ...(tenant === undefined ? {} : { tenantId: await findTenantId(client, tenant) }),
    };
    const made = await client.post("/projects", { body, signal });
    report.object(made, `created ${made.name} (${made.projectId})`);
  });
}

export interface RenameOptions extends RemoteOptions {
  readonly slug?: string;
}

/** Gives a project another name; its slug stays unless one is given. */
export function renameProject(
  project: string,
  name: string,
  options: RenameOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const found = await findProject(client, project);
    const body = { name, ...(options.slug === undefined ? {} : { slug: options.slug }) };
    const path = { projectId: found.projectId };
    const changed = await client.patch("/projects/{projectId}", { path, body, signal });
    report.object(changed, `${found.name} is ${changed.name} now (${changed.slug})`);
  });
}

export function archiveProject(
  project: string,
  archived: boolean,
  options: RemoteOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: (await findProject(client, project)).projectId };
    const changed = await client.patch("/projects/{projectId}", { path, body: { archived }, signal });
    report.object(changed, `${changed.name} is ${changed.archived ? "archived" : "active"}`);
  });
}

export interface DeleteOptions extends RemoteOptions {
  readonly force?: boolean;
}

export function deleteProject(project: string, options: DeleteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { projectId, name } = await findProject(client, project);
    const query = options.force === true ? ({ force: "true" } as const) : {};
    await client.delete("/projects/{projectId}", { path: { projectId }, query, signal });
    report.object({ projectId, deleted: true }, `deleted ${name} (${projectId})`);
  });
}

export function listMembers(project: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: (await findProject(client, project)).projectId };
    const { list } = await client.get("/projects/{projectId}/members", { path, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "kind", text: ({ kind }) => kind },
        { title: "role", text: ({ role }) => role },
        { title: "since", text: ({ createdAt }) => createdAt },
      ],
      "no members of its own; roles in the tenant and in the installation count too",
    );
  });
}

/** Gives a user, service account or team a role in the project. */
export function grant(
  project: string,
  member: string,
  role: Role,
  options: RemoteOptions,
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: (await findProject(client, project)).projectId, member };
    const given = await client.put("/projects/{projectId}/members/{member}", { path, body: { role }, signal });
    report.object(given, `${given.name} is ${given.role} in ${project}`);
  });
}

export function revoke(project: string, member: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: (await findProject(client, project)).projectId, member };
    await client.delete("/projects/{projectId}/members/{member}", { path, signal });
    report.object({ member, deleted: true }, `${member} has no role of its own in ${project}`);
  });
}
