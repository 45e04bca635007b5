/** Quotas in the form in which the scripts of the board read them. */
import { limitsProjects, projectQuotas, type Quota, type Quotas } from "../domain/quotas.ts";
import type { Lane } from "./board.ts";

type BareQuota = Pick<Quota, "name" | "limit">;

/** The quotas of the projects of these lanes. A project without one is left out. */
export function quotasOfProjects(
  known: Quotas,
  lanes: readonly Pick<Lane, "projectId" | "tenantId">[],
): Record<string, readonly BareQuota[]> {
  const found: Record<string, readonly BareQuota[]> = {};
  if (!limitsProjects(known)) return found;
  for (const { projectId, tenantId } of lanes) {
    // A lane of an older node does not name its tenant.
    if (found[projectId] !== undefined && tenantId === undefined) continue;
    const quotas = projectQuotas(known, projectId, tenantId);
    if (quotas.length > 0) found[projectId] = quotas.map(bareQuota);
  }
  return found;
}

export function namesOf(ofAgent: readonly Quota[], ofProject: readonly BareQuota[] = []): readonly string[] {
  return [...ofAgent, ...ofProject].map(({ name }) => name);
}

export function quotasText(agent: readonly Quota[], projects: Record<string, readonly BareQuota[]>): string {
  if (agent.length === 0 && Object.keys(projects).length === 0) return "";
  return JSON.stringify({ agent: agent.map(bareQuota), projects });
}

export function bareQuota({ name, limit }: Quota): BareQuota {
  return { name, limit };
}
