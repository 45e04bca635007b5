/** The calls of pipeline.v1 on projects. */
import type { PipelineServer, ProjectRecord } from "../../proto/generated/pipeline/v1/pipeline.ts";
import {
  changeProject,
  changeProjectBody,
  createProject,
  createProjectBody,
  getProject,
  listProjects,
} from "../app/catalogue/projects.ts";
import { deleteProject } from "../app/deletion/project-deletion.ts";
import type { AppContext } from "../app/context.ts";
import type { ProjectView } from "../app/project-record.ts";
import { asId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { nonEmpty, unixMs, withoutUndefined } from "./messages/fields.ts";
import { parseMessage } from "./messages/parse-message.ts";

type ProjectCalls = Pick<
  PipelineServer,
  "listProjects" | "getProject" | "createProject" | "updateProject" | "deleteProject"
>;

export function projectCalls(context: AppContext): ProjectCalls {
  return {
    listProjects: unary(context, async (_, { caller }) => {
      const { list, total } = await listProjects(context, caller);
      return { projects: list.map(projectRecord), total: BigInt(total) };
    }),

    getProject: unary(context, async ({ projectId }, { caller }) => ({
      project: projectRecord(await getProject(context, caller, { projectId: asId(projectId) })),
    })),

    createProject: unary(context, async ({ name, slug, description, tenantId, requestId }, { caller }) => {
      const given = { name, description, tenantId: nonEmpty(tenantId), slug: nonEmpty(slug) };
      const body = parseMessage(createProjectBody, withoutUndefined(given));
      const project = await createProject(context, caller, { ...body, requestId: nonEmpty(requestId) });
      return { project: projectRecord(project) };
    }),

    updateProject: unary(context, async ({ projectId, name, slug, description, archived }, { caller }) => {
      const body = parseMessage(changeProjectBody, withoutUndefined({ name, slug, description, archived }));
      return { project: projectRecord(await changeProject(context, caller, { projectId: asId(projectId), body })) };
    }),

    deleteProject: unary(context, async ({ projectId, force }, { caller }) => {
      await deleteProject(context, caller, { projectId: asId(projectId), force });
      return {};
    }),
  };
}

function projectRecord({ createdAt, ...project }: ProjectView): ProjectRecord {
  return { ...project, createdAtMs: unixMs(createdAt) };
}
