/** All approvals that the reader may see. */
import stamp from "lucide-static/icons/stamp.svg?raw";
import { useFilters } from "../app/place.ts";
import { SavedFilterList } from "../app/saved-filter-list.tsx";
import { currentProject } from "../app/session.ts";
import { api } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { useLive } from "../live/use-live.ts";
import { Chips, FilterBar } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { words } from "../words.ts";
import { ApprovalList } from "./approval-list.tsx";

const texts = words.approvals;
const STATUSES = ["pending", "approved", "rejected", "expired", "cancelled"] as const;
const CHIPS = STATUSES.map((status) => [status, status === "pending" ? texts.pending : words.status[status]] as const);

export function ApprovalsPage() {
  const [filters, , choose] = useFilters();
  const status = STATUSES.find((word) => word === filters["status"]) ?? "pending";
  const projectId = currentProject.value?.projectId;
  const scope = projectId === undefined ? {} : { projectId };
  const approvals = useResource(
    (signal) => api.get("/approvals", { query: { ...scope, status, sort: "-requestedAt", pageSize: 100 }, signal }),
    [status, projectId],
  );
  useLive({ channel: "channel_approvals", params: scope }, ({ type }) => {
    if (type === "approval" || type === "removed") approvals.reload();
  });
  return (
    <Page title={texts.title}>
      <FilterBar>
        <Chips
          label={texts.status}
          options={CHIPS}
          value={status}
          onChange={(word) => choose({ status: word === "pending" ? "" : word })}
        />
        <SavedFilterList />
      </FilterBar>
      <Loaded of={approvals}>
        {({ list }) =>
          list.length === 0 ? (
            <Blank icon={stamp} title={texts.none}>
              {texts.noneText}
            </Blank>
          ) : (
            <ApprovalList approvals={list} onDecided={approvals.reload} />
          )
        }
      </Loaded>
    </Page>
  );
}
