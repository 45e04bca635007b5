/** Routes of the retention rules of a project. */
import type { ClusterContext } from "../../app/upkeep/cluster.ts";
import { getRetention, retentionBody, RetentionShape, setRetention } from "../../app/upkeep/retention.ts";
import { routesFor } from "../route.ts";

const route = routesFor<ClusterContext>("Projects");
const path = "/projects/:projectId/retention";
/** All of it can be changed. */
const tagged = (shown: unknown) => shown;

export const RETENTION_ROUTES = [
  route({
    method: "GET",
    path,
    name: "getRetention",
    about: "Reads how long the parts of a project's runs are kept.",
    answer: RetentionShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getRetention(context, caller, params),
  }),
  route({
    method: "PUT",
    path,
    name: "setRetention",
    about: "Replaces the bounds that the project has itself.",
    body: retentionBody,
    answer: RetentionShape,
    errors: ["not_found"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) => setRetention(context, caller, { ...params, body, match }),
  }),
];
