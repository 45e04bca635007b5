/** What projects demand of the agents of their jobs. */
import type { Clock } from "../domain/clock.ts";
import type { ProjectId } from "../domain/ids.ts";
import { NO_TRUST_DEMAND, type TrustDemand } from "../domain/labels.ts";
import type { PipelineStore } from "../stores/ports/pipelines.ts";
import type { WithStores } from "./context.ts";

/** How long a demand is remembered: each trigger, and each step with secrets, asks for it. */
const REMEMBERED_MS = 2_000;
/** Projects whose demands are remembered, at most. */
const MAX_REMEMBERED = 1_000;

interface Known {
  readonly readAt: number;
  readonly demand: TrustDemand;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<PipelineStore, Map<ProjectId, Known>>();

/** The demand of a project, at most 2 s old; none for an unknown project. Rejects when the store cannot be read. */
export async function trustDemandOf(
  { clock, stores }: { readonly clock: Pick<Clock, "monotonic"> } & WithStores<"pipelines">,
  projectId: ProjectId,
): Promise<TrustDemand> {
  const { pipelines } = stores;
  const memory = memories.get(pipelines) ?? new Map<ProjectId, Known>();
  memories.set(pipelines, memory);
  const known = memory.get(projectId);
  if (known !== undefined && clock.monotonic() - known.readAt < REMEMBERED_MS) return known.demand;
  const demand = (await pipelines.findProject(projectId))?.trustDemand ?? NO_TRUST_DEMAND;
  memory.delete(projectId);
  memory.set(projectId, { readAt: clock.monotonic(), demand });
  if (memory.size > MAX_REMEMBERED) memory.delete(memory.keys().next().value!);
  return demand;
}

/** Makes the next call of {@link trustDemandOf} on this node read the store. */
export function forgetTrustDemand({ stores }: WithStores<"pipelines">, projectId: ProjectId): void {
  memories.get(stores.pipelines)?.delete(projectId);
}
