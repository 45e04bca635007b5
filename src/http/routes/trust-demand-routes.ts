/** Routes of what a project demands of the agents of its jobs. */
import { getTrustDemand, setTrustDemand, trustDemandBody, TrustDemandShape } from "../../app/agents/trust-demand.ts";
import type { AppContext } from "../../app/context.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Projects");
const path = "/projects/:projectId/trust-demand";
/** All of it can be changed. */
const tagged = (shown: unknown) => shown;

export const TRUST_DEMAND_ROUTES = [
  route({
    method: "GET",
    path,
    name: "getTrustDemand",
    about: "Reads which jobs of a project need an agent with trusted labels.",
    answer: TrustDemandShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getTrustDemand(context, caller, params),
  }),
  route({
    method: "PUT",
    path,
    name: "setTrustDemand",
    about: "Replaces what a project demands of the agents of its jobs.",
    body: trustDemandBody,
    answer: TrustDemandShape,
    errors: ["not_found"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) =>
      setTrustDemand(context, caller, { ...params, demand: body, match }),
  }),
];
