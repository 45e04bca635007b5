/**
 * Quotas: how many jobs may run at once of a project, and on the agents of a group. A group is what agents with a label have
 * in common. Pure.
 */
import type { ProjectId } from "./ids.ts";
import type { Labels } from "./labels.ts";

export interface Quotas {
  /** Of each project that has none of its own; null for no bound. */
  readonly everyProject: number | null;
  readonly projects: ReadonlyMap<string, number>;
  readonly labels: readonly LabelQuota[];
}

export interface LabelQuota {
  readonly key: string;
  readonly value: string;
  readonly limit: number;
}

/** One quota; `name` is that under which its jobs are counted: `project:default`, `label:pool=gpu`. */
export interface Quota {
  readonly name: string;
  readonly limit: number;
  readonly subject:
    | { readonly kind: "project"; readonly projectId: ProjectId }
    | { readonly kind: "label"; readonly key: string; readonly value: string };
}

/** A quota, and how many of its places are taken. */
export interface QuotaUse extends Quota {
  readonly taken: number;
}

export const NO_QUOTAS: Quotas = { everyProject: null, projects: new Map(), labels: [] };

export function projectQuota({ everyProject, projects }: Quotas, projectId: ProjectId): Quota | undefined {
  const limit = projects.get(projectId) ?? everyProject;
  if (limit === null) return undefined;
  return { name: `project:${projectId}`, limit, subject: { kind: "project", projectId } };
}

/** Of the groups that an agent with these labels is of. */
export function agentQuotas(quotas: Quotas, labels: Labels): readonly Quota[] {
  return quotas.labels.filter(({ key, value }) => labels[key] === value).map(toQuota);
}

export function labelQuotas({ labels }: Quotas): readonly Quota[] {
  return labels.map(toQuota);
}

export function isReached({ taken, limit }: QuotaUse): boolean {
  return taken >= limit;
}

function toQuota({ key, value, limit }: LabelQuota): Quota {
  return { name: `label:${key}=${value}`, limit, subject: { kind: "label", key, value } };
}
