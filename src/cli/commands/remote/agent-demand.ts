/** `millrace agents demand`: the jobs that wait for agents. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { findProject, findTenantId } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface DemandOptions extends RemoteOptions {
  /** A name or an id. */
  readonly project?: string;
  /** A name or an id. */
  readonly tenant?: string;
  readonly labels?: string;
  readonly trusted?: string;
}

const COLUMNS: readonly Column<Schemas["DemandGroup"]>[] = [
  { title: "jobs", text: ({ waiting }) => String(waiting) },
  { title: "for", text: ({ oldestAge }) => `${Math.round(oldestAge / 1_000)}s` },
  { title: "project", text: ({ projectId }) => projectId },
  { title: "selector", text: ({ clauses }) => (clauses.length === 0 ? "any agent" : clauses.join(", ")) },
  { title: "online", text: ({ online }) => (online === null ? "?" : `${online.matching} of ${online.online} match`) },
  { title: "offline", text: ({ offline }) => (offline === null ? "?" : `${offline.matching} match`) },
  { title: "why", text: ({ wait }) => wait.text },
];

export function showDemand(options: DemandOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { project, tenant, labels, trusted } = options;
    const query = {
      ...(project === undefined ? {} : { projectId: (await findProject(client, project)).projectId }),
      ...(tenant === undefined ? {} : { tenantId: await findTenantId(client, tenant) }),
      ...(labels === undefined ? {} : { labels }),
      ...(trusted === undefined ? {} : { trusted }),
    };
    const demand = await client.get("/agents/demand", { query, signal });
    if (report.isJson) report.json(demand);
    else report.list(demand.groups, COLUMNS, "no job waits for an agent");
  });
}
