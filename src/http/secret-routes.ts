/** Routes of secrets: those of a project, and those of a pipeline. */
import type { AppContext } from "../app/context.ts";
import {
  createSecret,
  createSecretBody,
  deleteSecret,
  listSecrets,
  listSecretsQuery,
  replaceSecret,
  replaceSecretBody,
  type SecretOwner,
} from "../app/catalogue/secrets.ts";
import { asId, type PipelineId, type ProjectId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody, parseQuery } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

export function addSecretRoutes(router: ApiRouter, context: AppContext): void {
  addRoutes(router, context, "/projects/:projectId/secrets", ({ params }) => ({
    projectId: asId<ProjectId>(params["projectId"]!),
  }));
  addRoutes(router, context, "/pipelines/:pipelineId/secrets", ({ params }) => ({
    pipelineId: asId<PipelineId>(params["pipelineId"]!),
  }));
}

function addRoutes(
  router: ApiRouter,
  context: AppContext,
  path: string,
  ownerOf: (ctx: RouteContext) => SecretOwner,
): void {
  const at = (ctx: RouteContext) => ({ owner: ownerOf(ctx), name: ctx.params["name"]! });
  router.post(
    path,
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, createSecretBody);
      return createSecret(context, ctx.state.caller, { ...body, owner: ownerOf(ctx) });
    }),
  );
  router.get(
    path,
    answer(context, (ctx) => {
      const query = parseQuery(ctx, listSecretsQuery);
      return listSecrets(context, ctx.state.caller, { ...query, owner: ownerOf(ctx) });
    }),
  );
  router.put(
    `${path}/:name`,
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, replaceSecretBody);
      return replaceSecret(context, ctx.state.caller, { ...body, ...at(ctx) });
    }),
  );
  router.delete(
    `${path}/:name`,
    answer(context, (ctx) => deleteSecret(context, ctx.state.caller, at(ctx))),
  );
}
