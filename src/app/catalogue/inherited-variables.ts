/** The variables that a new run of a project inherits. */
import type { Clock } from "../../domain/clock.ts";
import type { ProjectId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { type DocumentOwner, type DocumentStore, ownerOf } from "../../stores/ports/documents.ts";
import type { WithStores } from "../context.ts";
import { projectFactsOf } from "../project-facts.ts";
import { inheritedFrom } from "./variable-set.ts";

/** How long the variables of a project are remembered, as other facts of projects are. */
const REMEMBERED_MS = 2_000;
/** Projects whose variables are remembered, at most. */
const MAX_REMEMBERED = 1_000;

interface Known {
  readonly readAt: number;
  readonly variables: Pairs<string>;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<DocumentStore, Map<ProjectId, Known>>();

/** Those of the tenant, overridden by those of the project; at most 2 s old. Rejects when the store cannot be read. */
export async function inheritedVariables(
  context: { readonly clock: Pick<Clock, "monotonic"> } & WithStores<"pipelines" | "rights" | "documents">,
  projectId: ProjectId,
): Promise<Pairs<string>> {
  const { documents } = context.stores;
  const memory = memories.get(documents) ?? new Map<ProjectId, Known>();
  memories.set(documents, memory);
  const known = memory.get(projectId);
  const now = context.clock.monotonic();
  if (known !== undefined && now - known.readAt < REMEMBERED_MS) return known.variables;
  const { tenantId } = await projectFactsOf(context, projectId);
  const owners: readonly DocumentOwner[] = [
    ...(tenantId === null ? [] : [ownerOf({ tenantId })]),
    ownerOf({ projectId }),
  ];
  const found = await documents.find("variables", owners);
  const variables = inheritedFrom(owners.map((owner) => found.find((one) => one.owner === owner)?.body));
  memory.delete(projectId);
  memory.set(projectId, { readAt: now, variables });
  if (memory.size > MAX_REMEMBERED) memory.delete(memory.keys().next().value!);
  return variables;
}

/** Makes the next run of any project on this node read the store. */
export function forgetInheritedVariables({ stores }: WithStores<"documents">): void {
  memories.get(stores.documents)?.clear();
}
