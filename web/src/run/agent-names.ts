/** What the agents are called, for readers who may see them. */
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { may } from "../app/session.ts";

/** By id; empty until they are known. */
export function useAgentNames(): ReadonlyMap<string, string> {
  const mayRead = may("readAgents");
  const agents = useResource(
    async (signal) => (mayRead ? (await api.get("/agents", { query: { pageSize: 200 }, signal })).list : []),
    [mayRead],
  );
  return new Map((agents.value ?? []).map(({ agentId, name }) => [agentId, name]));
}
