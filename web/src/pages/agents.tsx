/** The agents, with what each takes and how much it runs now. */
import server from "lucide-static/icons/server.svg?raw";
import { useFilters } from "../app/place.ts";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table } from "../parts/table.tsx";
import { words } from "../words.ts";
import { type Agent, AgentState, Labels, Slots } from "./agent-parts.tsx";

const texts = words.agents;

const COLUMNS: readonly Column<Agent>[] = [
  { name: texts.name, cell: (agent) => <RowLink href={`/agents/${agent.agentId}`}>{agent.name}</RowLink> },
  { name: texts.state, width: "120px", narrow: "104px", cell: (agent) => <AgentState agent={agent} /> },
  { name: texts.slots, width: "170px", narrow: "84px", cell: (agent) => <Slots agent={agent} /> },
  { name: texts.labels, width: "36%", needs: "wide", cell: (agent) => <Labels labels={agent.labels} /> },
  { name: texts.version, width: "96px", needs: "medium", cell: (agent) => agent.version },
];

export function AgentsPage() {
  const [filters, change] = useFilters();
  const agents = useResource((signal) => api.get("/agents", { signal }), []);
  useLive({ channel: "channel_agents", params: {} }, ({ type }) => {
    if (type === "agent") agents.reload();
  });
  const wanted = (filters["name"] ?? "").toLowerCase();
  const fits = ({ name, labels }: Agent) =>
    [name, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].some((text) =>
      text.toLowerCase().includes(wanted),
    );
  return (
    <Page title={texts.title}>
      <FilterBar>
        <FilterText label={texts.filter} value={filters["name"] ?? ""} isMain onChange={(name) => change({ name })} />
        <SavedFilterList />
      </FilterBar>
      <Loaded of={agents}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={server} title={texts.none}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={texts.title} columns={COLUMNS} rows={list.filter(fits)} keyOf={({ agentId }) => agentId} />
          )
        }
      </Loaded>
    </Page>
  );
}
