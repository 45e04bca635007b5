/** `millrace agents`: the inventory, the removal of an agent, and tokens with which agents register. */
import type { MillraceClient, Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findProject, findTenantId, missing } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export function listAgents(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { list } = await client.get("/agents", { signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "state", text: stateOf, colour: (agent) => (agent.online === true ? "green" : "gray") },
        { title: "jobs", text: ({ busy, slots }) => `${busy} of ${slots}` },
        { title: "version", text: ({ version }) => version },
        { title: "id", text: ({ agentId }) => agentId },
        { title: "labels", text: ({ labels }) => labelsOf(labels) },
      ],
      "no agents; `millrace agents token NAME` makes a token for one",
    );
  });
}

/** An agent, where its labels come from, and the jobs that it holds. */
export function showAgent(agent: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { agentId } = await findAgent(client, agent);
    const found = await client.get("/agents/{agentId}", { path: { agentId }, signal });
    const drained =
      found.drain === null ? [] : [`drained  by ${found.drain.by} at ${found.drain.at} ${found.drain.reason}`];
    report.object(
      found,
      `${found.name}  ${stateOf(found)}  ${found.jobsHeld} of ${found.slots} jobs  ${found.version}  ${agentId}`,
      ...drained,
      ...found.labelSources.map(({ key, value, setBy, by }) => `label    ${key}=${value}  set by ${by ?? setBy}`),
      ...found.jobs.map(({ jobId, runId }) => `job      ${jobId} of ${runId}`),
    );
  });
}

export interface DrainOptions extends RemoteOptions {
  readonly reason?: string;
}

/** The agent finishes what it holds. */
export function drainAgent(agent: string, options: DrainOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { agentId: (await findAgent(client, agent)).agentId };
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const drained = await client.post("/agents/{agentId}/drain", { path, body, signal });
    report.object(drained, `${drained.name} takes no new job; it holds ${drained.busy}`);
  });
}

export function undrainAgent(agent: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { agentId: (await findAgent(client, agent)).agentId };
    const back = await client.post("/agents/{agentId}/undrain", { path, signal });
    report.object(back, `${back.name} takes jobs again`);
  });
}

export interface ReachOptions extends RemoteOptions {
  /** Names or ids. */
  readonly tenant?: string;
  readonly project: readonly string[];
  readonly all?: boolean;
}

/** Jobs that the agent holds go on. */
export function changeReach(agent: string, options: ReachOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const reach = await reachOf(client, options);
    if (reach === undefined && options.all !== true) {
      throw new UsageError("say whose jobs the agent gets: --tenant, --project or --all");
    }
    const path = { agentId: (await findAgent(client, agent)).agentId };
    const changed = await client.put("/agents/{agentId}/reach", { path, body: { reach: reach ?? null }, signal });
    report.object(changed, `${changed.name} gets jobs of ${reachText(changed.reach)}`);
  });
}

function reachText(reach: Schemas["Agent"]["reach"]): string {
  if (reach === null) return "every project";
  const { tenantId, projectIds } = reach;
  return projectIds === null ? `the tenant ${tenantId}` : projectIds.join(", ");
}

/** The agent's streams end, and its token is refused. */
export function removeAgent(agent: string, options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { agentId, name } = await findAgent(client, agent);
    await client.delete("/agents/{agentId}", { path: { agentId }, signal });
    report.object({ agentId, deleted: true }, `removed ${name} (${agentId})`);
  });
}

export interface TokenOptions extends RemoteOptions {
  readonly expiresIn?: string;
  readonly maxUses?: number;
  /** Names or ids. */
  readonly tenant?: string;
  readonly project: readonly string[];
  /** Each as `key=value`. */
  readonly label: readonly string[];
}

/** A token for new agents, which is shown only here. */
export function createAgentToken(name: string, options: TokenOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { expiresIn, maxUses } = options;
    const reach = await reachOf(client, options);
    const labels = Object.fromEntries(options.label.map(labelOf));
    const body = {
      name,
      ...(reach === undefined ? {} : { reach }),
      ...(options.label.length === 0 ? {} : { labels }),
      ...(expiresIn === undefined ? {} : { expiresIn }),
      ...(maxUses === undefined ? {} : { maxUses }),
    };
    const made = await client.post("/agents/registration-tokens", { body, signal });
    report.secret(
      made,
      made.token,
      `shown only now; start an agent with MILLRACE_REGISTRATION_TOKEN set to it, and \`millrace agent --gateway HOST:PORT\``,
    );
  });
}

async function reachOf(client: MillraceClient, { tenant, project }: Pick<TokenOptions, "tenant" | "project">) {
  if (tenant !== undefined && project.length > 0) throw new UsageError("--tenant and --project exclude each other");
  if (tenant !== undefined) return { tenantId: await findTenantId(client, tenant) };
  const projectIds: string[] = [];
  for (const one of project) projectIds.push((await findProject(client, one)).projectId);
  return projectIds.length === 0 ? undefined : { projectIds };
}

function labelOf(text: string): readonly [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--label ${text}: must be KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

export async function findAgent(client: MillraceClient, nameOrId: string): Promise<Schemas["Agent"]> {
  const { list } = await client.get("/agents");
  const agent = list.find(({ agentId, name }) => agentId === nameOrId || name === nameOrId);
  if (agent === undefined) throw missing("agent", nameOrId, "millrace agents");
  return agent;
}

export function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

/** Presence is null while Redis cannot be read. */
function stateOf({ online, drain }: Pick<Schemas["Agent"], "online" | "drain">): string {
  const presence = online === null ? "unknown" : online ? "online" : "offline";
  return drain === null ? presence : `${presence}, drained`;
}
