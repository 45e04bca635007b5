/** The agents, with what each takes and how much it runs now. */
import { useState } from "preact/hooks";
import server from "lucide-static/icons/server.svg?raw";
import { useFilters } from "../app/place.ts";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { Button } from "../parts/button.tsx";
import { FilterBar, FilterText } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, RowLink, Table } from "../parts/table.tsx";
import { words } from "../words.ts";
import { type Agent, AgentState, Labels, Slots } from "./agent-parts.tsx";
import styles from "./forms.module.css";
import { AddAgentDialog, mayRegister, RegistrationTokens } from "./registration.tsx";
import { registrationWords } from "./registration-words.ts";

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
  const [isAdding, setAdding] = useState(false);
  const [turn, setTurn] = useState(0);
  const agents = useResource((signal) => api.get("/agents", { signal }), []);
  useLive({ channel: "channel_agents", params: {} }, ({ type }) => {
    if (type === "agent") agents.reload();
  });
  const wanted = (filters["name"] ?? "").toLowerCase();
  const fits = ({ name, labels }: Agent) =>
    [name, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].some((text) =>
      text.toLowerCase().includes(wanted),
    );
  const mayAdd = mayRegister();
  const add = mayAdd ? (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {registrationWords.add}
    </Button>
  ) : undefined;
  return (
    <Page title={texts.title} actions={add}>
      <FilterBar>
        <FilterText label={texts.filter} value={filters["name"] ?? ""} isMain onChange={(name) => change({ name })} />
        <SavedFilterList />
      </FilterBar>
      <Loaded of={agents}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={server} title={texts.none} actions={add}>
              {mayAdd ? texts.noneText : texts.noneForReader}
            </Blank>
          ) : list.some(fits) ? (
            <Table label={texts.title} columns={COLUMNS} rows={list.filter(fits)} keyOf={({ agentId }) => agentId} />
          ) : (
            <p class={styles["quiet"]}>{texts.noneFits}</p>
          )
        }
      </Loaded>
      {mayAdd ? <RegistrationTokens turn={turn} /> : null}
      {isAdding ? <AddAgentDialog onMade={() => setTurn(turn + 1)} onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}
