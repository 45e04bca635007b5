/** Changes of the presence of agents as messages of stream.v1. */
import type {
  AgentPresence as PresenceMessage,
  StreamAgentStatusResponse,
} from "../../../proto/generated/stream/v1/stream.ts";
import type { AgentPresence } from "../../app/following/agent-presence-feed.ts";
import type { AgentUpdate } from "../../app/following/agent-updates.ts";

const PRESENCES = {
  online: "AGENT_PRESENCE_ONLINE",
  offline: "AGENT_PRESENCE_OFFLINE",
  draining: "AGENT_PRESENCE_DRAINING",
  lost: "AGENT_PRESENCE_LOST",
  removed: "AGENT_PRESENCE_REMOVED",
} as const satisfies Record<AgentPresence, PresenceMessage>;

const NO_AGENT = {
  agentId: "",
  name: "",
  presence: "AGENT_PRESENCE_UNSPECIFIED",
  labels: {},
  slots: 0,
  busy: 0,
  timeMs: 0n,
} as const;

export function agentUpdateMessage({ revision, ...news }: AgentUpdate): StreamAgentStatusResponse {
  if (news.type !== "change") {
    return { ...NO_AGENT, trusted: [], revision, reset: news.type === "reset", caughtUp: news.type === "caughtUp" };
  }
  const { agentId, name, presence, labels, trusted, slots, busy, timeMs } = news.change;
  return {
    agentId,
    name,
    presence: PRESENCES[presence],
    labels: { ...labels },
    trusted: [...trusted],
    slots,
    busy,
    timeMs: BigInt(timeMs),
    revision,
    reset: false,
    caughtUp: false,
  };
}
