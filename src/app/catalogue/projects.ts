/** Projects: administrators make, rename and archive them; everything that runs belongs to one. */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, DEFAULT_PROJECT, DEFAULT_TENANT, newId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { isArchived, type Project, type ProjectChange } from "../../stores/ports/pipelines.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { changeRecord, type ProjectView, projectView } from "../project-record.ts";
import { forgetProjectFacts } from "../project-facts.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import { projectsFor, reachProject, reachTenant } from "../reaching.ts";
import { givenName } from "../given-names.ts";
import { givenSlug, requireOwnSlug, storeWithSlug } from "../given-slugs.ts";

const projectName = givenName(100);
const description = z.string().max(10_000);

export const createProjectBody = z.strictObject({
  name: projectName,
  /** Absent, it follows from the name. */
  slug: givenSlug.optional(),
  description: description.default(""),
  /** The owner, which never changes. */
  tenantId: z.string().max(64).optional(),
});
export const changeProjectBody = z
  .strictObject({
    name: projectName.optional(),
    slug: givenSlug.optional(),
    description: description.optional(),
    archived: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "must name at least one of name, slug, description and archived");

type ProjectContext = Pick<AppContext, "clock" | "log"> &
  WithStores<"pipelines" | "rights" | "documents" | "idempotency">;

/**
 * Throws `already_exists` for a name or a slug that is taken in the tenant, `malformed_request` for an unknown tenant, and
 * `conflict` for one that is archived.
 */
export async function createProject(
  context: ProjectContext,
  caller: Caller,
  { requestId, ...input }: z.output<typeof createProjectBody> & WithRequestId,
): Promise<ProjectView> {
  const tenantId = asId<TenantId>(input.tenantId ?? DEFAULT_TENANT);
  const missing = () => unknownTenant(tenantId);
  const { user, found: tenant } = await reachTenant(context, caller, "createProjects", tenantId, missing);
  const { pipelines } = context.stores;
  return createOnce(context, {
    caller: user,
    scope: "createProject",
    requestId,
    body: input,
    freshId: () => newId("prj"),
    find: async (projectId) => {
      const found = await pipelines.findProject(projectId);
      return found && projectView(found);
    },
    create: async (projectId) => {
      if (tenant.archivedAt !== null) throw tenantArchived(tenantId);
      const { name, slug: given } = input;
      const createdAt = context.clock.now();
      const made = await storeWithSlug({ kind: "project", id: projectId, name, slug: given }, async (slug) => {
        const project: Project = { ...input, slug, projectId, tenantId, createdAt };
        const change = { kind: "project", id: projectId, name, after: projectView(project) } as const;
        const isStored = await recorded(user, change, async () => {
          const outcome = await pipelines.createProject(project);
          if (outcome === "nameTaken") throw nameTaken(name);
          return outcome === "created";
        });
        return isStored ? project : ("slugTaken" as const);
      });
      context.log.info({ projectId, by: user.name, userId: user.userId }, "a project was created");
      return projectView(made);
    },
  });
}

/** The projects that the caller may see, by their ids, archived ones too. */
export async function listProjects(
  context: ProjectContext,
  caller: Caller,
  request: WholeListRequest = {},
): Promise<WholeListView<ProjectView>> {
  const { projects } = await projectsFor(context, caller, "readProjects");
  const list = (projects === "all" ? await context.stores.pipelines.listProjects() : projects).map(projectView);
  return wholeListView(list, request, ({ projectId }) => ({ at: projectId, id: projectId }));
}

/** Throws `not_found`. */
export async function getProject(
  context: ProjectContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<ProjectView> {
  return projectView((await reachProject(context, caller, "readProjects", projectId)).found);
}

/**
 * Changes the fields that are given. An archived project takes no new pipelines, and within 2 s no new runs; runs that
 * are live go on. Throws `not_found`, `already_exists` for a name or a slug that is taken, and `conflict` when the default project
 * would be archived.
 */
export async function changeProject(
  context: ProjectContext,
  caller: Caller,
  input: {
    readonly projectId: ProjectId;
    readonly body: z.output<typeof changeProjectBody>;
  } & WithPrecondition<ProjectView>,
): Promise<ProjectView> {
  return changeUnmoved(() => tryToChange(context, caller, input));
}

async function tryToChange(
  context: ProjectContext,
  caller: Caller,
  { projectId, body, match }: Parameters<typeof changeProject>[2],
): Promise<ProjectView | typeof MOVED> {
  const { user, found: stored } = await reachProject(context, caller, "manageProjects", projectId);
  match?.(projectView(stored));
  const { archived = isArchived(stored), ...fields } = body;
  if (archived && projectId === DEFAULT_PROJECT) {
    throw new MillraceError(
      "conflict",
      `the project ${DEFAULT_PROJECT} cannot be archived: pipelines without a project are in it`,
    );
  }
  requireOwnSlug("project", projectId, body.slug);
  const archivedAt = archived ? (stored.archivedAt ?? context.clock.now()) : null;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const change: ProjectChange = { ...given, archivedAt };
  const [before, after] = [projectView(stored), projectView({ ...stored, ...change })];
  const { name, slug, description: about, archivedAt: since } = stored;
  const expected = match && { name, slug, description: about, archivedAt: since };
  const recordable = { kind: "project", id: projectId, name, before, after } as const;
  if ((await changeRecord(context, user, recordable, change, expected)) === MOVED) return MOVED;
  forgetProjectFacts(context, projectId);
  context.log.info({ projectId, by: user.name, userId: user.userId, archived }, "a project was changed");
  return after;
}

/** The refusal of what would be new in an archived project. */
export function projectArchived(projectId: ProjectId): MillraceError {
  return new MillraceError(
    "conflict",
    `the project ${JSON.stringify(projectId)} is archived: it takes no new pipelines and runs until an administrator sets archived to false`,
  );
}

/** The refusal of what would be new in an archived tenant. */
export function tenantArchived(tenantId: TenantId): MillraceError {
  return new MillraceError(
    "conflict",
    `the tenant ${JSON.stringify(tenantId)} is archived: it takes no new projects, pipelines and runs until an administrator sets archived to false`,
  );
}

function unknownTenant(tenantId: TenantId): MillraceError {
  const message = `there is no tenant ${JSON.stringify(tenantId)}`;
  const problems = [{ code: "invalid", pointer: "/tenantId", message }];
  return new MillraceError("malformed_request", message, { problems });
}

function nameTaken(name: string): MillraceError {
  return new MillraceError("already_exists", `there is a project named ${JSON.stringify(name)} already`);
}
