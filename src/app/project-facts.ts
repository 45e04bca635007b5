/** What each trigger, each step with secrets, and the check of a caller's rights have to know of a project. */
import type { Clock } from "../domain/clock.ts";
import { DEFAULT_TENANT, type ProjectId, type TenantId } from "../domain/ids.ts";
import type { TrustDemand } from "../domain/labels.ts";
import { isArchived, type PipelineStore, tenantOf } from "../stores/ports/pipelines.ts";
import type { SettingValues } from "../stores/ports/documents.ts";
import type { WithStores } from "./context.ts";
import { effectiveSetting, readLayers } from "./effective-settings.ts";

/** How long the facts of a project are remembered. */
const REMEMBERED_MS = 2_000;
/** Projects whose facts are remembered, at most. */
const MAX_REMEMBERED = 1_000;

export interface ProjectFacts {
  /** The tenant that owns the project; null for an unknown project. */
  readonly tenantId: TenantId | null;
  /** What the project demands of the agents of its jobs. */
  readonly trustDemand: TrustDemand;
  /** Which runs of forks wait for an approval. */
  readonly forks: SettingValues["forks.approval"];
  /** True: steps run in containers alone. */
  readonly demandsContainers: boolean;
  /** The most that permissions of its jobs may say. */
  readonly jobs: { readonly idToken: boolean; readonly api: SettingValues["jobs.api"] };
  /** True for a project that takes no new pipelines and runs: it is archived, or its tenant is. */
  readonly archived: boolean;
}

interface Known {
  readonly readAt: number;
  readonly facts: ProjectFacts;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<PipelineStore, Map<ProjectId, Known>>();

/**
 * The facts of a project, at most 2 s old. An unknown project demands nothing and is not archived. Rejects when the store
 * cannot be read.
 */
export async function projectFactsOf(
  { clock, stores }: { readonly clock: Pick<Clock, "monotonic"> } & WithStores<"pipelines" | "rights" | "documents">,
  projectId: ProjectId,
): Promise<ProjectFacts> {
  const { pipelines } = stores;
  const memory = memories.get(pipelines) ?? new Map<ProjectId, Known>();
  memories.set(pipelines, memory);
  const known = memory.get(projectId);
  if (known !== undefined && clock.monotonic() - known.readAt < REMEMBERED_MS) return known.facts;
  const project = await pipelines.findProject(projectId);
  const tenantId = project === undefined ? null : tenantOf(project);
  // The default tenant cannot be archived, so that an installation without other tenants reads none.
  const tenant =
    tenantId === null || tenantId === DEFAULT_TENANT ? undefined : await stores.rights.findTenant(tenantId);
  const layers = await readLayers({ stores }, { tenantId, ...(project && { project }) });
  const facts = {
    tenantId,
    trustDemand: {
      secrets: effectiveSetting("trust.secrets", layers).value,
      protectedTargets: effectiveSetting("trust.protectedTargets", layers).value,
    },
    forks: effectiveSetting("forks.approval", layers).value,
    demandsContainers: effectiveSetting("jobs.containers", layers).value,
    jobs: {
      idToken: effectiveSetting("jobs.idToken", layers).value,
      api: effectiveSetting("jobs.api", layers).value,
    },
    archived: project !== undefined && (isArchived(project) || (tenant?.archivedAt ?? null) !== null),
  };
  memory.delete(projectId);
  memory.set(projectId, { readAt: clock.monotonic(), facts });
  if (memory.size > MAX_REMEMBERED) memory.delete(memory.keys().next().value!);
  return facts;
}

/** Makes the next call of {@link projectFactsOf} on this node read the store. */
export function forgetProjectFacts({ stores }: WithStores<"pipelines">, projectId: ProjectId): void {
  memories.get(stores.pipelines)?.delete(projectId);
}

/** {@link forgetProjectFacts} for all projects. */
export function forgetTenantFacts({ stores }: WithStores<"pipelines">): void {
  memories.get(stores.pipelines)?.clear();
}
