/** Routes of repositories: what they hold, and what connects them. */
import type { AppContext } from "../../app/context.ts";
import { checkRepository, RepositoryCheckShape } from "../../app/git/check-repository.ts";
import { discoverBody, discoverDefinitions, DiscoveryShape } from "../../app/git/discover.ts";
import { MadePipelinesShape, makePipelines, makePipelinesBody } from "../../app/git/make-pipelines.ts";
import { checkHostHook, connectHostHook, HostHookShape } from "../../app/host-hooks/host-hooks.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Repositories");

export const REPOSITORY_ROUTES = [
  route({
    method: "POST",
    path: "/projects/:projectId/repository/discover",
    readsOnly: true,
    name: "discoverDefinitions",
    about: "Lists the definitions of a Git repository, and the pipelines that it has already.",
    body: discoverBody,
    answer: DiscoveryShape,
    errors: ["not_found", "git_refused"],
    handle: (context, { caller, params, body }) => discoverDefinitions(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/projects/:projectId/repository/pipelines",
    name: "makePipelines",
    about: "Makes pipelines of definitions of a Git repository.",
    body: makePipelinesBody,
    answer: MadePipelinesShape,
    errors: ["not_found", "request_id_reused", "git_refused"],
    handle: (context, { caller, params, body }) => makePipelines(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/repository/check",
    readsOnly: true,
    name: "checkRepository",
    about: "Tries the Git repository of a pipeline, and tells what is missing.",
    answer: RepositoryCheckShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => checkRepository(context, caller, params),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/repository/webhook/check",
    readsOnly: true,
    name: "checkHostHook",
    about: "Tells what is wrong with the webhook at the host of the repository.",
    answer: HostHookShape,
    errors: ["not_found", "conflict", "git_refused"],
    handle: (context, { caller, params }) => checkHostHook(context, caller, params),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/repository/webhook",
    name: "connectHostHook",
    about: "Makes the webhook at the host of the repository, with the hook that it calls, or repairs it.",
    answer: HostHookShape,
    errors: ["not_found", "conflict", "git_refused"],
    handle: (context, { caller, params }) => connectHostHook(context, caller, params),
  }),
];
