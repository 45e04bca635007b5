/**
 * Quotas: how many jobs of a project may run at once, and how many jobs may run at once on the agents with a given
 * label. Pure.
 */
import type { ProjectId } from "./ids.ts";
import type { Labels } from "./labels.ts";

export interface Quotas {
  /** The limit of each project without one of its own; null for no limit. */
  readonly everyProject: number | null;
  readonly projects: ReadonlyMap<string, number>;
  readonly labels: readonly LabelQuota[];
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
    | { readonly kind: "label"; readonly key: string; readonly value: string };
}

/** A quota, and how many of its places are taken. */
export interface QuotaUse extends Quota {
  readonly taken: number;
}

export const NO_QUOTAS: Quotas = { everyProject: null, projects: new Map(), labels: [] };

/** The quota of a project; undefined when it has none. */
export function projectQuota({ everyProject, projects }: Quotas, projectId: ProjectId): Quota | undefined {
  const limit = projects.get(projectId) ?? everyProject;
  if (limit === null) return undefined;
  return { name: `project:${projectId}`, limit, subject: { kind: "project", projectId } };
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
