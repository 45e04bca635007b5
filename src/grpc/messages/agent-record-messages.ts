/** Agents of the inventory as messages of agent.v1. */
import type { AgentRecord, GetAgentResponse, LabelSetter } from "../../../proto/generated/agent/v1/agent.ts";
import type { AgentDetail, AgentView } from "../../app/agents/inventory.ts";
import { unixMs } from "./fields.ts";

const SETTERS = {
  agent: "LABEL_SETTER_AGENT",
  user: "LABEL_SETTER_USER",
  registrationToken: "LABEL_SETTER_REGISTRATION_TOKEN",
} as const satisfies Record<AgentDetail["labelSources"][number]["setBy"], LabelSetter>;

export function agentRecord(agent: AgentView): AgentRecord {
  const { agentId, name, labels, trusted, overruled, slots, version, createdAt, online, busy, draining, drain, reach } =
    agent;
  return {
    agentId,
    name,
    labels: { ...labels },
    trusted: [...trusted],
    overruled: { ...overruled },
    slots,
    version,
    createdAtMs: unixMs(createdAt),
    online: online ?? undefined,
    busy,
    draining,
    drain: drain === null ? undefined : { by: drain.by, atMs: unixMs(drain.at), reason: drain.reason },
    reach: reach === null ? undefined : { tenantId: reach.tenantId, projectIds: [...(reach.projectIds ?? [])] },
  };
}

export function agentDetail(agent: AgentDetail): GetAgentResponse {
  return {
    agent: agentRecord(agent),
    labels: agent.labelSources.map(({ key, value, setBy, by, at }) => ({
      key,
      value,
      setBy: SETTERS[setBy],
      by: by ?? "",
      atMs: unixMs(at),
    })),
    jobsHeld: agent.jobsHeld,
    jobs: [...agent.jobs],
  };
}
