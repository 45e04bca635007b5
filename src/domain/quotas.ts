/**
 * What operators bound: quotas, which are how many jobs of a project and of a tenant may run at once and how many on the
 * agents with a given label; and how many calls an edge takes. Pure.
 */
import type { ProjectId, TenantId } from "./ids.ts";
import type { Labels } from "./labels.ts";

/** As the settings name their owners. */
type DocumentOwner = "installation" | `tenant/${TenantId}` | `project/${ProjectId}`;

export interface Quotas {
  /** The limit of each project without one of its own; null for no limit. */
  readonly everyProject: number | null;
  readonly projects: ReadonlyMap<string, number>;
  readonly labels: readonly LabelQuota[];
  /** What settings say beside it, by the owner of the setting; absent for nothing. The lowest limit counts. */
  readonly set?: ReadonlyMap<DocumentOwner, SetLimits>;
}

/** Limits that the settings of the installation, a tenant or a project have. Null and absent: no limit. */
export interface SetLimits {
  /** For each project of the owner. */
  readonly perProject?: number | null | undefined;
  /** For all projects of a tenant together; a project does not have it. */
  readonly perTenant?: number | null | undefined;
}

export interface LabelQuota {
  readonly key: string;
  readonly value: string;
  readonly limit: number;
}

/** One quota. The board counts its jobs under `name`: `project:default`, `label:pool=gpu`. */
export interface Quota {
  readonly name: string;
  readonly limit: number;
  readonly subject:
    | { readonly kind: "project"; readonly projectId: ProjectId }
    | { readonly kind: "tenant"; readonly tenantId: TenantId }
    | { readonly kind: "label"; readonly key: string; readonly value: string };
}

/** A quota, and how many of its places are taken. */
export interface QuotaUse extends Quota {
  readonly taken: number;
}

/** The largest limit. */
export const MAX_RUNNING = 1_000_000;

/** How many calls an edge takes in a minute; null for no limit. */
export interface RateLimits {
  /** Of one token. */
  readonly token: number | null;
  /** Of one address without a token, or with one that proves nothing. */
  readonly address: number | null;
}

export const NO_RATE_LIMITS: RateLimits = { token: null, address: null };
/** The largest limit on calls. */
export const MAX_CALLS = 1_000_000_000;

export const NO_QUOTAS: Quotas = { everyProject: null, projects: new Map(), labels: [] };

/** The quotas that apply to the jobs of a project: its own, and that of its tenant. `tenantId` is null where it is not known. */
export function projectQuotas(
  quotas: Quotas,
  projectId: ProjectId,
  tenantId: TenantId | null | undefined = null,
): readonly Quota[] {
  const found: Quota[] = [];
  const ofInstallation = quotas.set?.get("installation");
  const ofTenant = tenantId === null ? undefined : quotas.set?.get(`tenant/${tenantId}`);
  const ofProject = quotas.set?.get(`project/${projectId}`);
  // What the environment says of a project replaces what is said of every project.
  const general = quotas.projects.get(projectId) ?? quotas.everyProject ?? ofInstallation?.perProject;
  const limit = lowest([general, ofTenant?.perProject, ofProject?.perProject]);
  if (limit !== null) found.push({ name: `project:${projectId}`, limit, subject: { kind: "project", projectId } });
  const ofAll = lowest([ofInstallation?.perTenant, ofTenant?.perTenant]);
  if (ofAll === null || tenantId === null) return found;
  return [...found, { name: `tenant:${tenantId}`, limit: ofAll, subject: { kind: "tenant", tenantId } }];
}

/** True when a quota may apply to the jobs of some project. */
export function limitsProjects({ everyProject, projects, set }: Quotas): boolean {
  return everyProject !== null || projects.size > 0 || (set?.size ?? 0) > 0;
}

/** True when a quota may apply to some job. */
export function hasQuotas(quotas: Quotas): boolean {
  return limitsProjects(quotas) || quotas.labels.length > 0;
}

function lowest(limits: readonly (number | null | undefined)[]): number | null {
  const given = limits.filter((limit) => limit !== null && limit !== undefined);
  return given.length === 0 ? null : Math.min(...given);
}

/** The quotas that apply to an agent with these labels. */
export function agentQuotas(quotas: Quotas, labels: Labels): readonly Quota[] {
  return quotas.labels.filter(({ key, value }) => labels[key] === value).map(toQuota);
}

/** The quotas of all labels. */
export function labelQuotas({ labels }: Quotas): readonly Quota[] {
  return labels.map(toQuota);
}

export function isReached({ taken, limit }: QuotaUse): boolean {
  return taken >= limit;
}

function toQuota({ key, value, limit }: LabelQuota): Quota {
  return { name: `label:${key}=${value}`, limit, subject: { kind: "label", key, value } };
}
