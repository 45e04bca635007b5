/** The rows of the routes of agents and of their registration tokens. */
import type { HttpRow } from "./http-row.ts";
import type { World } from "./world.ts";

const onAgent = ({ agentId }: World) => ({ agentId });

export const AGENT_ROWS: readonly HttpRow[] = [
  { route: "GET /agents", operation: "readAgents", kind: "list" },
  { route: "GET /agents/demand", operation: "readRuns", kind: "list" },
  {
    route: "POST /agents/registration-tokens",
    operation: "manageAgents",
    body: ({ tenantId }) => ({ name: "t", expiresIn: "1h", reach: { tenantId } }),
    kind: "inBody",
  },
  {
    route: "POST /agents/registration-tokens",
    operation: "manageAgents",
    body: ({ projectId }) => ({ name: "t", expiresIn: "1h", reach: { projectIds: [projectId] } }),
    kind: "inBody",
  },
  { route: "GET /agents/registration-tokens", operation: "manageAgents", kind: "list" },
  {
    route: "DELETE /agents/registration-tokens/:tokenId",
    operation: "manageAgents",
    at: ({ registrationTokenId }) => ({ tokenId: registrationTokenId }),
    prepare: (world) => world.keepAgent(),
  },
  { route: "GET /agents/:agentId", operation: "readAgents", at: onAgent, prepare: (world) => world.keepAgent() },
  ...[
    ["PUT /agents/:agentId/labels", () => ({ labels: {} })] as const,
    ["PUT /agents/:agentId/reach", ({ tenantId }: World) => ({ reach: { tenantId } })] as const,
    ["POST /agents/:agentId/drain", () => ({})] as const,
    ["POST /agents/:agentId/undrain", () => ({})] as const,
    ["DELETE /agents/:agentId/token", undefined] as const,
    ["DELETE /agents/:agentId", undefined] as const,
  ].map(([route, body]): HttpRow => ({
    route,
    operation: "manageAgents",
    at: onAgent,
    ...(body && { body }),
    prepare: (world) => world.keepAgent(),
  })),
];
