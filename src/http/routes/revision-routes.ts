/** Routes of the revisions of a pipeline's definition. */
import {
  DiffShape,
  diffQuery,
  diffRevisions,
  getRevision,
  listRevisions,
  listRevisionsQuery,
  restoreBody,
  restoreRevision,
  RevisionDetailShape,
  RevisionsShape,
  SavedSpecShape,
} from "../../app/catalogue/revisions.ts";
import type { AppContext } from "../../app/context.ts";
import { routesFor } from "../route.ts";
import { taggedSpec } from "./pipeline-routes.ts";

const route = routesFor<AppContext>("Pipelines");

export const REVISION_ROUTES = [
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/revisions",
    name: "listRevisions",
    about: "Lists the revisions of a definition, newest first.",
    query: listRevisionsQuery,
    answer: RevisionsShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listRevisions(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/revisions/:revisionId",
    name: "getRevision",
    about: "Reads a revision of a definition.",
    answer: RevisionDetailShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getRevision(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/revisions/:revisionId/diff",
    name: "diffRevisions",
    about: "Compares a revision with another one, or with the one before.",
    query: diffQuery,
    answer: DiffShape,
    errors: ["not_found", "invalid_definition", "too_large"],
    handle: (context, { caller, params, query }) => diffRevisions(context, caller, { ...query, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/revisions/:revisionId/restore",
    name: "restoreRevision",
    about: "Saves the definition of an earlier revision as a new one.",
    body: restoreBody,
    answer: SavedSpecShape,
    errors: ["not_found", "invalid_definition", "too_large", "head_moved", "request_id_reused", "git_refused"],
    changes: { tagged: taggedSpec },
    handle: (context, { caller, params, body, match }) =>
      restoreRevision(context, caller, { ...body, ...params, match }),
  }),
];
