/** Routes of the limit on the logs of a project's steps. */
import type { AppContext } from "../../app/context.ts";
import { getLogLimit, logLimitBody, LogLimitShape, setLogLimit } from "../../app/upkeep/log-limit.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Projects");
const path = "/projects/:projectId/log-limit";
/** All of it can be changed. */
const tagged = (shown: unknown) => shown;

export const LOG_LIMIT_ROUTES = [
  route({
    method: "GET",
    path,
    name: "getLogLimit",
    about: "Reads how much of a step's log a project keeps.",
    answer: LogLimitShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getLogLimit(context, caller, params),
  }),
  route({
    method: "PUT",
    path,
    name: "setLogLimit",
    about: "Replaces the bounds that the project has itself.",
    body: logLimitBody,
    answer: LogLimitShape,
    errors: ["not_found"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) => setLogLimit(context, caller, { ...params, body, match }),
  }),
];
