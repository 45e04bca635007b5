/** Routes of agents and of the tokens with which they register. */
import { wholeListQuery } from "../../app/lists.ts";
import { z } from "zod";
import { deleteAgent, revokeAgentToken } from "../../app/agents/agent-removal.ts";
import { drainAgent, drainBody, undrainAgent } from "../../app/agents/draining.ts";
import { AgentDetailShape, AgentShape, getAgent, listAgents } from "../../app/agents/inventory.ts";
import { setReach, setReachBody } from "../../app/agents/reach.ts";
import { setTrustedLabels, trustedLabelsBody } from "../../app/agents/trusted-labels.ts";
import type { AppContext } from "../../app/context.ts";
import {
  createRegistrationToken,
  createRegistrationTokenBody,
  deleteRegistrationToken,
  listRegistrationTokens,
  NewRegistrationTokenShape,
  RegistrationTokenShape,
} from "../../app/agents/registration-tokens.ts";
import { AgentDemandShape, demandQuery, readDemand } from "../../app/runs/agent-demand.ts";
import { wholeListOf, wholeOrPageOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Agents");

/** Of an agent, callers change the trusted labels and the reach. */
const labelsTag = ({
  agentId,
  trusted,
  labels,
  reach,
}: Pick<z.infer<typeof AgentShape>, "agentId" | "trusted" | "labels" | "reach">) => {
  return { agentId, trusted: trusted.map((key) => [key, labels[key]]), reach };
};

export const AGENT_ROUTES = [
  route({
    method: "POST",
    path: "/agents/registration-tokens",
    name: "createRegistrationToken",
    about: "Makes a registration token, which only this answer shows.",
    body: createRegistrationTokenBody,
    answer: NewRegistrationTokenShape,
    errors: ["already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: (context, { caller, body, requestId }) => createRegistrationToken(context, caller, { ...body, requestId }),
  }),
  route({
    method: "GET",
    path: "/agents/registration-tokens",
    name: "listRegistrationTokens",
    about: "Lists registration tokens, newest first.",
    answer: wholeListOf(RegistrationTokenShape),
    handle: (context, { caller }) => listRegistrationTokens(context, caller),
  }),
  route({
    method: "DELETE",
    path: "/agents/registration-tokens/:tokenId",
    name: "deleteRegistrationToken",
    about: "Deletes a registration token; agents that have registered with it stay registered.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteRegistrationToken(context, caller, params),
  }),
  route({
    method: "PUT",
    path: "/agents/:agentId/labels",
    name: "setTrustedLabels",
    about: "Replaces the trusted labels of an agent.",
    body: trustedLabelsBody,
    answer: AgentShape,
    errors: ["not_found"],
    tagged: labelsTag,
    changes: { tagged: labelsTag },
    handle: (context, { caller, params, body, match }) =>
      setTrustedLabels(context, caller, { ...body, ...params, match }),
  }),
  route({
    method: "PUT",
    path: "/agents/:agentId/reach",
    name: "setAgentReach",
    about: "Replaces the reach of an agent: which jobs it may get from the next match on.",
    body: setReachBody,
    answer: AgentShape,
    errors: ["not_found"],
    tagged: labelsTag,
    changes: { tagged: labelsTag },
    handle: (context, { caller, params, body, match }) => setReach(context, caller, { ...body, ...params, match }),
  }),
  route({
    method: "DELETE",
    path: "/agents/:agentId/token",
    name: "revokeAgentToken",
    about: "Revokes the tokens of an agent, which can register again.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => revokeAgentToken(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: "/agents/:agentId",
    name: "deleteAgent",
    about: "Removes an agent with its tokens; its jobs count as lost.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteAgent(context, caller, params),
  }),
  route({
    method: "POST",
    path: "/agents/:agentId/drain",
    name: "drainAgent",
    about: "Lets an agent take no new job; it finishes what it holds.",
    body: drainBody,
    answer: AgentShape,
    errors: ["not_found"],
    handle: (context, { caller, params, body }) => drainAgent(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/agents/:agentId/undrain",
    name: "undrainAgent",
    about: "Lets a drained agent take jobs again.",
    body: z.strictObject({}),
    answer: AgentShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => undrainAgent(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/agents/demand",
    name: "readAgentDemand",
    about: "Reads which jobs wait for agents, by project and selector, and which agents would serve them.",
    query: demandQuery,
    answer: AgentDemandShape,
    errors: ["not_found"],
    handle: (context, { caller, query }) => readDemand(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/agents/:agentId",
    name: "getAgent",
    about: "Reads an agent, with who has set its labels and the jobs that it holds.",
    answer: AgentDetailShape,
    errors: ["not_found"],
    tagged: labelsTag,
    handle: (context, { caller, params }) => getAgent(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/agents",
    name: "listAgents",
    about: "Lists all registered agents.",
    query: wholeListQuery,
    answer: wholeOrPageOf(AgentShape),
    handle: (context, { caller, query }) => listAgents(context, caller, query),
  }),
];
