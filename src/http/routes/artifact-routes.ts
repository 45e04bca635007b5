/** Routes of artifacts: lists, descriptions, and content with byte ranges. */
import {
  ArtifactDetailsShape,
  ArtifactShape,
  deleteArtifact,
  getArtifact,
  listArtifacts,
  listArtifactsQuery,
  openArtifactFile,
} from "../../app/content/artifacts.ts";
import type { AppContext } from "../../app/context.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import { CONTENT_STATUSES, CONTENT_TYPE, sendContent } from "../content-answer.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Artifacts");
const ARTIFACTS = "/pipelines/runs/:runId/artifacts";

export const ARTIFACT_ROUTES = [
  route({
    method: "GET",
    path: ARTIFACTS,
    name: "listArtifacts",
    about: "Lists the artifacts of a run, oldest first.",
    query: listArtifactsQuery,
    answer: cursorPageOf(ArtifactShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listArtifacts(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: `${ARTIFACTS}/:artifactId`,
    name: "getArtifact",
    about: "Describes an artifact with its files.",
    answer: ArtifactDetailsShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getArtifact(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: `${ARTIFACTS}/:artifactId`,
    name: "deleteArtifact",
    about: "Deletes an artifact with its content.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteArtifact(context, caller, params),
  }),
  route({
    method: "GET",
    path: `${ARTIFACTS}/:artifactId/content{/*path}`,
    name: "readArtifact",
    about: "Reads one file of an artifact, or a range of its bytes.",
    acceptsTicket: true,
    answer: null,
    answerType: CONTENT_TYPE,
    statuses: CONTENT_STATUSES,
    errors: ["not_found", "conflict", "range_not_satisfiable"],
    async send(context, { caller, params, ctx }) {
      await sendContent(ctx, await openArtifactFile(context, caller, params));
    },
  }),
];
