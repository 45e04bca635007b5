/** Finds the objects that users name at the command line, by name or by id. */
import type { MillraceClient, Schemas } from "../../../clients/typescript/src/index.ts";
import { CommandFailure, UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";
import { visible } from "./visible.ts";

/** The pipeline with that id or name. A name that several projects use needs `project`. */
export async function findPipeline(
  client: MillraceClient,
  nameOrId: string,
  project?: string,
): Promise<Schemas["Pipeline"]> {
  if (isId("pl", nameOrId)) return client.get("/pipelines/{pipelineId}", { path: { pipelineId: nameOrId } });
  const projectId = project === undefined ? undefined : (await findProject(client, project)).projectId;
  const found: Schemas["Pipeline"][] = [];
  for await (const pipeline of client.items("/pipelines", { query: { name: nameOrId, projectId, pageSize: 100 } })) {
    if (pipeline.name === nameOrId) found.push(pipeline);
  }
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw missing("pipeline", nameOrId, "millrace pipelines");
  const projects = found.map((pipeline) => pipeline.projectId).join(", ");
  throw new UsageError(`several projects have a pipeline "${visible(nameOrId)}": choose one by --project: ${projects}`);
}

/** Throws, with the `reason` that the server would give, for a pipeline that is not in Git and has no definition yet. */
export function requireDefinition(
  { name, headCommitSha, repoUrl }: Schemas["Pipeline"],
  reason: "conflict" | "not_found",
): void {
  if (headCommitSha !== "" || repoUrl !== "") return;
  const exitStatus = reason === "not_found" ? EXIT.notFound : EXIT.failure;
  throw new CommandFailure(`the pipeline ${visible(name)} has no definition`, exitStatus, {
    next: `millrace pipelines save ${visible(name)} FILE`,
    machine: { reason },
  });
}

/** The project with that id, name or slug; a name comes before a slug. */
export async function findProject(client: MillraceClient, nameOrId: string): Promise<Schemas["Project"]> {
  const named: Schemas["Project"][] = [];
  const slugged: Schemas["Project"][] = [];
  for await (const project of client.items("/projects")) {
    if (project.projectId === nameOrId) return project;
    if (project.name === nameOrId) named.push(project);
    // Servers of versions without slugs send none.
    if ((project.slug as string | undefined) === nameOrId) slugged.push(project);
  }
  if (named.length === 0) named.push(...slugged);
  if (named.length === 1) return named[0]!;
  if (named.length === 0) throw missing("project", nameOrId, "millrace projects");
  const ids = named.map(({ projectId }) => projectId).join(", ");
  throw new UsageError(`several tenants have a project "${visible(nameOrId)}": name it by its id: ${ids}`);
}

/** The id of the tenant with that id or name. */
export async function findTenantId(client: MillraceClient, nameOrId: string): Promise<string> {
  for await (const { tenantId, name } of client.items("/tenants")) {
    if (tenantId === nameOrId || name === nameOrId) return tenantId;
  }
  throw missing("tenant", nameOrId, "millrace api GET /tenants");
}

/** The id of the team with that id or name, in any tenant. */
export async function findTeamId(client: MillraceClient, nameOrId: string): Promise<string> {
  if (isId("team", nameOrId)) return nameOrId;
  const named: string[] = [];
  for await (const { tenantId } of client.items("/tenants")) {
    const { list } = await client.get("/tenants/{tenantId}/teams", { path: { tenantId } });
    named.push(...list.flatMap(({ teamId, name }) => (name === nameOrId ? [teamId] : [])));
  }
  if (named.length === 1) return named[0]!;
  if (named.length === 0) throw missing("team", nameOrId, "millrace api GET /tenants/TENANT/teams");
  throw new UsageError(`several tenants have a team "${visible(nameOrId)}": name it by its id: ${named.join(", ")}`);
}

/** The user with that id or name, or the caller for `me`. */
export async function findUser(client: MillraceClient, nameOrId: string): Promise<Schemas["User"]> {
  if (nameOrId === "me") return client.get("/users/{userId}", { path: { userId: "me" } });
  for await (const user of client.items("/users")) {
    if (user.userId === nameOrId || user.name === nameOrId) return user;
  }
  throw missing("user", nameOrId, "millrace users");
}

/** The id of a run: an id as it is, or the newest run of the pipeline with that name. */
export async function findRunId(client: MillraceClient, runOrPipeline: string, project?: string): Promise<string> {
  if (isId("run", runOrPipeline)) return runOrPipeline;
  const { lastRun, name } = await findPipeline(client, runOrPipeline, project);
  if (lastRun !== null) return lastRun.runId;
  throw new CommandFailure(`the pipeline ${visible(name)} has no run`, EXIT.notFound, {
    next: `millrace trigger ${visible(name)}`,
  });
}

export function missing(kind: string, name: string, list: string): CommandFailure {
  return new CommandFailure(`there is no ${kind} "${visible(name)}", or you may not see it`, EXIT.notFound, {
    next: `${list} shows what there is`,
    machine: { reason: "not_found" },
  });
}

function isId(prefix: string, text: string): boolean {
  return new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`).test(text);
}
