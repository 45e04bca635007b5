/** Routes of projects. Routes of what a project owns are with the thing that is owned. */
import type { AppContext } from "../app/context.ts";
import {
  changeProject,
  changeProjectBody,
  createProject,
  createProjectBody,
  getProject,
  listProjects,
} from "../app/catalogue/projects.ts";
import { asId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addProjectRoutes(router: ApiRouter, context: AppContext): void {
  const at = (ctx: RouteContext) => ({ projectId: asId<ProjectId>(ctx.params["projectId"]!) });

  router.post(
    "/projects",
    answer(context, async (ctx) => createProject(context, ctx.state.caller, await parseBody(ctx, createProjectBody))),
  );
  router.get(
    "/projects",
    answer(context, (ctx) => listProjects(context, ctx.state.caller)),
  );
  router.get(
    "/projects/:projectId",
    answer(context, (ctx) => getProject(context, ctx.state.caller, at(ctx))),
  );
  router.patch(
    "/projects/:projectId",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, changeProjectBody);
      return changeProject(context, ctx.state.caller, { ...at(ctx), body });
    }),
  );
}
